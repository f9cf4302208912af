/* Every set of kernels for few rows that this processor can run: against double precision, at every edge of their
 * blocks, within their memory, and row by row against many rows at once. */
#include "engine/attention/few.h"
#include "harness.h"
#include "suites.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 19, MOST_COLUMNS = 140, MOST_DEPTH = 70 };

/* Exactly `count` floats, so that a sanitizer sees what is read or written behind them. */
static float *numbers(size_t count, double step) {
    float *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)sin(step * (double)(i + 1));
    return values;
}

/* One product of each kind: rows × columns results over a depth. For dot products every row of x and y is memory of its
 * own; for blends the rows are copied one behind the other. */
typedef struct product {
    size_t rows, columns, depth;
    float *x[MOST_ROWS], *y[MOST_ROWS], *large;
} product;

static product product_new(size_t rows, size_t columns, size_t depth) {
    product p = {.rows = rows, .columns = columns, .depth = depth};
    p.large = numbers(columns * depth, 1.7);
    for (size_t i = 0; i < rows; i++) {
        p.x[i] = numbers(depth, 0.37 * (double)(i + 1));
        p.y[i] = numbers(columns, 2.3 * (double)(i + 1));
    }
    return p;
}

static void product_free(product *p) {
    free(p->large);
    for (size_t i = 0; i < p->rows; i++) {
        free(p->x[i]);
        free(p->y[i]);
    }
}

/* w[j][t] where the large matrix is read as w, v[t][j] where it is read as v. */
static double expected(const product *p, bool is_blend, size_t i, size_t j) {
    double sum = 0;
    for (size_t t = 0; t < p->depth; t++)
        sum += (double)p->x[i][t] * (double)p->large[is_blend ? t * p->columns + j : j * p->depth + t];
    return sum;
}

/* Through matrices of exactly the size; what is added to nothing begins as NaN. */
static void run_blend(const attn_few_kernels *k, product *p, bool adds, bool is_far) {
    float *weights = malloc(p->rows * p->depth * sizeof *weights),
          *y = malloc(p->rows * p->columns * sizeof *y);
    ck_assert(weights != NULL && y != NULL);
    for (size_t i = 0; i < p->rows; i++) {
        memcpy(weights + i * p->depth, p->x[i], p->depth * sizeof *weights);
        for (size_t c = 0; c < p->columns; c++)
            y[i * p->columns + c] = adds ? p->y[i][c] : NAN;
    }
    const attn_blend b = {.count = p->depth,
                          .width = p->columns,
                          .weights = weights,
                          .weights_stride = p->depth,
                          .v = p->large,
                          .v_stride = p->columns,
                          .y = y,
                          .y_stride = p->columns,
                          .is_far = is_far};
    k->blend(p->rows, &b, adds);
    for (size_t i = 0; i < p->rows; i++)
        memcpy(p->y[i], y + i * p->columns, p->columns * sizeof *y);
    free(weights);
    free(y);
}

/* Dot products, and blends of values that are near and far. */
typedef enum product_way { DOTS, NEAR_BLEND, FAR_BLEND } product_way;

static void check_shape(attn_vectors vectors, size_t rows, size_t columns, size_t depth) {
    const attn_few_kernels *k = attn_few_kernels_of(vectors);
    const float alpha = -0.75F;
    for (product_way way = DOTS; way <= FAR_BLEND; way++) {
        bool is_blend = way != DOTS;
        product p = product_new(rows, columns, depth);
        double want[MOST_ROWS][MOST_COLUMNS];
        size_t wrong = 0;
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                want[i][j] = is_blend ? (rows % 2 == 0 ? (double)p.y[i][j] : 0) + expected(&p, true, i, j)
                                      : (double)alpha * expected(&p, false, i, j);
        if (is_blend)
            run_blend(k, &p, rows % 2 == 0, way == FAR_BLEND);
        else
            k->dots(rows, columns, depth, alpha, (const float *const *)p.x, p.large, depth, p.y);
        /* Counted so that a NaN is wrong as well. */
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                wrong += fabs((double)p.y[i][j] - want[i][j]) <= 1e-6 * (double)(depth + 4) ? 0 : 1;
        ck_assert_msg(wrong == 0, "%s, %zu × %zu × %zu, way %d: %zu wrong", attn_vectors_name(vectors), rows,
                      columns, depth, (int)way, wrong);
        product_free(&p);
    }
}

START_TEST(every_shape_of_a_block_is_right) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    static const size_t depths[] = {1, 7, 8, 15, 16, 17, 33, 64, 70};
    for (size_t rows = 1; rows <= MOST_ROWS; rows++)
        for (size_t columns = 1; columns <= MOST_COLUMNS; columns += rows % 2 == 0 ? 7 : 5)
            for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
                check_shape(vectors, rows, columns, depths[d]);
}
END_TEST

/* What lets requests share a product. */
START_TEST(a_row_has_the_same_bits_in_any_company) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const attn_few_kernels *k = attn_few_kernels_of(vectors);
    product many = product_new(MOST_ROWS, MOST_COLUMNS, MOST_DEPTH);
    k->dots(MOST_ROWS, MOST_COLUMNS, MOST_DEPTH, 1, (const float *const *)many.x, many.large, MOST_DEPTH,
            many.y);
    for (size_t i = 0; i < MOST_ROWS; i++)
        for (size_t first = 0; first < MOST_COLUMNS; first += 13) {
            size_t columns = MOST_COLUMNS - first;
            float *alone = numbers(columns, 1);
            k->dots(1, columns, MOST_DEPTH, 1, (const float *const *)&many.x[i],
                    many.large + first * MOST_DEPTH, MOST_DEPTH, &alone);
            ck_assert_msg(memcmp(alone, many.y[i] + first, columns * sizeof *alone) == 0, "%s: row %zu",
                          attn_vectors_name(vectors), i);
            free(alone);
        }
    product_free(&many);
}
END_TEST

/* A long row comes in parts; one sum over all of them would be off by more than is promised. */
START_TEST(parts_of_a_blend_round_less_than_one_sum) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    enum { PARTS = 64, COUNT = 512, WIDTH = 21 };
    static float weights[COUNT], v[COUNT * WIDTH];
    float y[WIDTH];
    for (size_t i = 0; i < COUNT; i++)
        weights[i] = 1.0F / (PARTS * COUNT);
    for (size_t i = 0; i < COUNT * WIDTH; i++)
        v[i] = 0.7F;
    const attn_blend part = {COUNT, WIDTH, weights, COUNT, v, WIDTH, y, WIDTH, false};
    for (size_t i = 0; i < PARTS; i++)
        attn_few_kernels_of(vectors)->blend(1, &part, i > 0);
    for (size_t c = 0; c < WIDTH; c++)
        ck_assert_double_eq_tol((double)y[c], (double)0.7F, 5e-6);
}
END_TEST

START_TEST(nothing_is_done_for_no_rows) {
    attn_vectors vectors;
    if (!kernels_width(_i, &vectors)) return;
    const attn_few_kernels *k = attn_few_kernels_of(vectors);
    k->dots(0, 3, 3, 1, NULL, NULL, 3, NULL);
    k->blend(0, &(attn_blend){.count = 3, .width = 3}, true);
    ck_assert_uint_ge(k->linear_rows, ATTN_FEW_QUERIES);
    ck_assert_uint_ge(k->blend_rows, ATTN_FEW_QUERIES);
}
END_TEST

/* ---- times ---- */

enum { TIMED_ROWS = 8, TIMED_DEPTH = 128, TIMED_COLUMNS = TIMED_NUMBERS / TIMED_ROWS };

static float timed_x[TIMED_ROWS][TIMED_DEPTH], timed_y[TIMED_ROWS][TIMED_DEPTH],
    timed_large[TIMED_COLUMNS * TIMED_DEPTH];

static void pointers(const float *x[TIMED_ROWS], float *y[TIMED_ROWS]) {
    for (size_t i = 0; i < TIMED_ROWS; i++) {
        x[i] = timed_x[i];
        y[i] = timed_y[i];
    }
}

/* TIMED_NUMBERS results of depth 128. */
static void run_dots(attn_vectors vectors) {
    const float *x[TIMED_ROWS];
    float *y[TIMED_ROWS];
    pointers(x, y);
    attn_few_kernels_of(vectors)->dots(TIMED_ROWS, TIMED_COLUMNS, TIMED_DEPTH, 1, x, timed_large, TIMED_DEPTH,
                                       y);
}

static void run_blends(attn_vectors vectors) {
    const attn_blend blend = {.count = TIMED_DEPTH,
                              .width = TIMED_COLUMNS,
                              .weights = timed_x[0],
                              .weights_stride = TIMED_DEPTH,
                              .v = timed_large,
                              .v_stride = TIMED_COLUMNS,
                              .y = timed_y[0],
                              .y_stride = TIMED_DEPTH,
                              .is_far = true};
    attn_few_kernels_of(vectors)->blend(TIMED_ROWS, &blend, true);
}

START_TEST(times) {
    const timed_kernel kernels[] = {{"dots of 128", run_dots}, {"blend of 128", run_blends}};
    kernels_time(kernels, sizeof kernels / sizeof *kernels);
}
END_TEST

ATTND_SUITE(few_kernels) {
    Suite *suite = suite_create("few_kernels");
    TCase *cases = tcase_create("few");
    if (kernels_are_timed()) {
        tcase_add_test(cases, times);
    } else {
        tcase_add_loop_test(cases, every_shape_of_a_block_is_right, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, a_row_has_the_same_bits_in_any_company, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, parts_of_a_blend_round_less_than_one_sum, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, nothing_is_done_for_no_rows, 0, ATTN_VECTORS_COUNT);
    }
    suite_add_tcase(suite, cases);
    return suite;
}
