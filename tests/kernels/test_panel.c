/* Packed products (engine/attention/panel.h) of every width that has them and that this processor can run: against
 * double precision, at every edge of their blocks, within their memory, and row by row against many rows at once. */
#include "engine/attention/panel.h"

#include "engine/blas/blas.h"
#include "harness.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of which the other side is cut into blocks of 14, 9, 8, 4, 2 and 1, in chunks of 126. */
enum { MOST_OTHERS = 33, LONGEST = ATTN_PANEL_DEPTH };
static const size_t chunks_of_others[] = {126, 127, 150};

static const size_t packed_counts[] = {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 65, ATTN_PANEL_ROWS};
static const size_t depths[] = {1, 2, 15, 16, 17, 64, 70, LONGEST};

static attn_panel panel;

/* Exactly `count` floats up to the end of a page. */
static float *numbers(size_t count, double step) {
    float *values = watched_new(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)sin(step * (double)(i + 1));
    return values;
}

/* `packed` rows that are packed, each memory of its own, and `others` that are read where they lie; the numbers of the
 * depth begin at `at`. */
typedef struct product {
    size_t packed, others, depth, at;
    float *x[ATTN_PANEL_ROWS], *w;
} product;

static product product_new(size_t packed, size_t others, size_t depth) {
    product p = {.packed = packed, .others = others, .depth = depth, .at = depth % 5U};
    for (size_t i = 0; i < packed; i++)
        p.x[i] = numbers(p.at + depth, 0.37 * (double)(i + 1));
    p.w = numbers(others * depth, 1.7);
    return p;
}

static void product_free(product *p) {
    for (size_t i = 0; i < p->packed; i++)
        watched_free(p->x[i], (p->at + p->depth) * sizeof(float));
    watched_free(p->w, p->others * p->depth * sizeof(float));
}

static double expected(const product *p, size_t packed, size_t other) {
    double sum = 0;
    for (size_t t = 0; t < p->depth; t++)
        sum += (double)p->x[packed][p->at + t] * (double)p->w[other * p->depth + t];
    return sum;
}

static size_t differs(double got, double want, size_t depth) {
    return fabs(got - want) <= 1e-6 * (double)(depth + 4) ? 0U : 1U; /* a NaN does */
}

/* What stands in y before: counts where it is added to, and else is not to be read. */
static float before(bool adds, size_t i) {
    return adds ? (float)(i % 7) : NAN;
}

static void check_columns(const attn_panel_kernels *k, const product *p, bool adds, bool has_start) {
    float *y[ATTN_PANEL_ROWS], *start = numbers(p->others, 0.9);
    size_t bytes = p->others * sizeof(float), wrong = 0;
    for (size_t i = 0; i < p->packed; i++) {
        y[i] = watched_new(bytes);
        for (size_t j = 0; j < p->others; j++)
            y[i][j] = before(adds, i + j);
    }
    k->pack(p->packed, p->at, p->depth, (const float *const *)p->x, &panel);
    ck_assert(k->columns(&panel, p->others, p->w, p->depth, has_start ? start : NULL, adds, y));
    for (size_t i = 0; i < p->packed; i++) {
        for (size_t j = 0; j < p->others; j++) {
            double begun = adds ? (double)before(true, i + j) : has_start ? (double)start[j] : 0;
            wrong += differs((double)y[i][j], begun + expected(p, i, j), p->depth);
        }
        watched_free(y[i], bytes);
    }
    watched_free(start, bytes);
    ck_assert_msg(wrong == 0, "%zu × %zu × %zu by columns, adds %d, start %d: %zu wrong", p->packed,
                  p->others, p->depth, adds, has_start, wrong);
}

static void check_rows(const attn_panel_kernels *k, const product *p, bool adds, bool has_start) {
    const float alpha = -0.75F;
    size_t stride = p->packed + 3, floats = (p->others - 1) * stride + p->packed, wrong = 0;
    float *y = watched_new(floats * sizeof *y), *start = numbers(p->packed, 0.9);
    for (size_t i = 0; i < floats; i++)
        y[i] = before(adds, i);
    k->pack(p->packed, p->at, p->depth, (const float *const *)p->x, &panel);
    ck_assert(k->rows(&panel, p->others, p->w, p->depth, alpha, has_start ? start : NULL, adds, y, stride));
    for (size_t i = 0; i < p->others; i++)
        for (size_t j = 0; j < stride && i * stride + j < floats; j++) {
            double stood = (double)before(adds, i * stride + j), got = (double)y[i * stride + j];
            if (j < p->packed) {
                double begun = adds ? stood : has_start ? (double)start[j] : 0;
                wrong += differs(got, begun + (double)alpha * expected(p, j, i), p->depth);
            } else /* between the rows: as it was */
                wrong += (adds ? got == stood : isnan(got)) ? 0U : 1U;
        }
    watched_free(y, floats * sizeof *y);
    watched_free(start, p->packed * sizeof *start);
    ck_assert_msg(wrong == 0, "%zu × %zu × %zu by rows, adds %d, start %d: %zu wrong", p->others, p->packed,
                  p->depth, adds, has_start, wrong);
}

static void check_both(const attn_panel_kernels *k, size_t packed, size_t others, size_t depth) {
    product p = product_new(packed, others, depth);
    check_columns(k, &p, others % 2 == 0, others % 3 > 0);
    check_rows(k, &p, others % 2 == 1, others % 3 > 0);
    product_free(&p);
}

/* The kernels of a loop test's index; NULL: OpenBLAS computes there, or the processor has no such width. */
static const attn_panel_kernels *kernels(int index) {
    attn_vectors vectors;
    return kernels_width(index, &vectors) ? attn_panel_kernels_of(vectors) : NULL;
}

START_TEST(every_shape_of_a_block_is_right) {
    const attn_panel_kernels *k = kernels(_i);
    if (!k) return;
    for (size_t c = 0; c < sizeof packed_counts / sizeof *packed_counts; c++) {
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
            for (size_t others = 1; others <= MOST_OTHERS; others += depths[d] == LONGEST ? 16 : 1)
                check_both(k, packed_counts[c], others, depths[d]);
        for (size_t n = 0; n < sizeof chunks_of_others / sizeof *chunks_of_others; n++)
            check_both(k, packed_counts[c], chunks_of_others[n], 17);
    }
}
END_TEST

/* What lets requests share a product; and whichever side is packed. Over several pieces of the depth. */
START_TEST(a_row_has_the_same_bits_in_any_company) {
    const attn_panel_kernels *k = kernels(_i);
    if (!k) return;
    enum { DEPTH = 600 };
    static float many[ATTN_PANEL_ROWS][MOST_OTHERS], alone[MOST_OTHERS],
        by_rows[MOST_OTHERS][ATTN_PANEL_ROWS];
    float *y[ATTN_PANEL_ROWS], *one = alone;
    product p = product_new(ATTN_PANEL_ROWS, MOST_OTHERS, DEPTH);
    for (size_t i = 0; i < ATTN_PANEL_ROWS; i++)
        y[i] = many[i];
    k->pack(ATTN_PANEL_ROWS, p.at, DEPTH, (const float *const *)p.x, &panel);
    k->columns(&panel, MOST_OTHERS, p.w, DEPTH, NULL, false, y);
    k->rows(&panel, MOST_OTHERS, p.w, DEPTH, 1, NULL, false, by_rows[0], ATTN_PANEL_ROWS);
    size_t differ = 0;
    for (size_t i = 0; i < ATTN_PANEL_ROWS; i++)
        for (size_t j = 0; j < MOST_OTHERS; j++)
            differ += by_rows[j][i] != many[i][j] ? 1U : 0U;
    ck_assert_uint_eq(differ, 0);
    for (size_t i = 0; i < ATTN_PANEL_ROWS; i++)
        for (size_t first = 0; first < MOST_OTHERS; first += 5) {
            size_t others = MOST_OTHERS - first;
            k->pack(1, p.at, DEPTH, (const float *const *)&p.x[i], &panel);
            k->columns(&panel, others, p.w + first * DEPTH, DEPTH, NULL, false, &one);
            ck_assert_msg(memcmp(alone, many[i] + first, others * sizeof *alone) == 0, "row %zu from %zu", i,
                          first);
        }
    product_free(&p);
}
END_TEST

/* Equal products would each lose the same digits of one long sum. */
START_TEST(pieces_of_the_depth_round_less_than_one_sum) {
    const attn_panel_kernels *k = kernels(_i);
    if (!k) return;
    static float x[LONGEST], y;
    float *results = &y;
    const float *row = x;
    for (size_t t = 0; t < LONGEST; t++)
        x[t] = 0.7F;
    k->pack(1, 0, LONGEST, &row, &panel);
    k->columns(&panel, 1, x, LONGEST, NULL, false, &results);
    double right = (double)0.7F * (double)0.7F * LONGEST;
    ck_assert_double_eq_tol((double)y / right, 1, 2e-6);
}
END_TEST

/* What makes one result of a product infinite. */
typedef enum overflow { BY_PRODUCT, BY_START, BY_ADDING } overflow;

/* The whole product into `results`, which holds p->packed × p->others numbers or, by rows, their transpose. */
static bool compute(const attn_panel_kernels *k, const product *p, bool by_rows, const float *start,
                    bool adds, float *results) {
    float *y[ATTN_PANEL_ROWS];
    for (size_t i = 0; i < p->packed; i++)
        y[i] = results + i * p->others;
    k->pack(p->packed, p->at, p->depth, (const float *const *)p->x, &panel);
    if (by_rows) return k->rows(&panel, p->others, p->w, p->depth, 1, start, adds, results, p->packed);
    return k->columns(&panel, p->others, p->w, p->depth, start, adds, y);
}

/* Whether they tell of one infinite result, of `packed` row i and `other` row j, and find none without it. */
static bool is_noticed(const attn_panel_kernels *k, product *p, bool by_rows, size_t i, size_t j,
                       overflow how) {
    static float results[ATTN_PANEL_ROWS * MOST_OTHERS], start[ATTN_PANEL_ROWS];
    const float big = j % 2 == 0 ? 3e38F : -3e38F;
    float *x = p->x[i] + p->at + p->depth - 1, *w = p->w + j * p->depth + p->depth - 1,
          *started = start + (by_rows ? i : j),
          *result = results + (by_rows ? j * p->packed + i : i * p->others + j);
    const float kept_x = *x, kept_w = *w;
    bool adds = how == BY_ADDING;
    memset(results, 0, sizeof results);
    *x = big;
    *w = how == BY_PRODUCT ? 2 : 1;
    if (how == BY_START) *started = big;
    if (how == BY_ADDING) *result = big;
    bool notices = !compute(k, p, by_rows, start, adds, results) && isinf(*result);
    memset(results, 0, sizeof results);
    *started = 0;
    *w = 1;
    bool finds_none = compute(k, p, by_rows, start, adds, results);
    *x = kept_x;
    *w = kept_w;
    return notices && finds_none;
}

static size_t count_unnoticed(const attn_panel_kernels *k, product *p, bool by_rows) {
    size_t unnoticed = 0;
    for (size_t i = 0; i < p->packed; i++)
        for (size_t j = 0; j < p->others; j++)
            for (overflow how = BY_PRODUCT; how <= BY_ADDING; how++)
                unnoticed += is_noticed(k, p, by_rows, i, j, how) ? 0U : 1U;
    return unnoticed;
}

/* Each result, wherever it lies in a block. */
START_TEST(a_result_that_is_not_finite_is_noticed) {
    const attn_panel_kernels *k = kernels(_i);
    if (!k) return;
    enum { DEPTH = 17 };
    static const size_t packed[] = {5, 17, 40, 64, ATTN_PANEL_ROWS}, others[] = {33, 26, 31, 16, 24};
    for (size_t shape = 0; shape < sizeof packed / sizeof *packed; shape++) {
        product p = product_new(packed[shape], others[shape], DEPTH);
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            size_t unnoticed = count_unnoticed(k, &p, by_rows > 0);
            ck_assert_msg(unnoticed == 0, "%zu × %zu, by rows %d: %zu unnoticed", p.packed, p.others, by_rows,
                          unnoticed);
        }
        product_free(&p);
    }
}
END_TEST

/* ---- times ---- */

enum { TIMED_DEPTH = 768, TIMED_PACKED = 64, TIMED_OTHERS = TIMED_NUMBERS / TIMED_PACKED };

static float timed_x[TIMED_PACKED][TIMED_DEPTH], timed_w[TIMED_OTHERS * TIMED_DEPTH],
    timed_y[TIMED_PACKED][TIMED_OTHERS];

/* TIMED_NUMBERS results of depth 768, packing included; OpenBLAS where it computes. */
static void run_product(attn_vectors vectors, bool by_rows) {
    const attn_panel_kernels *k = attn_panel_kernels_of(vectors);
    const float *x[TIMED_PACKED];
    float *y[TIMED_PACKED];
    if (!k) {
        attn_gemm(true, TIMED_PACKED, TIMED_OTHERS, TIMED_DEPTH, 1, timed_x[0], TIMED_DEPTH, timed_w,
                  TIMED_DEPTH, 0, timed_y[0], TIMED_OTHERS);
        return;
    }
    for (size_t i = 0; i < TIMED_PACKED; i++) {
        x[i] = timed_x[i];
        y[i] = timed_y[i];
    }
    k->pack(TIMED_PACKED, 0, TIMED_DEPTH, x, &panel);
    if (by_rows)
        k->rows(&panel, TIMED_OTHERS, timed_w, TIMED_DEPTH, 1, NULL, false, timed_y[0], TIMED_PACKED);
    else
        k->columns(&panel, TIMED_OTHERS, timed_w, TIMED_DEPTH, NULL, false, y);
}

static void run_columns(attn_vectors vectors) {
    run_product(vectors, false);
}

static void run_rows(attn_vectors vectors) {
    run_product(vectors, true);
}

START_TEST(times) {
    static const timed_kernel timed[] = {{"columns of 768", run_columns}, {"rows of 768", run_rows}};
    kernels_time(timed, sizeof timed / sizeof *timed);
}
END_TEST

ATTND_SUITE(panel_kernels) {
    Suite *suite = suite_create("panel_kernels");
    TCase *cases = tcase_create("panel");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    if (kernels_are_timed()) {
        tcase_add_test(cases, times);
    } else {
        tcase_add_loop_test(cases, every_shape_of_a_block_is_right, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, a_row_has_the_same_bits_in_any_company, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, pieces_of_the_depth_round_less_than_one_sum, 0, ATTN_VECTORS_COUNT);
        tcase_add_loop_test(cases, a_result_that_is_not_finite_is_noticed, 0, ATTN_VECTORS_COUNT);
    }
    suite_add_tcase(suite, cases);
    return suite;
}
