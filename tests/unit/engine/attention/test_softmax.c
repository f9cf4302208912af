/* The softmax against double precision, and rows that have no answer. */
#include "engine/attention/softmax.h"
#include "suites.h"

#include <math.h>

START_TEST(rows_of_every_length_sum_to_one) {
    for (size_t count = 1; count <= 129; count++) {
        float row[129];
        double want[129], sum = 0, total = 0;
        for (size_t i = 0; i < count; i++)
            row[i] = (float)((i * 37) % 23) * 0.7f - 5;
        for (size_t i = 0; i < count; i++)
            sum += want[i] = exp((double)row[i]);
        ck_assert_int_eq(attn_softmax_row(row, count), ATTN_SOFTMAX_DONE);
        for (size_t i = 0; i < count; i++) {
            ck_assert_double_le(fabs((double)row[i] - want[i] / sum), 1e-6);
            total += (double)row[i];
        }
        ck_assert_double_le(fabs(total - 1), 1e-6);
    }
}
END_TEST

START_TEST(masked_entries_are_exactly_zero) {
    float row[] = {-INFINITY, 3, -INFINITY, 3};
    ck_assert_int_eq(attn_softmax_row(row, 4), ATTN_SOFTMAX_DONE);
    ck_assert_float_eq(row[0], 0);
    ck_assert_float_eq(row[1], 0.5f);
    ck_assert_float_eq(row[2], 0);
    ck_assert_float_eq(row[3], 0.5f);
}
END_TEST

START_TEST(large_scores_do_not_overflow) {
    float row[] = {3e38f, 3e38f, -3e38f};
    ck_assert_int_eq(attn_softmax_row(row, 3), ATTN_SOFTMAX_DONE);
    ck_assert_float_eq(row[0], 0.5f);
    ck_assert_float_eq(row[2], 0);
}
END_TEST

START_TEST(scores_far_below_zero_do_not_vanish) {
    float row[] = {-3e38f, -500, -500};
    ck_assert_int_eq(attn_softmax_row(row, 3), ATTN_SOFTMAX_DONE);
    ck_assert_float_eq(row[0], 0);
    ck_assert_float_eq(row[1], 0.5f);
    float lowest[] = {-3e38f};
    ck_assert_int_eq(attn_softmax_row(lowest, 1), ATTN_SOFTMAX_DONE);
    ck_assert_float_eq(lowest[0], 1);
}
END_TEST

START_TEST(a_row_without_keys_is_all_zeros) {
    float row[20];
    for (int i = 0; i < 20; i++)
        row[i] = -INFINITY;
    ck_assert_int_eq(attn_softmax_row(row, 20), ATTN_SOFTMAX_EMPTY);
    for (int i = 0; i < 20; i++)
        ck_assert_float_eq(row[i], 0);
}
END_TEST

START_TEST(what_is_not_finite_is_told) {
    float overflow[] = {1, INFINITY, 2}, nan_inside[] = {1, NAN, 2}, nan_alone[] = {NAN, -INFINITY};
    ck_assert_int_eq(attn_softmax_row(overflow, 3), ATTN_SOFTMAX_NOT_FINITE);
    ck_assert_int_eq(attn_softmax_row(nan_inside, 3), ATTN_SOFTMAX_NOT_FINITE);
    ck_assert_int_eq(attn_softmax_row(nan_alone, 2), ATTN_SOFTMAX_NOT_FINITE);
}
END_TEST

ATTND_SUITE(softmax) {
    Suite *suite = suite_create("softmax");
    TCase *tcase = tcase_create("softmax");
    tcase_add_test(tcase, rows_of_every_length_sum_to_one);
    tcase_add_test(tcase, masked_entries_are_exactly_zero);
    tcase_add_test(tcase, large_scores_do_not_overflow);
    tcase_add_test(tcase, scores_far_below_zero_do_not_vanish);
    tcase_add_test(tcase, a_row_without_keys_is_all_zeros);
    tcase_add_test(tcase, what_is_not_finite_is_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
