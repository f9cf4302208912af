/* How keys are split: by the request's shape alone, in what the plan has counted, and each a tile of its own. */
#include "cancelled_run.h"
#include "few_queries.h"

#include "suites.h"

#include <stdlib.h>

/* A sum, a count and a maximum; more with what the compiler leaves between them. */
enum { ROW_BYTES = sizeof(double) + sizeof(size_t) + sizeof(float) };

static attn_plan plan_of(const few_queries *f, size_t workers) {
    attn_plan plan;
    attn_error error = {0};
    ck_assert_msg(attn_plan_make(&f->request, workers, &plan, &error) == ATTN_OK, "%s", error.text);
    return plan;
}

START_TEST(a_plan_splits_by_shape_alone) {
    few_queries *f = malloc(sizeof *f);
    for (size_t workers = 1; workers <= 16; workers *= 4)
        for (size_t queries = 1; queries <= FEW + 1; queries++)
            for (size_t k = 0; k < FEW_KEY_COUNTS; k++) {
                few_queries_init(f, queries, few_key_counts[k]);
                attn_plan plan = plan_of(f, workers);
                size_t splits = queries <= FEW ? (few_key_counts[k] + SPLIT - 1) / SPLIT : 1;
                ck_assert_uint_eq(plan.attention_tiles, FEW_HEADS * splits);
                ck_assert_uint_eq(plan.merge_tiles, splits > 1 ? FEW_HEADS : 0);
            }
    few_queries_init(f, 2, FEW_MOST_KEYS);
    f->request.want |= ATTN_WANT_MAPS; /* whole rows are wanted */
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, FEW_HEADS);
    ck_assert_uint_eq(plan_of(f, 1).merge_tiles, 0);
    few_queries_init(f, 2, FEW_MOST_KEYS);
    f->request.want = ATTN_WANT_PROJECTIONS; /* nothing attends */
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, 0);
    ck_assert_uint_eq(plan_of(f, 1).merge_tiles, 0);
    ck_assert_uint_eq(plan_of(f, 1).split_floats, 0);
    few_queries_init(f, 2, FEW_MOST_KEYS);
    f->request.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    f->request.window_given = true;
    f->request.window = SPLIT - 1; /* two rows reach SPLIT keys together */
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, FEW_HEADS);
    f->request.window = SPLIT;
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, 2 * FEW_HEADS);
    free(f);
}
END_TEST

START_TEST(splits_cover_the_keys_once) {
    for (size_t begin = 0; begin < 2000; begin += 999)
        for (size_t splits = 1; splits <= 4; splits++)
            for (size_t last = 1; last <= SPLIT; last += SPLIT - 1) {
                attn_span keys = {begin, begin + (splits - 1) * SPLIT + last};
                size_t next = begin;
                for (size_t split = 0; split < splits; split++) {
                    attn_span some = attn_key_split(keys, split, splits);
                    ck_assert_uint_eq(some.begin, next);
                    ck_assert_uint_eq(some.end - some.begin, split + 1 < splits ? SPLIT : last);
                    next = some.end;
                }
                ck_assert_uint_eq(next, keys.end);
            }
}
END_TEST

/* Those and dv floats for each row, in whole cache lines. */
START_TEST(a_plan_counts_what_splits_leave) {
    few_queries *f = malloc(sizeof *f);
    few_queries_init(f, 5, FEW_MOST_KEYS);
    attn_plan plan = plan_of(f, 1);
    size_t row = ROW_BYTES + FEW_WIDTH / FEW_HEADS * sizeof(float);
    size_t least = FEW_HEADS * 4 * 5 * row, bytes = plan.split_floats * sizeof(float);
    ck_assert_uint_ge(bytes, least);
    ck_assert_uint_le(bytes, 2 * least);
    ck_assert_uint_ge(plan.bytes, bytes);
    /* One split fewer, and a split's keys less, make the run smaller by what they leave and take. */
    few_queries_init(f, 5, FEW_MOST_KEYS - SPLIT);
    attn_plan shorter = plan_of(f, 1);
    ck_assert_uint_eq(plan.split_floats - shorter.split_floats, plan.split_floats / 4);
    ck_assert_uint_eq(plan.bytes - shorter.bytes,
                      plan.split_floats / 4 * sizeof(float) + 2 * SPLIT * FEW_WIDTH * sizeof(float));
    free(f);
}
END_TEST

/* 2²⁰ heads of 2¹⁰ values over 2³¹ keys: sixteen sequences leave 2⁶¹ bytes, sixty-four more than can be addressed.
 * Nothing else of the request comes near. */
START_TEST(splits_that_overflow_are_refused) {
    enum { SEQUENCES = 64, VALUES = 1024 };
    few_queries *f = malloc(sizeof *f);
    few_queries_init(f, 1, 1);
    attn_sequence sequences[SEQUENCES];
    for (size_t n = 0; n < SEQUENCES; n++)
        sequences[n] = (attn_sequence){.queries = 8, .keys = ((size_t)1 << 31) - 1};
    f->layer = (attn_layer){.name = "layers.0",
                            .heads = (size_t)1 << 20,
                            .kv_heads = 1,
                            .head_dim = 1,
                            .value_dim = VALUES,
                            .d_out = 1};
    f->request.sequences = sequences;
    f->request.sequence_count = 16;
    ck_assert_uint_ge(plan_of(f, 1).bytes, (size_t)1 << 61);
    f->request.sequence_count = SEQUENCES;
    attn_plan plan;
    attn_error error = {0};
    ck_assert_int_eq(attn_plan_make(&f->request, 1, &plan, &error), ATTN_TOO_LARGE);
    ck_assert_str_eq(error.where, "/inputs");
    free(f);
}
END_TEST

START_TEST(a_cancelled_run_ends_within_one_split) {
    few_queries *f = malloc(sizeof *f);
    few_queries_init(f, 4, FEW_MOST_KEYS);
    f->layer = (attn_layer){.name = "layers.0", .heads = 1, .kv_heads = 1}; /* no projections come first */
    attn_plan plan = plan_of(f, 1);
    ck_assert_uint_eq(plan.attention_tiles, 4);
    cancelled_run_check(&plan);
    free(f);
}
END_TEST

ATTND_SUITE(key_splits) {
    Suite *suite = suite_create("key_splits");
    TCase *cases = tcase_create("key splits");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_test(cases, a_plan_splits_by_shape_alone);
    tcase_add_test(cases, splits_cover_the_keys_once);
    tcase_add_test(cases, a_plan_counts_what_splits_leave);
    tcase_add_test(cases, splits_that_overflow_are_refused);
    tcase_add_test(cases, a_cancelled_run_ends_within_one_split);
    suite_add_tcase(suite, cases);
    return suite;
}
