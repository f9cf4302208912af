/* The k largest weights: order, ties, short rows, the rest, and every k against a plain sort. */
#include "engine/attention/top_k.h"
#include "suites.h"

#include <math.h>
#include <stdbool.h>

START_TEST(largest_first_ties_to_the_lower_key) {
    const float row[] = {0.1f, 0.3f, 0.1f, 0.3f, 0.2f};
    int32_t keys[3];
    float weights[3];
    float rest = attn_top_k(row, 5, 3, keys, weights);
    const int32_t want[] = {1, 3, 4};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(keys[i], want[i]);
    ck_assert_float_eq(weights[0], 0.3f);
    ck_assert_float_eq(weights[2], 0.2f);
    ck_assert_float_eq_tol(rest, 0.2f, 1e-6f);
}
END_TEST

START_TEST(short_rows_are_padded) {
    const float row[] = {0, 0.25f, 0, 0.75f};
    int32_t keys[4];
    float weights[4];
    ck_assert_float_eq(attn_top_k(row, 4, 4, keys, weights), 0);
    const int32_t want[] = {3, 1, -1, -1};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(keys[i], want[i]);
    ck_assert_float_eq(weights[2], 0);
    ck_assert_float_eq(weights[3], 0);
}
END_TEST

/* These weights have no exact sum: what is left must not be the rounding of a difference. */
START_TEST(nothing_left_is_exactly_zero) {
    enum { COUNT = 40 };
    float row[COUNT];
    for (size_t j = 0; j < COUNT; j++)
        row[j] = 0.1f / (float)(1 + (j * 7) % 13);
    int32_t keys[COUNT];
    float weights[COUNT];
    ck_assert(attn_top_k(row, COUNT, COUNT, keys, weights) == 0);
    row[17] = 1e-30f; /* and the least left is not lost beside the rest */
    ck_assert(attn_top_k(row, COUNT, COUNT - 1, keys, weights) == 1e-30f);
}
END_TEST

/* How many entries come before entry j in the falling order. */
static size_t rank_of(const float *row, size_t count, size_t j) {
    size_t before = 0;
    for (size_t i = 0; i < count; i++)
        before += row[i] > row[j] || (row[i] == row[j] && i < j);
    return before;
}

START_TEST(every_k_agrees_with_a_sort) {
    enum { COUNT = 61 };
    float row[COUNT];
    for (size_t j = 0; j < COUNT; j++)
        row[j] = (float)(1 + (j * 29) % 17) / 64.0f;
    for (size_t k = 1; k <= COUNT; k++) {
        int32_t keys[COUNT];
        float weights[COUNT], want_rest = 0;
        float rest = attn_top_k(row, COUNT, k, keys, weights);
        for (size_t j = 0; j < COUNT; j++) {
            size_t rank = rank_of(row, COUNT, j);
            if (rank >= k)
                want_rest += row[j];
            else {
                ck_assert_int_eq(keys[rank], (int)j);
                ck_assert_float_eq(weights[rank], row[j]);
            }
        }
        ck_assert_float_eq(rest, want_rest); /* sums of 64ths are exact */
    }
}
END_TEST

ATTND_SUITE(top_k) {
    Suite *suite = suite_create("top_k");
    TCase *tcase = tcase_create("top_k");
    tcase_add_test(tcase, largest_first_ties_to_the_lower_key);
    tcase_add_test(tcase, short_rows_are_padded);
    tcase_add_test(tcase, nothing_left_is_exactly_zero);
    tcase_add_test(tcase, every_k_agrees_with_a_sort);
    suite_add_tcase(suite, tcase);
    return suite;
}
