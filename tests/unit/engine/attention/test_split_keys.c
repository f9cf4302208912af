/* Few queries over many keys: what the splits of the keys give together is what all keys give, whatever hides keys or
 * leaves float32's range in some of them, and it has the same bits whoever computes them. */
#include "few_queries.h"

#include "compare.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POOLS = 3 };

static void set_keys(few_queries *f, size_t begin, size_t end, float value) {
    for (size_t i = begin * FEW_WIDTH; i < end * FEW_WIDTH; i++)
        f->context[i] = value;
}

static void nothing(few_queries *f) {
    (void)f;
}

static void output_projection(few_queries *f) {
    f->layer.wo = f->identity;
}

static void extra_keys(few_queries *f) {
    f->layer.extra_keys = FEW_EXTRA;
    f->layer.extra_k = f->layer.extra_v = f->extra;
}

static void causal(few_queries *f) {
    f->request.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
}

/* Rows whose reach begins and ends in other splits than that of the block; the first ones begin at key 0 or later. */
static void window(few_queries *f) {
    causal(f);
    f->request.window_given = true;
    f->request.window = SPLIT + 3;
}

static void rising_maxima(few_queries *f) {
    for (size_t j = 0; j < f->sequence.keys; j++)
        f->bias[j] = (float)j * 0.05F;
    f->sequence.bias.values = f->bias;
}

static void falling_maxima(few_queries *f) {
    for (size_t j = 0; j < f->sequence.keys; j++)
        f->bias[j] = (float)j * -0.05F;
    f->sequence.bias.values = f->bias;
}

/* All but a few keys in the middle: whole splits are empty. What lies there would overflow. */
static void padded_at_both_ends(few_queries *f) {
    size_t keys = f->sequence.keys, middle = keys / 2;
    for (size_t j = 0; j < keys; j++)
        f->padding[j] = j < middle - 20 || j == middle || j > middle + 20;
    set_keys(f, 0, middle - 20, 3e38F);
    f->sequence.padding = f->padding;
}

static void padded_throughout(few_queries *f) {
    memset(f->padding, 1, sizeof f->padding);
    f->sequence.padding = f->padding;
}

/* The first split, and the last, hold nothing that is seen. */
static void hidden_by_the_bias(few_queries *f) {
    size_t keys = f->sequence.keys, last = (keys - 1) / SPLIT * SPLIT;
    for (size_t j = 0; j < keys; j++)
        f->bias[j] = keys > SPLIT && (j < SPLIT - 1 || j > last) ? -INFINITY : 0;
    f->sequence.bias.values = f->bias;
}

/* Each row and head of its own: all keys, none, those of one split, every third key, one key, … */
static void mask_by_row(few_queries *f) {
    size_t queries = f->sequence.queries, keys = f->sequence.keys;
    for (size_t h = 0; h < FEW_HEADS; h++)
        for (size_t i = 0; i < queries; i++)
            for (size_t j = 0; j < keys; j++) {
                size_t kind = (i + 3 * h) % 5;
                f->allow[(h * queries + i) * keys + j] = kind == 0   ? 1
                                                         : kind == 1 ? 0
                                                         : kind == 2 ? j / SPLIT == h
                                                         : kind == 3 ? j % 3 == 0
                                                                     : j == keys - 1;
            }
    f->sequence.mask = (attn_mask){.allow = f->allow, .head_stride = queries * keys, .query_stride = keys};
}

/* A thousand weights times 1e38 leave float32; their mean does not. */
static void large_values(few_queries *f) {
    for (size_t i = 0; i < (size_t)FEW_MOST_KEYS * FEW_WIDTH; i++)
        f->values[i] = 1e38F * (1 + 0.01F * (float)(i % 7));
    memset(f->inputs, 0, sizeof f->inputs);
}

static void large_values_and_extra_keys(few_queries *f) {
    large_values(f);
    extra_keys(f);
    for (size_t i = 0; i < (size_t)FEW_EXTRA * FEW_WIDTH; i++)
        f->extra[i] = -3e38F;
}

/* 2.6e38 in each split, more than float32 holds where they meet. */
static void sums_beyond_float32_in_the_merge(few_queries *f) {
    for (size_t i = 0; i < (size_t)FEW_MOST_KEYS * FEW_WIDTH; i++)
        f->values[i] = 5e35F;
    memset(f->inputs, 0, sizeof f->inputs);
}

/* The first keys' values overflow in the projection; the last key makes their weights 0. */
static void values_beyond_float32_under_weights_of_zero(few_queries *f) {
    for (size_t j = 0; j < f->sequence.keys; j++)
        f->bias[j] = j + 1 < f->sequence.keys ? 0 : 200;
    f->sequence.bias.values = f->bias;
    f->identity[0] = 1.5F;
    memset(f->inputs, 0, sizeof f->inputs);
    f->values[0] = 3e38F;
}

/* A masked key's score is not a number; it takes no part. */
static void masked_scores_beyond_float32(few_queries *f) {
    for (size_t c = 0; c < FEW_WIDTH; c++)
        f->context[5 * FEW_WIDTH + c] = c % 2 == 0 ? 3e38F : -3e38F;
    f->bias[5] = -INFINITY;
    f->sequence.bias.values = f->bias;
    for (size_t i = 0; i < (size_t)FEW * FEW_WIDTH; i++)
        f->inputs[i] = 4;
}

static void negative_inputs(few_queries *f) {
    for (size_t i = 0; i < (size_t)FEW * FEW_WIDTH; i++)
        f->inputs[i] = -4;
}

/* Every score of the first keys falls below float32's range: weights of 0, as they are. */
static void first_scores_below_float32(few_queries *f) {
    negative_inputs(f);
    set_keys(f, 0, SPLIT - 1 < f->sequence.keys - 1 ? SPLIT : SPLIT - 2, 3e38F);
}

static void every_score_below_float32(few_queries *f) {
    negative_inputs(f);
    set_keys(f, 0, FEW_MOST_KEYS, 3e38F);
}

static void last_score_above_float32(few_queries *f) {
    negative_inputs(f);
    set_keys(f, f->sequence.keys - 1, f->sequence.keys, -3e38F);
}

static void first_score_not_a_number(few_queries *f) {
    masked_scores_beyond_float32(f);
    f->sequence.bias.values = NULL;
}

/* Nothing else of its split is seen by anybody, so that no maximum tells of it. */
static void only_score_of_a_split_not_a_number(few_queries *f) {
    masked_scores_beyond_float32(f);
    for (size_t j = 0; j < SPLIT; j++)
        f->bias[j] = j == 5 ? 0 : -INFINITY;
}

static const struct {
    const char *name;
    void (*change)(few_queries *f);
    attn_code code;
} rows[] = {
#define ROW(name, code) {#name, name, code}
    ROW(nothing, ATTN_OK),
    ROW(output_projection, ATTN_OK),
    ROW(extra_keys, ATTN_OK),
    ROW(causal, ATTN_OK),
    ROW(window, ATTN_OK),
    ROW(rising_maxima, ATTN_OK),
    ROW(falling_maxima, ATTN_OK),
    ROW(padded_at_both_ends, ATTN_OK),
    ROW(padded_throughout, ATTN_OK),
    ROW(hidden_by_the_bias, ATTN_OK),
    ROW(mask_by_row, ATTN_OK),
    ROW(large_values, ATTN_OK),
    ROW(large_values_and_extra_keys, ATTN_OK),
    ROW(sums_beyond_float32_in_the_merge, ATTN_OK),
    ROW(values_beyond_float32_under_weights_of_zero, ATTN_OK),
    ROW(masked_scores_beyond_float32, ATTN_OK),
    ROW(first_scores_below_float32, ATTN_OK),
    ROW(every_score_below_float32, ATTN_NOT_FINITE),
    ROW(last_score_above_float32, ATTN_NOT_FINITE),
    ROW(first_score_not_a_number, ATTN_NOT_FINITE),
    ROW(only_score_of_a_split_not_a_number, ATTN_NOT_FINITE),
#undef ROW
};

/* A run that has ended. */
static attn_run *run_on(const attn_request *request, attn_pool *pool, attn_code *code) {
    attn_plan plan;
    attn_run *run = NULL;
    ck_assert_int_eq(attn_plan_make(request, attn_pool_workers(pool), &plan, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_new(&plan, &run, NULL), ATTN_OK);
    *code = attn_run_wait(run, pool);
    return run;
}

/* One sequence of a run against the reference; returns its rows without keys. */
static size_t check_values(const attn_run *run, size_t sequence, const char *name) {
    attn_reference reference = {0};
    char text[COMPARE_TEXT_SIZE];
    ck_assert_int_eq(attn_reference_compute(attn_run_plan(run), sequence, &reference, NULL), ATTN_OK);
    attn_view outputs = attn_run_view(run, ATTN_OUTPUTS, sequence);
    bool agrees =
        compare_floats(name, outputs.data, reference.outputs, attn_view_count(&outputs), 1e-5, text);
    const attn_sequence *s = &attn_run_plan(run)->request.sequences[sequence];
    ck_assert_msg(agrees, "%zu queries, %zu keys: %s", s->queries, s->keys, text);
    size_t without_keys = reference.rows_without_keys;
    attn_reference_done(&reference);
    return without_keys;
}

static void check_same_bits(const attn_run *a, const attn_run *b, const char *name) {
    attn_view mine = attn_run_view(a, ATTN_OUTPUTS, 0), theirs = attn_run_view(b, ATTN_OUTPUTS, 0);
    size_t bytes = attn_view_count(&mine) * sizeof(float);
    ck_assert_msg(memcmp(mine.data, theirs.data, bytes) == 0, "%s: other bits", name);
    ck_assert_uint_eq(attn_run_rows_without_keys(a), attn_run_rows_without_keys(b));
}

static void check_row(const few_queries *f, int row, attn_pool *const pools[POOLS]) {
    attn_run *runs[POOLS];
    for (size_t i = 0; i < POOLS; i++) {
        attn_code code;
        runs[i] = run_on(&f->request, pools[i], &code);
        ck_assert_msg(code == rows[row].code, "%s, %zu queries, %zu keys: %s", rows[row].name,
                      f->sequence.queries, f->sequence.keys, attn_code_name(code));
    }
    if (rows[row].code == ATTN_OK) {
        ck_assert_uint_eq(attn_run_rows_without_keys(runs[0]), check_values(runs[0], 0, rows[row].name));
        for (size_t i = 1; i < POOLS; i++)
            check_same_bits(runs[0], runs[i], rows[row].name);
    }
    for (size_t i = 0; i < POOLS; i++)
        attn_run_free(runs[i]);
}

START_TEST(few_queries_agree_with_the_reference_whoever_computes_them) {
    few_queries *f = malloc(sizeof *f);
    attn_pool *pools[POOLS];
    for (size_t i = 0; i < POOLS; i++)
        ck_assert_int_eq(attn_pool_new(i + 1, &pools[i], NULL), ATTN_OK);
    for (size_t queries = 1; queries <= FEW; queries++)
        for (size_t k = 0; k < FEW_KEY_COUNTS; k++) {
            few_queries_init(f, queries, few_key_counts[k]);
            rows[_i].change(f);
            check_row(f, _i, pools);
        }
    for (size_t i = 0; i < POOLS; i++)
        attn_pool_free(pools[i]);
    free(f);
}
END_TEST

/* Keys that are split beside keys that are not, in one batch: few and many queries, few and many keys. */
START_TEST(sequences_of_all_kinds_stand_side_by_side) {
    static const attn_sequence sequences[] = {{.queries = 3, .keys = 40},
                                              {.queries = 2, .keys = 2 * SPLIT + 30},
                                              {.queries = FEW + 1, .keys = SPLIT + 9},
                                              {.queries = 300, .keys = 20},
                                              {.queries = FEW, .keys = 3 * SPLIT}};
    enum { COUNT = sizeof sequences / sizeof *sequences };
    size_t queries = 0, keys = 0;
    for (size_t n = 0; n < COUNT; n++) {
        queries += sequences[n].queries;
        keys += sequences[n].keys;
    }
    few_queries *f = malloc(sizeof *f);
    few_queries_init(f, 1, 1);
    float *inputs = malloc(queries * FEW_WIDTH * sizeof *inputs),
          *context = malloc(keys * FEW_WIDTH * sizeof *context);
    for (size_t i = 0; i < queries * FEW_WIDTH; i++)
        inputs[i] = few_queries_wave(i, 2);
    for (size_t i = 0; i < keys * FEW_WIDTH; i++)
        context[i] = few_queries_wave(i + 3, 1);
    f->request.sequences = sequences;
    f->request.sequence_count = COUNT;
    f->request.inputs = inputs;
    f->request.context = f->request.values = context;
    attn_pool *pool = NULL;
    attn_code code;
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    attn_run *run = run_on(&f->request, pool, &code);
    ck_assert_int_eq(code, ATTN_OK);
    ck_assert_uint_eq(attn_run_plan(run)->attention_tiles, FEW_HEADS * (1 + 3 + 1 + 2 + 3));
    for (size_t n = 0; n < COUNT; n++)
        check_values(run, n, "outputs");
    attn_run_free(run);
    attn_pool_free(pool);
    free(inputs);
    free(context);
    free(f);
}
END_TEST

ATTND_SUITE(split_keys) {
    Suite *suite = suite_create("split_keys");
    TCase *cases = tcase_create("split keys");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_loop_test(cases, few_queries_agree_with_the_reference_whoever_computes_them, 0,
                        (int)(sizeof rows / sizeof *rows));
    tcase_add_test(cases, sequences_of_all_kinds_stand_side_by_side);
    suite_add_tcase(suite, cases);
    return suite;
}
