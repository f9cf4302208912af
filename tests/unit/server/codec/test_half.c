/* binary16: every value comes back, and every midpoint between neighbours goes to the even one. */
#include "server/codec/half.h"

#include "engine/engine.h"
#include "suites.h"

#include <math.h>

static float value_of(unsigned bits) {
    unsigned char bytes[2] = {(unsigned char)bits, (unsigned char)(bits >> 8)};
    float value;
    attn_dtype_to_f32(ATTN_F16, bytes, 1, &value);
    return value;
}

static unsigned half_of(float value) {
    uint16_t half = 0;
    ck_assert_msg(srv_half_from_float(value, &half), "%a is refused", (double)value);
    return half;
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
    uint16_t half = 7;
    ck_assert_uint_eq(half_of(65504), 0x7bff);
    ck_assert_uint_eq(half_of(nextafterf(65520, 0)), 0x7bff);
    ck_assert(!srv_half_from_float(65520, &half) && !srv_half_from_float(-65520, &half));
    ck_assert(!srv_half_from_float(3e38f, &half) && !srv_half_from_float(131072, &half));
    ck_assert_uint_eq(half, 7);
    ck_assert_uint_eq(half_of(INFINITY), 0x7c00);
    ck_assert_uint_eq(half_of(-INFINITY), 0xfc00);
    ck_assert_uint_eq(half_of(0x1p-24f), 1);
    ck_assert_uint_eq(half_of(0x1p-25f), 0);
    ck_assert_uint_eq(half_of(nextafterf(0x1p-25f, 1)), 1);
    ck_assert_uint_eq(half_of(-1e-45f), 0x8000);
}
END_TEST

ATTND_SUITE(half) {
    Suite *suite = suite_create("half");
    TCase *tests = tcase_create("half");
    tcase_add_test(tests, every_value_comes_back);
    tcase_add_test(tests, rounds_to_nearest_even);
    tcase_add_test(tests, borders);
    suite_add_tcase(suite, tests);
    return suite;
}
