/* One projection, tile by tile, where it has several tiles of rows and of columns; and what is not finite in it. */
#include "engine/attention/geometry.h"

#include "engine/blas/blas.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = ATTN_LINEAR_ROWS + 37, IN = 3, OUT = ATTN_LINEAR_COLUMNS + 17 };

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

/* One check for all numbers: each check takes a system call. */
static void check_product(const attn_linear *linear) {
    size_t wrong = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < OUT; j++) {
            float want = linear->b != NULL ? linear->b[j] : 0;
            for (size_t c = 0; c < IN; c++)
                want += linear->x[i * IN + c] * linear->w[j * IN + c];
            wrong += linear->y[i * OUT + j] != want;
        }
    ck_assert_uint_eq(wrong, 0);
}

START_TEST(tiles_of_rows_and_columns_make_the_product) {
    float *x = numbers(ROWS * IN, 7), *w = numbers(OUT * IN, 11), *b = numbers(OUT, 5);
    float *y = malloc(ROWS * OUT * sizeof *y);
    ck_assert_ptr_nonnull(y);
    attn_linear linear = {ROWS, IN, OUT, x, w, NULL, y};
    ck_assert_uint_eq(attn_linear_tiles(&linear), 4);
    for (size_t bias = 0; bias < 2; bias++) {
        linear.b = bias > 0 ? b : NULL;
        for (size_t i = 0; i < ROWS * OUT; i++)
            y[i] = NAN;
        for (size_t tile = 4; tile-- > 0;)
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
    float *x = numbers(ROWS * IN, 7), *w = numbers(OUT * IN, 11);
    float *y = malloc(ROWS * OUT * sizeof *y);
    ck_assert_ptr_nonnull(y);
    x[(ROWS - 1) * IN] = 1e38F;
    w[0] = 4; /* the others are below 2 */
    attn_linear linear = {ROWS, IN, OUT, x, w, NULL, y};
    for (size_t tile = 0; tile < 4; tile++)
        ck_assert_msg(attn_linear_run(&linear, tile) == (tile != 2), "tile %zu", tile);
    free(x);
    free(w);
    free(y);
}
END_TEST

ATTND_SUITE(linear) {
    Suite *suite = suite_create("linear");
    TCase *cases = tcase_create("linear");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_test(cases, tiles_of_rows_and_columns_make_the_product);
    tcase_add_test(cases, only_the_tile_with_a_value_beyond_float32_says_so);
    suite_add_tcase(suite, cases);
    return suite;
}
