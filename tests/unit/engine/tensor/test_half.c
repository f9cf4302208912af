/* binary16: every value comes back, and every midpoint between neighbours goes to the even one; binary32 stays. */
#include "engine/tensor/dtype.h"
#include "suites.h"

#include <math.h>
#include <stdbool.h>

static float value_of(unsigned bits) {
    unsigned char bytes[2] = {(unsigned char)bits, (unsigned char)(bits >> 8)};
    float value;
    attn_dtype_to_f32(ATTN_F16, bytes, 1, &value);
    return value;
}

static unsigned half_of(float value) {
    unsigned char bytes[2];
    ck_assert_msg(attn_dtype_from_f32(ATTN_F16, &value, 1, bytes) == 1, "%a is refused", (double)value);
    return bytes[0] | (unsigned)bytes[1] << 8;
}

static bool is_refused(float value) {
    unsigned char bytes[2];
    return attn_dtype_from_f32(ATTN_F16, &value, 1, bytes) == 0;
}

START_TEST(every_value_comes_back) {
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        ck_assert_uint_eq(half_of(value_of(bits)), bits);
        ck_assert_uint_eq(half_of(-value_of(bits)), bits | 0x8000);
    }
}
END_TEST

START_TEST(rounds_to_nearest_even) {
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        float low = value_of(bits), middle = (low + value_of(bits + 1)) / 2;
        ck_assert_uint_eq(half_of(middle), bits + (bits & 1));
        ck_assert_uint_eq(half_of(nextafterf(middle, 0)), bits);
        ck_assert_uint_eq(half_of(nextafterf(middle, INFINITY)), bits + 1);
    }
}
END_TEST

START_TEST(borders) {
    ck_assert_uint_eq(half_of(65504), 0x7bff);
    ck_assert_uint_eq(half_of(nextafterf(65520, 0)), 0x7bff);
    ck_assert(is_refused(65520) && is_refused(-65520) && is_refused(3e38f) && is_refused(131072));
    ck_assert_uint_eq(half_of(INFINITY), 0x7c00);
    ck_assert_uint_eq(half_of(-INFINITY), 0xfc00);
    ck_assert_uint_eq(half_of(0x1p-24f), 1);
    ck_assert_uint_eq(half_of(0x1p-25f), 0);
    ck_assert_uint_eq(half_of(nextafterf(0x1p-25f, 1)), 1);
    ck_assert_uint_eq(half_of(-1e-45f), 0x8000);
}
END_TEST

/* Wherever in a row it stands; what comes behind does not matter. */
START_TEST(the_first_that_does_not_fit_is_told) {
    for (size_t place = 0; place < 40; place++) {
        float row[41];
        unsigned char bytes[82];
        for (size_t i = 0; i < 41; i++)
            row[i] = i % 3 == 0 ? INFINITY : i % 3 == 1 ? -65504 : NAN;
        ck_assert_uint_eq(attn_dtype_from_f32(ATTN_F16, row, 41, bytes), 41);
        row[place] = -65520, row[40] = 1e9f;
        ck_assert_uint_eq(attn_dtype_from_f32(ATTN_F16, row, 41, bytes), place);
    }
}
END_TEST

START_TEST(f32_keeps_its_bytes) {
    const unsigned char want[] = {0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0x80, 0xff};
    const float values[] = {0.1f, -INFINITY};
    unsigned char bytes[9];
    ck_assert_uint_eq(attn_dtype_from_f32(ATTN_F32, values, 2, bytes + 1), 2);
    ck_assert_mem_eq(bytes + 1, want, sizeof want);
}
END_TEST

ATTND_SUITE(half) {
    Suite *suite = suite_create("half");
    TCase *tests = tcase_create("half");
    tcase_add_test(tests, every_value_comes_back);
    tcase_add_test(tests, rounds_to_nearest_even);
    tcase_add_test(tests, borders);
    tcase_add_test(tests, the_first_that_does_not_fit_is_told);
    tcase_add_test(tests, f32_keeps_its_bytes);
    suite_add_tcase(suite, tests);
    return suite;
}
