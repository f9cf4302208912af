/* dtypes: names, widths, and conversions to float32 bit for bit, at any alignment. */
#include "engine/tensor/dtype.h"
#include "suites.h"

#include <stdint.h>
#include <string.h>

/* Converts one element that lies at an odd address. */
static uint32_t bits_of(attn_dtype dtype, uint64_t element) {
    unsigned char bytes[9] = {0};
    for (size_t i = 0; i < 8; i++)
        bytes[1 + i] = (unsigned char)(element >> (8 * i));
    float value;
    attn_dtype_to_f32(dtype, bytes + 1, 1, &value);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

START_TEST(names_and_widths) {
    attn_dtype dtype;
    ck_assert(attn_dtype_find("BF16", &dtype));
    ck_assert_int_eq(dtype, ATTN_BF16);
    ck_assert_uint_eq(attn_dtype_bits(dtype), 16);
    ck_assert(attn_dtype_is_float(dtype));
    ck_assert(attn_dtype_find("F8_E4M3", &dtype));
    ck_assert(!attn_dtype_is_float(dtype));
    ck_assert(attn_dtype_find("F6_E2M3", &dtype));
    ck_assert_uint_eq(attn_dtype_bits(dtype), 6);
    ck_assert_str_eq(attn_dtype_name(ATTN_BOOL), "BOOL");
    ck_assert_uint_eq(attn_dtype_bits(ATTN_BOOL), 8);
    dtype = ATTN_I8;
    ck_assert(!attn_dtype_find("f32", &dtype));
    ck_assert(!attn_dtype_find("", &dtype));
    ck_assert_int_eq(dtype, ATTN_I8);
}
END_TEST

/* The case f16-subnormals, then the smallest normals' neighbours, infinities and NaN. */
START_TEST(f16_is_exact) {
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x0001), bits_of_float(0x1p-24f));        /* 5.960464e-08 */
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x03FF), bits_of_float(1023 * 0x1p-24f)); /* 6.097555e-05 */
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x0400), bits_of_float(0x1p-14f));        /* 6.103516e-05 */
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x8000), 0x80000000u);                    /* -0 */
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x7BFF), bits_of_float(65504.0f));
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x8001), bits_of_float(-0x1p-24f));
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x0000), 0);
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x3C00), bits_of_float(1.0f));
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x7C00), 0x7F800000u);
    ck_assert_uint_eq(bits_of(ATTN_F16, 0xFC00), 0xFF800000u);
    ck_assert_uint_eq(bits_of(ATTN_F16, 0x7E01) & 0x7F800000u, 0x7F800000u);
    ck_assert_uint_ne(bits_of(ATTN_F16, 0x7E01) & 0x007FFFFFu, 0);
}
END_TEST

START_TEST(bf16_is_the_upper_half) {
    ck_assert_uint_eq(bits_of(ATTN_BF16, 0x3F80), bits_of_float(1.0f));
    ck_assert_uint_eq(bits_of(ATTN_BF16, 0x0001), 0x00010000u); /* subnormal */
    ck_assert_uint_eq(bits_of(ATTN_BF16, 0xFF80), 0xFF800000u);
    ck_assert_uint_eq(bits_of(ATTN_BF16, 0x8000), 0x80000000u);
}
END_TEST

START_TEST(f32_keeps_its_bits) {
    ck_assert_uint_eq(bits_of(ATTN_F32, 0x3DCCCCCD), 0x3DCCCCCDu);
    ck_assert_uint_eq(bits_of(ATTN_F32, 0x00000001), 0x00000001u);
    ck_assert_uint_eq(bits_of(ATTN_F32, 0x80000000), 0x80000000u);
}
END_TEST

START_TEST(f64_rounds_to_nearest_even) {
    ck_assert_uint_eq(bits_of(ATTN_F64, bits_of_double(1 + 0x1p-24)), bits_of_float(1.0f));
    ck_assert_uint_eq(bits_of(ATTN_F64, bits_of_double(1 + 3 * 0x1p-24)), bits_of_float(1 + 0x1p-22f));
    ck_assert_uint_eq(bits_of(ATTN_F64, bits_of_double(1 + 0x1p-24 + 0x1p-50)), bits_of_float(1 + 0x1p-23f));
    ck_assert_uint_eq(bits_of(ATTN_F64, bits_of_double(0x1p-149)), 1);
    ck_assert_uint_eq(bits_of(ATTN_F64, bits_of_double(1e39)), 0x7F800000u);
    ck_assert_uint_eq(bits_of(ATTN_F64, bits_of_double(-1e39)), 0xFF800000u);
    ck_assert_uint_eq(bits_of(ATTN_F64, bits_of_double(-0.0)), 0x80000000u);
}
END_TEST

START_TEST(arrays_are_converted_in_order) {
    const unsigned char halves[] = {0x00, 0x3C, 0x00, 0x40, 0x00, 0xC2}; /* 1, 2, -3 */
    float out[4] = {9, 9, 9, 9};
    attn_dtype_to_f32(ATTN_F16, halves, 3, out);
    ck_assert(out[0] == 1 && out[1] == 2 && out[2] == -3 && out[3] == 9);
}
END_TEST

ATTND_SUITE(dtype) {
    Suite *suite = suite_create("dtype");
    TCase *cases = tcase_create("dtype");
    tcase_add_test(cases, names_and_widths);
    tcase_add_test(cases, f16_is_exact);
    tcase_add_test(cases, bf16_is_the_upper_half);
    tcase_add_test(cases, f32_keeps_its_bits);
    tcase_add_test(cases, f64_rounds_to_nearest_even);
    tcase_add_test(cases, arrays_are_converted_in_order);
    suite_add_tcase(suite, cases);
    return suite;
}
