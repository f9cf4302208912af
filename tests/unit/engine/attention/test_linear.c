/* One projection, tile by tile, where it has several tiles of rows and of columns; and what is not finite in it. */
#include "engine/attention/geometry.h"
#include "engine/attention/panel.h"

#include "engine/blas/blas.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

enum { OUT = ATTN_LINEAR_COLUMNS + 17 };

/* So many rows that these are packed, that weights are, and that OpenBLAS gets several tiles too; the first two over more
 * of the depth than is packed at a time. */
static const struct shape {
    size_t rows, in;
} shapes[] = {
    {ATTN_TALL_ROWS - 1, ATTN_PANEL_DEPTH + 6},
    {ATTN_TALL_ROWS, ATTN_PANEL_DEPTH + 6},
    {ATTN_TALL_TILE_ROWS + 1, 3},
    {ATTN_BLAS_TILE_ROWS + 37, 3},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Multiples of 1/8 below 2: sums of products are exact. */
static float number(size_t index, size_t step) {
    return (float)((int)(index * step % 31) - 15) / 8.0F;
}

static float *numbers(size_t count, size_t step) {
    float *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < count; i++)
        values[i] = number(i, step);
    return values;
}

static size_t pieces(size_t whole, size_t piece) {
    return (whole + piece - 1) / piece;
}

static size_t row_tiles(size_t rows) {
    if (!attn_panel_kernels_in_use()) return pieces(rows, ATTN_BLAS_TILE_ROWS);
    return pieces(rows, rows < ATTN_TALL_ROWS ? ATTN_PANEL_TILE_ROWS : ATTN_TALL_TILE_ROWS);
}

static size_t column_tiles(size_t rows) {
    bool packs_weights = attn_panel_kernels_in_use() && rows >= ATTN_TALL_ROWS;
    return pieces(OUT, packs_weights ? ATTN_PANEL_ROWS : ATTN_LINEAR_COLUMNS);
}

/* One check for all numbers: each check takes a system call. */
static void check_product(const attn_linear *linear) {
    size_t wrong = 0;
    for (size_t i = 0; i < linear->rows; i++)
        for (size_t j = 0; j < OUT; j++) {
            float want = linear->b != NULL ? linear->b[j] : 0;
            for (size_t c = 0; c < linear->in; c++)
                want += linear->x[i * linear->in + c] * linear->w[j * linear->in + c];
            wrong += linear->y[i * OUT + j] != want;
        }
    ck_assert_uint_eq(wrong, 0);
}

START_TEST(tiles_of_rows_and_columns_make_the_product) {
    size_t rows = shapes[_i].rows, in = shapes[_i].in, tiles = row_tiles(rows) * column_tiles(rows);
    float *x = numbers(rows * in, 7), *w = numbers(OUT * in, 11), *b = numbers(OUT, 5);
    float *y = malloc(rows * OUT * sizeof *y);
    ck_assert_ptr_nonnull(y);
    attn_linear linear = {rows, in, OUT, x, w, NULL, y};
    ck_assert_uint_eq(attn_linear_tiles(&linear), tiles);
    for (size_t bias = 0; bias < 2; bias++) {
        linear.b = bias > 0 ? b : NULL;
        for (size_t i = 0; i < rows * OUT; i++)
            y[i] = NAN;
        for (size_t tile = tiles; tile-- > 0;)
            ck_assert(attn_linear_run(&linear, tile));
        check_product(&linear);
    }
    free(x);
    free(w);
    free(b);
    free(y);
}
END_TEST

START_TEST(only_the_tile_with_a_value_beyond_float32_says_so) {
    size_t rows = shapes[_i].rows, in = shapes[_i].in, tiles = row_tiles(rows) * column_tiles(rows);
    float *x = numbers(rows * in, 7), *w = numbers(OUT * in, 11);
    float *y = malloc(rows * OUT * sizeof *y);
    ck_assert_ptr_nonnull(y);
    x[(rows - 1) * in] = 1e38F;
    w[0] = 4; /* the others are below 2 */
    attn_linear linear = {rows, in, OUT, x, w, NULL, y};
    /* In the last tile of rows of the first columns. */
    for (size_t tile = 0; tile < tiles; tile++)
        ck_assert_msg(attn_linear_run(&linear, tile) == (tile != row_tiles(rows) - 1), "tile %zu", tile);
    free(x);
    free(w);
    free(y);
}
END_TEST

/* Requests of one layer, one with a value that overflows. Where rows can be packed the last two are too many for one walk over
 * the weights, and the others are computed in another way than they. */
enum { REQUESTS = 5 };

static const struct spoilt {
    size_t request;
    bool is_last_row; /* of the last request: computed in the second walk */
} spoilt[] = {{0, false}, {1, false}, {3, false}, {4, false}, {4, true}};

START_TEST(projections_of_few_rows_come_out_together_as_alone) {
    enum { FEW_IN = 50, FEW_OUT = ATTN_FEW_COLUMNS + 5, TILES = 2 };
    bool packs = attn_panel_kernels_in_use() != NULL;
    const size_t rows[REQUESTS] = {1, 8, 5, packs ? ATTN_PANEL_TILE_ROWS - 7 : 3, packs ? 20 : 2};
    const struct spoilt *bad = &spoilt[_i];
    float *w = numbers(FEW_OUT * FEW_IN, 11), *b = numbers(FEW_OUT, 5);
    attn_linear alone[REQUESTS], together[REQUESTS];
    for (size_t n = 0; n < REQUESTS; n++) {
        float *x = numbers(rows[n] * FEW_IN, 3 + n);
        for (size_t i = 0; i < rows[n] * FEW_IN; i++)
            x[i] /= 3;
        if (n == bad->request) x[(bad->is_last_row ? rows[n] - 1 : 0) * FEW_IN] = 3e38F;
        alone[n] = together[n] = (attn_linear){rows[n], FEW_IN, FEW_OUT, x, w, b, NULL};
        alone[n].y = numbers(rows[n] * FEW_OUT, 1);
        together[n].y = numbers(rows[n] * FEW_OUT, 2);
        ck_assert(attn_linear_can_share(&alone[n]));
        ck_assert_uint_eq(attn_linear_tiles(&alone[n]), TILES);
    }
    w[0] = 2; /* with 3e38 beyond float32; the other columns' factors are below it */
    for (size_t j = 1; j < FEW_OUT; j++)
        w[j * FEW_IN] = 0.125F;
    for (size_t tile = 0; tile < TILES; tile++) {
        const attn_linear *all[REQUESTS] = {&together[0], &together[1], &together[2], &together[3],
                                            &together[4]};
        bool finite[REQUESTS];
        attn_linear_run_together(all, REQUESTS, tile, finite);
        for (size_t n = 0; n < REQUESTS; n++) {
            ck_assert(attn_linear_run(&alone[n], tile) == (n != bad->request || tile == 1));
            ck_assert(finite[n] == (n != bad->request || tile == 1));
        }
    }
    for (size_t n = 0; n < REQUESTS; n++) {
        ck_assert_mem_eq(alone[n].y, together[n].y, rows[n] * FEW_OUT * sizeof(float));
        free((float *)alone[n].x);
        free(alone[n].y);
        free(together[n].y);
    }
    free(w);
    free(b);
}
END_TEST

ATTND_SUITE(linear) {
    Suite *suite = suite_create("linear");
    TCase *cases = tcase_create("linear");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_loop_test(cases, tiles_of_rows_and_columns_make_the_product, 0, SHAPES);
    tcase_add_loop_test(cases, only_the_tile_with_a_value_beyond_float32_says_so, 0, SHAPES);
    tcase_add_loop_test(cases, projections_of_few_rows_come_out_together_as_alone, 0,
                        sizeof spoilt / sizeof *spoilt);
    suite_add_tcase(suite, cases);
    return suite;
}
