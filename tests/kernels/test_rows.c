/* The row kernels of every width that this processor can run: against double precision, against plain C, and at the
 * edges of their inputs and of their memory. */
#include "engine/attention/rows.h"
#include "harness.h"
#include "suites.h"

#include <math.h>
#include <string.h>

enum { MOST = 700, ROUNDS = 3000 };

/* exp's error against double precision: 2e-7 of the result, and where that is subnormal the one rounding into it. */
static void check_exp(attn_vectors vectors, float argument, float got) {
    const double LEAST = 0x1p-149, LEAST_NORMAL = 0x1p-126;
    double want = exp((double)argument);
    double bound = 2e-7 * want + (want < LEAST_NORMAL ? LEAST / 2 : 0);
    ck_assert_msg(fabs((double)got - want) <= bound, "%s: exp(%a) is %a, not %a", attn_vectors_name(vectors),
                  (double)argument, (double)got, want);
}

/* Every float from −0 to −Infinity, or one in 4099, a prime: all low bits come by. */
START_TEST(exponential_is_within_its_bound) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    enum { BLOCK = 4096 };
    const attn_row_kernels *k = attn_row_kernels_of(vectors);
    const uint32_t first = bits_of(-0.0F), last = bits_of(-INFINITY),
                   step = kernels_are_exhaustive() ? 1 : 4099;
    float arguments[BLOCK], results[BLOCK];
    for (uint64_t bits = first; bits <= last;) {
        size_t count = 0;
        for (; count < BLOCK && bits <= last; count++, bits += step)
            arguments[count] = results[count] = float_of((uint32_t)bits);
        k->exp(results, count, 0);
        for (size_t i = 0; i < count; i++)
            check_exp(vectors, arguments[i], results[i]);
    }
}
END_TEST

/* Each place of a vector and of the rest behind it. */
START_TEST(exponential_at_its_edges) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const float edges[] = {0, -INFINITY, -103.0F, -104.0F, -1e30F, NAN, -1e-45F};
    for (size_t place = 0; place < 35; place++) {
        float results[7];
        for (size_t edge = 0; edge < 7; edge++) {
            float row[35] = {0};
            row[place] = edges[edge];
            attn_row_kernels_of(vectors)->exp(row, 35, 0);
            results[edge] = row[place];
        }
        ck_assert_float_eq(results[0], 1);
        ck_assert_float_eq(results[1], 0);
        ck_assert_float_gt(results[2], 0); /* a subnormal, not zero */
        ck_assert_float_eq(results[3], 0);
        ck_assert_float_eq(results[4], 0);
        ck_assert_float_nan(results[5]);
        ck_assert_float_eq(results[6], 1);
    }
}
END_TEST

/* A score as softmax meets them: mostly near each other, some masked, some subnormal, some far away. */
static float random_score(uint64_t *state) {
    uint64_t bits = random_bits(state);
    if (bits % 16 == 0) return -INFINITY;
    if (bits % 16 == 1) return float_of((uint32_t)(bits >> 32) & 0x807FFFFFU);
    if (bits % 16 == 2) return -fabsf(random_float(state));
    return (float)((double)(bits >> 40) * 0x1p-24 * 40 - 30);
}

static float largest(const float *row, size_t count) {
    float max = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (row[i] > max) max = row[i];
    return max;
}

static void check_exp_row(attn_vectors vectors, const float *scores, float *row, size_t count, float shift) {
    double got = attn_row_kernels_of(vectors)->exp(row, count, shift), sum = 0;
    for (size_t i = 0; i < count; i++) {
        float argument = scores[i] - shift;
        sum += (double)row[i];
        if (isnan(argument))
            ck_assert_float_nan(row[i]);
        else
            check_exp(vectors, argument, row[i]);
    }
    /* Eight lanes of float32 sums at least: each addition rounds to 2^-24. */
    if (isnan(sum))
        ck_assert(isnan(got));
    else
        ck_assert_double_le(fabs(got - sum), sum * ((double)count / 8 + 2) * 0x1p-24);
}

/* Random lengths up to the watched end of memory. */
START_TEST(random_rows_agree_with_double_precision) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const attn_row_kernels *k = attn_row_kernels_of(vectors);
    float scores[MOST], *memory = watched_new(MOST * sizeof *memory);
    uint64_t state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = random_length(&state, MOST);
        float *row = memory + MOST - count;
        for (size_t i = 0; i < count; i++)
            row[i] = scores[i] = random_score(&state);
        if (round % 8 == 0 && count > 0) row[count / 2] = scores[count / 2] = NAN;
        float max = largest(scores, count);
        ck_assert_msg(k->max(row, count) == max, "%s: %zu", attn_vectors_name(vectors), count);
        check_exp_row(vectors, scores, row, count, max > -INFINITY ? max : 0);
    }
    watched_free(memory, MOST * sizeof *memory);
}
END_TEST

START_TEST(a_nan_is_no_maximum_and_is_seen_in_the_sum) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const attn_row_kernels *k = attn_row_kernels_of(vectors);
    for (size_t place = 0; place < 35; place++) {
        float row[35];
        for (size_t i = 0; i < 35; i++)
            row[i] = -(float)i;
        row[(place + 1) % 35] = 1;
        row[place] = NAN;
        ck_assert_float_eq(k->max(row, 35), 1);
        ck_assert(isnan(k->exp(row, 35, 1)));
    }
    float nothing[] = {NAN, -INFINITY};
    ck_assert(k->max(nothing, 2) == -INFINITY);
    ck_assert(k->max(nothing, 0) == -INFINITY);
}
END_TEST

/* Scaling is one rounding for each number, whatever the width; a NaN's own bits are the processor's business. */
START_TEST(scaling_has_the_bits_of_plain_c) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    float plain[MOST], *memory = watched_new(MOST * sizeof *memory);
    uint64_t state = 2;
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = random_length(&state, MOST);
        float *row = memory + MOST - count, factor = random_float(&state);
        for (size_t i = 0; i < count; i++)
            row[i] = plain[i] = random_float(&state);
        attn_row_kernels_of(vectors)->scale(row, count, factor);
        ATTN_ROWS_PLAIN.scale(plain, count, factor);
        for (size_t i = 0; i < count; i++)
            ck_assert(bits_of(row[i]) == bits_of(plain[i]) || (isnan(row[i]) && isnan(plain[i])));
    }
    watched_free(memory, MOST * sizeof *memory);
}
END_TEST

/* ---- times ---- */

static float timed_scores[TIMED_NUMBERS], timed_row[TIMED_NUMBERS];
static float sink;

static void run_max(attn_vectors vectors) {
    sink = attn_row_kernels_of(vectors)->max(timed_row, TIMED_NUMBERS);
}

/* What the exponential leaves would soon be ones: the scores are put back first. */
static void run_exp(attn_vectors vectors) {
    memcpy(timed_row, timed_scores, sizeof timed_row);
    sink = (float)attn_row_kernels_of(vectors)->exp(timed_row, TIMED_NUMBERS, 0);
}

static void run_scale(attn_vectors vectors) {
    attn_row_kernels_of(vectors)->scale(timed_row, TIMED_NUMBERS, 1);
}

START_TEST(times) {
    const timed_kernel kernels[] = {
        {"row max", run_max}, {"row exp and sum", run_exp}, {"row scale", run_scale}};
    for (size_t i = 0; i < TIMED_NUMBERS; i++)
        timed_scores[i] = -(float)(i % 31);
    kernels_time(kernels, sizeof kernels / sizeof *kernels);
}
END_TEST

ATTND_SUITE(row_kernels) {
    Suite *suite = suite_create("row_kernels");
    TCase *cases = tcase_create("rows");
    if (kernels_are_timed()) {
        tcase_add_test(cases, times);
    } else {
        tcase_set_timeout(cases, kernels_are_exhaustive() ? 3600 : 60);
        tcase_add_loop_test(cases, exponential_is_within_its_bound, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, exponential_at_its_edges, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, random_rows_agree_with_double_precision, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, a_nan_is_no_maximum_and_is_seen_in_the_sum, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, scaling_has_the_bits_of_plain_c, 0, ATTN_VECTORS_COUNT);
    }
    suite_add_tcase(suite, cases);
    return suite;
}
