/* Every set of row kernels that this processor can run, side by side: against double precision, against plain C, and
 * at the edges of their inputs and of their memory. */
#include "engine/attention/rows.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t counts[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 129, 1000};
enum { COUNTS = sizeof counts / sizeof *counts };

static const attn_row_kernels *kernels_at(int index) {
    const attn_row_kernels *all[ATTN_ROW_KERNELS_MOST];
    return (size_t)index < attn_row_kernels_all(all) ? all[index] : NULL;
}

static float wave(size_t i) {
    return 20 * (float)sin(1.3 * (double)i) - 15;
}

/* A row of exactly `count` floats, so that a sanitizer sees what is read or written behind it. */
static float *row_new(size_t count) {
    float *row = malloc(count * sizeof *row + (count == 0));
    ck_assert_ptr_nonnull(row);
    for (size_t i = 0; i < count; i++)
        row[i] = wave(i);
    return row;
}

START_TEST(exponential_is_within_its_bound) {
    const attn_row_kernels *k = kernels_at(_i);
    if (!k) return;
    enum { STEPS = 16 };
    double worst = 0;
    for (double x = 0; x > -87.3; x -= (double)STEPS * 1e-4) {
        float arguments[STEPS], values[STEPS];
        for (int i = 0; i < STEPS; i++)
            arguments[i] = values[i] = (float)(x - i * 1e-4);
        k->exp(values, STEPS, 0);
        for (int i = 0; i < STEPS && arguments[i] > -87.3F; i++)
            worst = fmax(worst, fabs((double)values[i] / exp((double)arguments[i]) - 1));
    }
    ck_assert_msg(worst <= 2e-7, "%s: %g", k->name, worst);
}
END_TEST

/* Each place of a vector and of the rest behind it. */
START_TEST(exponential_at_its_edges) {
    const attn_row_kernels *k = kernels_at(_i);
    if (!k) return;
    for (size_t place = 0; place < 35; place++) {
        const float edges[] = {0, -INFINITY, -103.0F, -104.0F, -1e30F, NAN};
        float results[6];
        for (size_t edge = 0; edge < 6; edge++) {
            float *row = row_new(35);
            row[place] = edges[edge];
            k->exp(row, 35, 0);
            results[edge] = row[place];
            free(row);
        }
        ck_assert_float_eq(results[0], 1);
        ck_assert_float_eq(results[1], 0);
        ck_assert_float_gt(results[2], 0); /* a subnormal, not zero */
        ck_assert_float_eq(results[3], 0);
        ck_assert_float_eq(results[4], 0);
        ck_assert_float_nan(results[5]);
    }
}
END_TEST

START_TEST(rows_agree_with_double_precision) {
    const attn_row_kernels *k = kernels_at(_i);
    if (!k) return;
    for (size_t c = 0; c < COUNTS; c++) {
        float *row = row_new(counts[c]), max = -INFINITY;
        for (size_t i = 0; i < counts[c]; i++)
            max = fmaxf(max, row[i]);
        ck_assert(k->max(row, counts[c]) == max);
        double want = 0, got = k->exp(row, counts[c], counts[c] > 0 ? max : 0);
        for (size_t i = 0; i < counts[c]; i++) {
            double exact = exp((double)(wave(i) - max));
            want += exact;
            ck_assert_double_le(fabs((double)row[i] - exact), 2e-7 * exact);
        }
        ck_assert_double_le(fabs(got - want), 1e-6 * want);
        k->scale(row, counts[c], 0.37F);
        for (size_t i = 0; i < counts[c]; i++)
            ck_assert_double_le(fabs((double)row[i] - 0.37 * exp((double)(wave(i) - max))), 4e-7);
        free(row);
    }
}
END_TEST

START_TEST(a_nan_is_no_maximum_and_is_seen_in_the_sum) {
    const attn_row_kernels *k = kernels_at(_i);
    if (!k) return;
    for (size_t place = 0; place < 35; place++) {
        float *row = row_new(35);
        float max = k->max(row, 35);
        row[(place + 1) % 35] = max + 1;
        row[place] = NAN;
        ck_assert_float_eq(k->max(row, 35), max + 1);
        ck_assert(isnan(k->exp(row, 35, max + 1)));
        free(row);
    }
    float nothing[] = {NAN, -INFINITY};
    ck_assert(k->max(nothing, 2) == -INFINITY);
}
END_TEST

/* Scaling is one rounding for each number, whatever the width. */
START_TEST(scaling_has_the_bits_of_plain_c) {
    const attn_row_kernels *k = kernels_at(_i);
    if (!k) return;
    for (size_t c = 0; c < COUNTS; c++) {
        float *row = row_new(counts[c]), *plain = row_new(counts[c]);
        k->scale(row, counts[c], 1.0F / 3);
        ATTN_ROWS_PLAIN.scale(plain, counts[c], 1.0F / 3);
        ck_assert(memcmp(row, plain, counts[c] * sizeof *row) == 0);
        free(row);
        free(plain);
    }
}
END_TEST

START_TEST(the_best_is_in_use) {
    const attn_row_kernels *all[ATTN_ROW_KERNELS_MOST];
    size_t count = attn_row_kernels_all(all);
    ck_assert_ptr_eq(all[0], &ATTN_ROWS_PLAIN);
    ck_assert_ptr_eq(attn_row_kernels_in_use(), all[count - 1]);
    ck_assert_ptr_eq(attn_row_kernels_in_use(), all[count - 1]);
}
END_TEST

ATTND_SUITE(rows) {
    Suite *suite = suite_create("rows");
    TCase *cases = tcase_create("rows");
    tcase_add_loop_test(cases, exponential_is_within_its_bound, 0, ATTN_ROW_KERNELS_MOST);
    tcase_add_loop_test(cases, exponential_at_its_edges, 0, ATTN_ROW_KERNELS_MOST);
    tcase_add_loop_test(cases, rows_agree_with_double_precision, 0, ATTN_ROW_KERNELS_MOST);
    tcase_add_loop_test(cases, a_nan_is_no_maximum_and_is_seen_in_the_sum, 0, ATTN_ROW_KERNELS_MOST);
    tcase_add_loop_test(cases, scaling_has_the_bits_of_plain_c, 0, ATTN_ROW_KERNELS_MOST);
    tcase_add_test(cases, the_best_is_in_use);
    suite_add_tcase(suite, cases);
    return suite;
}
