/* The conversions of every width that this processor can run: bit for bit those of plain C, on all halves and on random
 * numbers of all kinds, at any alignment, up to the watched end of memory. Plain C itself is held to known values in
 * unit/engine/tensor and here, where the compiler knows the type, to the compiler's own conversion. */
#include "engine/tensor/convert.h"
#include "harness.h"
#include "suites.h"

#include <math.h>
#include <string.h>

enum { MOST = 300, ROUNDS = 3000, HALVES = 65536 };

typedef void read_kernel(const unsigned char *bytes, size_t count, float *out);

/* Elements as they come: any bits, and often the exponents at which types end. */
static void random_elements(uint64_t *state, unsigned char *bytes, size_t count, size_t width) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = random_bits(state);
        if (width == 8 && bits % 2 == 0) {
            double value = (double)random_float(state) * (1 + 0x1p-24);
            memcpy(&bits, &value, sizeof bits);
        }
        for (size_t byte = 0; byte < width; byte++)
            bytes[i * width + byte] = (unsigned char)(bits >> (8 * byte));
    }
}

static void check_read(attn_vectors vectors, const char *name, read_kernel *kernel, read_kernel *plain,
                       size_t width) {
    unsigned char *byte_memory = watched_new(MOST * width);
    float want[MOST], *float_memory = watched_new(sizeof want);
    uint64_t state = width;
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = random_length(&state, MOST);
        unsigned char *bytes = byte_memory + (MOST - count) * width;
        float *got = float_memory + MOST - count;
        random_elements(&state, bytes, count, width);
        plain(bytes, count, want);
        kernel(bytes, count, got);
        for (size_t i = 0; i < count; i++)
            ck_assert_msg(bits_of(got[i]) == bits_of(want[i]), "%s, %s, %zu of %zu: %08x, not %08x", name,
                          attn_vectors_name(vectors), i, count, bits_of(got[i]), bits_of(want[i]));
    }
    watched_free(byte_memory, MOST * width);
    watched_free(float_memory, sizeof want);
}

START_TEST(reading_has_the_bits_of_plain_c) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const attn_convert_kernels *k = attn_convert_kernels_of(vectors), *plain = &ATTN_CONVERT_PLAIN;
    check_read(vectors, "f16", k->from_f16, plain->from_f16, 2);
    check_read(vectors, "bf16", k->from_bf16, plain->from_bf16, 2);
    check_read(vectors, "f64", k->from_f64, plain->from_f64, 8);
}
END_TEST

/* There and back: each half, NaN made quiet. */
START_TEST(every_half_comes_back) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    static unsigned char bytes[2 * HALVES + 1], back[2 * HALVES];
    static float values[HALVES];
    for (size_t i = 0; i < HALVES; i++) {
        bytes[1 + 2 * i] = (unsigned char)i;
        bytes[2 + 2 * i] = (unsigned char)(i >> 8);
    }
    attn_convert_kernels_of(vectors)->from_f16(bytes + 1, HALVES, values);
    ck_assert(attn_convert_kernels_of(vectors)->to_f16(values, HALVES, back));
    for (unsigned i = 0; i < HALVES; i++) {
        bool is_nan = (i & 0x7C00) == 0x7C00 && (i & 0x3FF) != 0;
        ck_assert_int_eq(isnan(values[i]) != 0, is_nan);
        ck_assert_uint_eq(back[2 * i] | (unsigned)back[2 * i + 1] << 8, is_nan ? i | 0x200 : i);
    }
}
END_TEST

/* Values around half's own range, its subnormals and its end, besides any bits at all. */
static float random_near_half(uint64_t *state) {
    uint64_t bits = random_bits(state);
    if (bits % 4 == 0) return float_of((uint32_t)(bits >> 32));
    return float_of(
        (uint32_t)((bits >> 63) << 31 | (100 + (bits >> 8) % 45) << 23 | (bits >> 40 & 0x7FFFFF)));
}

static void check_write(attn_vectors vectors, const float *values, size_t count, unsigned char *got) {
    unsigned char want[2 * 4096];
    bool fits = ATTN_CONVERT_PLAIN.to_f16(values, count, want);
    ck_assert(attn_convert_kernels_of(vectors)->to_f16(values, count, got) == fits);
    ck_assert_msg(memcmp(got, want, 2 * count) == 0, "%s: from %a on", attn_vectors_name(vectors),
                  count > 0 ? (double)values[0] : 0);
}

START_TEST(writing_has_the_bits_of_plain_c) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    float *float_memory = watched_new(MOST * sizeof *float_memory);
    unsigned char *byte_memory = watched_new(2 * MOST);
    uint64_t state = 3;
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = random_length(&state, MOST);
        float *values = float_memory + MOST - count;
        unsigned char *got = byte_memory + 2 * (MOST - count);
        for (size_t i = 0; i < count; i++)
            values[i] = random_near_half(&state);
        check_write(vectors, values, count, got);
    }
    watched_free(float_memory, MOST * sizeof *float_memory);
    watched_free(byte_memory, 2 * MOST);
}
END_TEST

/* Of the largest values, one in a row that does not fit is noticed wherever it stands. */
START_TEST(one_that_does_not_fit_is_noticed) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const float beyond[] = {65520, -65520, 3.4028235e38F, 65536};
    for (size_t place = 0; place < 35; place++) {
        float row[35];
        unsigned char bytes[70];
        for (size_t i = 0; i < 35; i++)
            row[i] = i % 3 == 0 ? 65519.996F : i % 3 == 1 ? -INFINITY : NAN;
        ck_assert(attn_convert_kernels_of(vectors)->to_f16(row, 35, bytes));
        row[place] = beyond[place % 4];
        ck_assert(!attn_convert_kernels_of(vectors)->to_f16(row, 35, bytes));
    }
}
END_TEST

/* Every float32 there is, or one in 4099. */
START_TEST(every_float_becomes_the_same_half) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const uint32_t step = kernels_are_exhaustive() ? 1 : 4099;
    float values[4096];
    unsigned char got[2 * 4096];
    for (uint64_t bits = 0; bits <= UINT32_MAX;) {
        size_t count = 0;
        for (; count < 4096 && bits <= UINT32_MAX; count++, bits += step)
            values[count] = float_of((uint32_t)bits);
        check_write(vectors, values, count, got);
    }
}
END_TEST

#ifdef __FLT16_MAX__
/* Plain C against the compiler's own binary16, where it has one. */
START_TEST(plain_c_rounds_as_the_compiler_does) {
    const uint32_t step = kernels_are_exhaustive() ? 1 : 997;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
        float value = float_of((uint32_t)bits);
        unsigned char got[2];
        _Float16 half = (_Float16)value;
        uint16_t want;
        memcpy(&want, &half, sizeof want);
        if (isnan(value)) continue;
        ATTN_CONVERT_PLAIN.to_f16(&value, 1, got);
        ck_assert_msg((got[0] | got[1] << 8) == want, "%a", (double)value);
    }
}
END_TEST
#endif

/* ---- times ---- */

static unsigned char timed_bytes[8 * TIMED_NUMBERS];
static float timed_floats[TIMED_NUMBERS];
static bool sink;

static void run_from_f16(attn_vectors vectors) {
    attn_convert_kernels_of(vectors)->from_f16(timed_bytes, TIMED_NUMBERS, timed_floats);
}

static void run_from_bf16(attn_vectors vectors) {
    attn_convert_kernels_of(vectors)->from_bf16(timed_bytes, TIMED_NUMBERS, timed_floats);
}

static void run_from_f64(attn_vectors vectors) {
    attn_convert_kernels_of(vectors)->from_f64(timed_bytes, TIMED_NUMBERS, timed_floats);
}

static void run_to_f16(attn_vectors vectors) {
    sink = attn_convert_kernels_of(vectors)->to_f16(timed_floats, TIMED_NUMBERS, timed_bytes);
}

START_TEST(times) {
    const timed_kernel kernels[] = {{"f16 to f32", run_from_f16},
                                    {"bf16 to f32", run_from_bf16},
                                    {"f64 to f32", run_from_f64},
                                    {"f32 to f16", run_to_f16}};
    for (size_t i = 0; i < TIMED_NUMBERS; i++)
        timed_floats[i] = sinf((float)i);
    kernels_time(kernels, sizeof kernels / sizeof *kernels);
}
END_TEST

ATTND_SUITE(conversion_kernels) {
    Suite *suite = suite_create("conversion_kernels");
    TCase *cases = tcase_create("conversions");
    if (kernels_are_timed()) {
        tcase_add_test(cases, times);
    } else {
        tcase_set_timeout(cases, kernels_are_exhaustive() ? 3600 : 60);
        tcase_add_loop_test(cases, reading_has_the_bits_of_plain_c, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, every_half_comes_back, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, writing_has_the_bits_of_plain_c, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, one_that_does_not_fit_is_noticed, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, every_float_becomes_the_same_half, 0, ATTN_VECTORS_COUNT);
#ifdef __FLT16_MAX__
        tcase_add_test(cases, plain_c_rounds_as_the_compiler_does);
#endif
    }
    suite_add_tcase(suite, cases);
    return suite;
}
