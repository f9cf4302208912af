/* Few queries over many keys: what the splits of the keys give together is what all keys give, whatever hides keys or
 * leaves float32's range in some of them, and it has the same bits whoever computes them. */
#include "engine/engine.h"

#include "compare.h"
#include "engine/attention/few.h"
#include "engine/attention/geometry.h"
#include "suites.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = ATTN_FEW_QUERIES,
    SPLIT = ATTN_SPLIT_KEYS,
    MOST_KEYS = 3 * SPLIT + 5,
    WIDTH = 8,
    HEADS = 2,
    EXTRA = 3
};

static const size_t key_counts[] = {SPLIT - 1, SPLIT,         SPLIT + 1, 2 * SPLIT - 1,
                                    2 * SPLIT, 2 * SPLIT + 1, MOST_KEYS};
/* A sum, a count and a maximum; more with what the compiler leaves between them. */
enum { SPLIT_ROW_BYTES = sizeof(double) + sizeof(size_t) + sizeof(float) };
enum { KEY_COUNTS = sizeof key_counts / sizeof *key_counts, POOLS = 3 };

/* A layer that hands its inputs through to two heads, and a request to it. */
typedef struct few {
    attn_layer layer;
    attn_sequence sequence;
    attn_request request;
    float identity[WIDTH * WIDTH], extra[EXTRA * WIDTH];
    float inputs[FEW * WIDTH], context[MOST_KEYS * WIDTH], values[MOST_KEYS * WIDTH];
    float bias[FEW * MOST_KEYS];
    uint8_t padding[MOST_KEYS], allow[HEADS * FEW * MOST_KEYS];
} few;

static float wave(size_t i, float most) {
    return most * (float)sin(1.3 * (double)i + 0.7 * (double)(i % 89));
}

static void few_init(few *f, size_t queries, size_t keys) {
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < WIDTH; i++)
        f->identity[i * WIDTH + i] = 1;
    for (size_t i = 0; i < (size_t)FEW * WIDTH; i++)
        f->inputs[i] = wave(i, 2);
    for (size_t i = 0; i < (size_t)MOST_KEYS * WIDTH; i++) {
        f->context[i] = wave(i + 5, 2);
        f->values[i] = wave(i + 11, 1);
    }
    for (size_t i = 0; i < (size_t)EXTRA * WIDTH; i++)
        f->extra[i] = wave(i + 17, 2);
    f->layer = (attn_layer){.name = "layers.0",
                            .d_model = WIDTH,
                            .d_key = WIDTH,
                            .d_value = WIDTH,
                            .d_out = WIDTH,
                            .heads = HEADS,
                            .kv_heads = HEADS,
                            .head_dim = WIDTH / HEADS,
                            .value_dim = WIDTH / HEADS,
                            .scale = 1,
                            .causal = ATTN_CAUSAL_OFF,
                            .wq = f->identity,
                            .wk = f->identity,
                            .wv = f->identity};
    f->sequence = (attn_sequence){.queries = queries, .keys = keys};
    f->request = (attn_request){.layer = &f->layer,
                                .sequences = &f->sequence,
                                .sequence_count = 1,
                                .inputs = f->inputs,
                                .context = f->context,
                                .values = f->values,
                                .d_model = WIDTH,
                                .d_key = WIDTH,
                                .d_value = WIDTH,
                                .want = ATTN_WANT_OUTPUTS};
}

static void set_keys(few *f, size_t begin, size_t end, float value) {
    for (size_t i = begin * WIDTH; i < end * WIDTH; i++)
        f->context[i] = value;
}

static void nothing(few *f) {
    (void)f;
}

static void output_projection(few *f) {
    f->layer.wo = f->identity;
}

static void extra_keys(few *f) {
    f->layer.extra_keys = EXTRA;
    f->layer.extra_k = f->layer.extra_v = f->extra;
}

static void causal(few *f) {
    f->request.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
}

/* Rows whose reach begins and ends in other splits than that of the block; the first ones begin at key 0 or later. */
static void window(few *f) {
    causal(f);
    f->request.window_given = true;
    f->request.window = SPLIT + 3;
}

static void rising_maxima(few *f) {
    for (size_t j = 0; j < f->sequence.keys; j++)
        f->bias[j] = (float)j * 0.05F;
    f->sequence.bias.values = f->bias;
}

static void falling_maxima(few *f) {
    for (size_t j = 0; j < f->sequence.keys; j++)
        f->bias[j] = (float)j * -0.05F;
    f->sequence.bias.values = f->bias;
}

/* All but a few keys in the middle: whole splits are empty. What lies there would overflow. */
static void padded_at_both_ends(few *f) {
    size_t keys = f->sequence.keys, middle = keys / 2;
    for (size_t j = 0; j < keys; j++)
        f->padding[j] = j < middle - 20 || j == middle || j > middle + 20;
    set_keys(f, 0, middle - 20, 3e38F);
    f->sequence.padding = f->padding;
}

static void padded_throughout(few *f) {
    memset(f->padding, 1, sizeof f->padding);
    f->sequence.padding = f->padding;
}

/* The first split, and the last, hold nothing that is seen. */
static void hidden_by_the_bias(few *f) {
    size_t keys = f->sequence.keys, last = (keys - 1) / SPLIT * SPLIT;
    for (size_t j = 0; j < keys; j++)
        f->bias[j] = keys > SPLIT && (j < SPLIT - 1 || j > last) ? -INFINITY : 0;
    f->sequence.bias.values = f->bias;
}

/* Each row and head of its own: all keys, none, those of one split, every third key, one key, … */
static void mask_by_row(few *f) {
    size_t queries = f->sequence.queries, keys = f->sequence.keys;
    for (size_t h = 0; h < HEADS; h++)
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
static void large_values(few *f) {
    for (size_t i = 0; i < (size_t)MOST_KEYS * WIDTH; i++)
        f->values[i] = 1e38F * (1 + 0.01F * (float)(i % 7));
    memset(f->inputs, 0, sizeof f->inputs);
}

/* 2.6e38 in each split, more than float32 holds where they meet. */
static void sums_beyond_float32_in_the_merge(few *f) {
    for (size_t i = 0; i < (size_t)MOST_KEYS * WIDTH; i++)
        f->values[i] = 5e35F;
    memset(f->inputs, 0, sizeof f->inputs);
}

/* The first keys' values overflow in the projection; the last key makes their weights 0. */
static void values_beyond_float32_under_weights_of_zero(few *f) {
    for (size_t j = 0; j < f->sequence.keys; j++)
        f->bias[j] = j + 1 < f->sequence.keys ? 0 : 200;
    f->sequence.bias.values = f->bias;
    f->identity[0] = 1.5F;
    memset(f->inputs, 0, sizeof f->inputs);
    f->values[0] = 3e38F;
}

/* A masked key's score is not a number; it takes no part. */
static void masked_scores_beyond_float32(few *f) {
    for (size_t c = 0; c < WIDTH; c++)
        f->context[5 * WIDTH + c] = c % 2 == 0 ? 3e38F : -3e38F;
    f->bias[5] = -INFINITY;
    f->sequence.bias.values = f->bias;
    for (size_t i = 0; i < (size_t)FEW * WIDTH; i++)
        f->inputs[i] = 4;
}

static void negative_inputs(few *f) {
    for (size_t i = 0; i < (size_t)FEW * WIDTH; i++)
        f->inputs[i] = -4;
}

/* Every score of the first keys falls below float32's range: weights of 0, as they are. */
static void first_scores_below_float32(few *f) {
    negative_inputs(f);
    set_keys(f, 0, SPLIT - 1 < f->sequence.keys - 1 ? SPLIT : SPLIT - 2, 3e38F);
}

static void every_score_below_float32(few *f) {
    negative_inputs(f);
    set_keys(f, 0, MOST_KEYS, 3e38F);
}

static void last_score_above_float32(few *f) {
    negative_inputs(f);
    set_keys(f, f->sequence.keys - 1, f->sequence.keys, -3e38F);
}

static void first_score_not_a_number(few *f) {
    masked_scores_beyond_float32(f);
    f->sequence.bias.values = NULL;
}

/* Nothing else of its split is seen by anybody, so that no maximum tells of it. */
static void only_score_of_a_split_not_a_number(few *f) {
    masked_scores_beyond_float32(f);
    for (size_t j = 0; j < SPLIT; j++)
        f->bias[j] = j == 5 ? 0 : -INFINITY;
}

static const struct {
    const char *name;
    void (*change)(few *f);
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

static void check_row(const few *f, int row, attn_pool *const pools[POOLS]) {
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
    few *f = malloc(sizeof *f);
    attn_pool *pools[POOLS];
    for (size_t i = 0; i < POOLS; i++)
        ck_assert_int_eq(attn_pool_new(i + 1, &pools[i], NULL), ATTN_OK);
    for (size_t queries = 1; queries <= FEW; queries++)
        for (size_t k = 0; k < KEY_COUNTS; k++) {
            few_init(f, queries, key_counts[k]);
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
    few *f = malloc(sizeof *f);
    few_init(f, 1, 1);
    float *inputs = malloc(queries * WIDTH * sizeof *inputs),
          *context = malloc(keys * WIDTH * sizeof *context);
    for (size_t i = 0; i < queries * WIDTH; i++)
        inputs[i] = wave(i, 2);
    for (size_t i = 0; i < keys * WIDTH; i++)
        context[i] = wave(i + 3, 1);
    f->request.sequences = sequences;
    f->request.sequence_count = COUNT;
    f->request.inputs = inputs;
    f->request.context = f->request.values = context;
    attn_pool *pool = NULL;
    attn_code code;
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    attn_run *run = run_on(&f->request, pool, &code);
    ck_assert_int_eq(code, ATTN_OK);
    ck_assert_uint_eq(attn_run_plan(run)->attention_tiles, HEADS * (1 + 3 + 1 + 2 + 3));
    for (size_t n = 0; n < COUNT; n++)
        check_values(run, n, "outputs");
    attn_run_free(run);
    attn_pool_free(pool);
    free(inputs);
    free(context);
    free(f);
}
END_TEST

static attn_plan plan_of(const few *f, size_t workers) {
    attn_plan plan;
    attn_error error = {0};
    ck_assert_msg(attn_plan_make(&f->request, workers, &plan, &error) == ATTN_OK, "%s", error.text);
    return plan;
}

START_TEST(a_plan_splits_by_shape_alone) {
    few *f = malloc(sizeof *f);
    for (size_t workers = 1; workers <= 16; workers *= 4)
        for (size_t queries = 1; queries <= FEW + 1; queries++)
            for (size_t k = 0; k < KEY_COUNTS; k++) {
                few_init(f, queries, key_counts[k]);
                attn_plan plan = plan_of(f, workers);
                size_t splits = queries <= FEW ? (key_counts[k] + SPLIT - 1) / SPLIT : 1;
                ck_assert_uint_eq(plan.attention_tiles, HEADS * splits);
                ck_assert_uint_eq(plan.merge_tiles, splits > 1 ? HEADS : 0);
            }
    few_init(f, 2, MOST_KEYS);
    f->request.want |= ATTN_WANT_MAPS; /* whole rows are wanted */
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, HEADS);
    ck_assert_uint_eq(plan_of(f, 1).merge_tiles, 0);
    few_init(f, 2, MOST_KEYS);
    f->request.want = ATTN_WANT_PROJECTIONS; /* nothing attends */
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, 0);
    ck_assert_uint_eq(plan_of(f, 1).merge_tiles, 0);
    ck_assert_uint_eq(plan_of(f, 1).split_floats, 0);
    few_init(f, 2, MOST_KEYS);
    window(f);
    f->request.window = SPLIT - 1; /* two rows reach SPLIT keys together */
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, HEADS);
    f->request.window = SPLIT;
    ck_assert_uint_eq(plan_of(f, 1).attention_tiles, 2 * HEADS);
    free(f);
}
END_TEST

/* Those and dv floats for each row, in whole cache lines. */
START_TEST(a_plan_counts_what_splits_leave) {
    few *f = malloc(sizeof *f);
    few_init(f, 5, MOST_KEYS);
    attn_plan plan = plan_of(f, 1);
    size_t row = SPLIT_ROW_BYTES + WIDTH / HEADS * sizeof(float);
    size_t least = HEADS * 4 * 5 * row, bytes = plan.split_floats * sizeof(float);
    ck_assert_uint_ge(bytes, least);
    ck_assert_uint_le(bytes, 2 * least);
    ck_assert_uint_ge(plan.bytes, bytes);
    /* One split fewer, and a split's keys less, make the run smaller by what they leave and take. */
    few_init(f, 5, MOST_KEYS - SPLIT);
    attn_plan shorter = plan_of(f, 1);
    ck_assert_uint_eq(plan.split_floats - shorter.split_floats, plan.split_floats / 4);
    ck_assert_uint_eq(plan.bytes - shorter.bytes,
                      plan.split_floats / 4 * sizeof(float) + 2 * SPLIT * WIDTH * sizeof(float));
    free(f);
}
END_TEST

/* 2²⁰ heads of 2¹⁰ values over 2³¹ keys: sixteen sequences leave 2⁶¹ bytes, sixty-four more than can be addressed.
 * Nothing else of the request comes near. */
START_TEST(splits_that_overflow_are_refused) {
    enum { SEQUENCES = 64, VALUES = 1024 };
    few *f = malloc(sizeof *f);
    few_init(f, 1, 1);
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

/* One worker takes turns: a split of the run, the first of this job, and after the run has been let go the second. */
typedef struct bystander {
    attn_run *run;
    size_t freed;   /* kept bytes that the second tile finds */
    attn_code code; /* of the run's end; ATTN_OK: none yet */
} bystander;

static void wait_at_gate(void *context, size_t tile, size_t worker) {
    (void)tile, (void)worker;
    pthread_mutex_lock(context);
    pthread_mutex_unlock(context);
}

static void cancel_then_look(void *context, size_t tile, size_t worker) {
    (void)worker;
    bystander *b = context;
    if (tile == 0) attn_run_cancel(b->run);
    if (tile == 1) b->freed = attn_workspaces_kept();
}

static void job_ended(void *context, bool cancelled) {
    (void)context, (void)cancelled;
}

static void free_run(void *context, attn_run *ended, attn_code code) {
    ((bystander *)context)->code = code;
    attn_run_free(ended);
}

START_TEST(a_cancelled_run_ends_within_one_split) {
    few *f = malloc(sizeof *f);
    few_init(f, 4, MOST_KEYS);
    f->layer = (attn_layer){.name = "layers.0", .heads = 1, .kv_heads = 1}; /* no projections come first */
    attn_plan plan = plan_of(f, 1);
    ck_assert_uint_eq(plan.attention_tiles, 4);
    attn_pool *pool = NULL;
    bystander b = {0};
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    attn_workspaces_keep(SIZE_MAX, 0);
    ck_assert_int_eq(attn_run_new(&plan, &b.run, NULL), ATTN_OK);
    ck_assert_int_eq(attn_pool_new(1, &pool, NULL), ATTN_OK);
    attn_job blocker = {.stages = {{wait_at_gate, 1}}, .stage_count = 1, .context = &gate, .done = job_ended};
    attn_job canceller = {
        .stages = {{cancel_then_look, 2}}, .stage_count = 1, .context = &b, .done = job_ended};
    pthread_mutex_lock(&gate);
    attn_pool_submit(pool, &blocker);
    attn_run_submit(b.run, pool, free_run, &b);
    attn_pool_submit(pool, &canceller);
    pthread_mutex_unlock(&gate);
    attn_pool_free(pool);
    ck_assert_int_eq(b.code, ATTN_CANCELLED);
    ck_assert_uint_eq(b.freed, plan.bytes);
    attn_workspaces_keep(0, 0);
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
    tcase_add_test(cases, a_plan_splits_by_shape_alone);
    tcase_add_test(cases, a_plan_counts_what_splits_leave);
    tcase_add_test(cases, splits_that_overflow_are_refused);
    tcase_add_test(cases, a_cancelled_run_ends_within_one_split);
    suite_add_tcase(suite, cases);
    return suite;
}
