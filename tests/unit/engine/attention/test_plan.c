/* What a plan refuses, with the field that it names, and that the bytes it promises are the bytes that a run
 * takes. */
#include "engine/attention/run.h"
#include "random_request.h"

#include "suites.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sound request to a layer of width 4 with 2 heads: L = S = 3, everything wanted. Tests break one thing
 * each. */
typedef struct sound {
    attn_layer layer;
    attn_sequence sequences[2];
    attn_request request;
} sound;

static const float weights[16], inputs[64];

static void sound_init(sound *s) {
    *s = (sound){
        .layer = {.name = "layers.0",
                  .d_model = 4,
                  .d_key = 4,
                  .d_value = 4,
                  .d_out = 4,
                  .heads = 2,
                  .kv_heads = 2,
                  .head_dim = 2,
                  .value_dim = 2,
                  .scale = 0.5F,
                  .causal = ATTN_CAUSAL_OFF,
                  .wq = weights,
                  .wk = weights,
                  .wv = weights,
                  .wo = weights},
        .sequences = {{.queries = 3, .keys = 3}, {.queries = 2, .keys = 2}},
    };
    s->request = (attn_request){.layer = &s->layer,
                                .sequences = s->sequences,
                                .sequence_count = 2,
                                .inputs = inputs,
                                .d_model = 4,
                                .d_key = 4,
                                .d_value = 4,
                                .want = ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS};
}

static void wrong_width(sound *s) {
    s->request.d_model = 3;
}

static void wrong_context_width(sound *s) {
    s->request.context = inputs;
    s->request.d_key = 5;
}

static void wrong_values_width(sound *s) {
    s->request.context = s->request.values = inputs;
    s->request.d_value = 6;
}

static void other_keys_without_context(sound *s) {
    s->sequences[1].keys = 3;
}

static void no_sequences(sound *s) {
    s->request.sequence_count = 0;
}

static void no_queries(sound *s) {
    s->sequences[1].queries = s->sequences[1].keys = 0;
}

static void no_keys(sound *s) {
    s->request.context = inputs;
    s->sequences[0].keys = 0;
}

static void choose_heads(sound *s, const size_t *heads, size_t count) {
    s->request.heads = heads;
    s->request.head_count = count;
}

static void head_beyond(sound *s) {
    static const size_t heads[] = {1, 2};
    choose_heads(s, heads, 2);
}

static void head_twice(sound *s) {
    static const size_t heads[] = {1, 1};
    choose_heads(s, heads, 2);
}

static void no_heads(sound *s) {
    static const size_t heads[] = {0};
    choose_heads(s, heads, 0);
}

static void query_beyond_the_shortest(sound *s) {
    static const size_t queries[] = {2};
    s->request.queries = queries;
    s->request.query_count = 1;
}

static void scale_not_finite(sound *s) {
    s->request.scale_given = true;
    s->request.scale = NAN;
}

static void causal_rectangle(sound *s) {
    s->request.context = inputs;
    s->request.causal = ATTN_CAUSAL_SQUARE;
    s->sequences[1].keys = 4;
}

static void causal_layer_rectangle(sound *s) {
    s->request.context = inputs;
    s->layer.causal = ATTN_CAUSAL_SQUARE;
    s->sequences[0].keys = 4;
}

static void window_rectangle(sound *s) {
    s->request.context = inputs;
    s->request.window_given = true;
    s->request.window = 2;
    s->sequences[0].keys = 4;
}

static void cross_without_context(sound *s) {
    s->layer.is_cross = true;
}

static void values_without_context(sound *s) {
    s->request.values = inputs;
}

static void mean_of_scores(sound *s) {
    s->request.average_heads = true;
    s->request.want |= ATTN_WANT_SCORES;
}

static void largest_without_maps(sound *s) {
    s->request.top_k = 1;
    s->request.want = ATTN_WANT_SCORES;
}

static void nothing_wanted(sound *s) {
    s->request.want = 0;
}

static void maps_that_overflow(sound *s) {
    s->request.context = inputs;
    s->sequences[0].queries = (size_t)1 << 31;
    s->sequences[0].keys = (size_t)1 << 30;
    s->layer.heads = s->layer.kv_heads = 32;
}

static void beyond_one_blas_call(sound *s) {
    s->request.context = inputs;
    s->sequences[0].keys = (size_t)1 << 33;
}

/* Must be refused before anything walks over its rows. */
static void more_queries_than_one_blas_call(sound *s) {
    s->request.context = inputs;
    s->sequences[0].queries = (size_t)1 << 60;
}

static const struct {
    void (*break_it)(sound *s);
    attn_code code;
    const char *where;
} refusals[] = {
    {wrong_width, ATTN_SHAPE, "/inputs"},
    {wrong_context_width, ATTN_SHAPE, "/context"},
    {wrong_values_width, ATTN_SHAPE, "/values"},
    {other_keys_without_context, ATTN_SHAPE, "/context"},
    {no_sequences, ATTN_RANGE, "/inputs"},
    {no_queries, ATTN_RANGE, "/inputs"},
    {no_keys, ATTN_RANGE, "/context"},
    {head_beyond, ATTN_RANGE, "/return/heads/1"},
    {head_twice, ATTN_RANGE, "/return/heads/1"},
    {no_heads, ATTN_RANGE, "/return/heads"},
    {query_beyond_the_shortest, ATTN_RANGE, "/return/queries/0"},
    {scale_not_finite, ATTN_RANGE, "/scale"},
    {nothing_wanted, ATTN_RANGE, "/return"},
    {causal_rectangle, ATTN_AMBIGUOUS_CAUSAL, "/causal"},
    {causal_layer_rectangle, ATTN_AMBIGUOUS_CAUSAL, "/causal"},
    {window_rectangle, ATTN_AMBIGUOUS_CAUSAL, "/causal"},
    {cross_without_context, ATTN_CONFLICT, "/context"},
    {values_without_context, ATTN_CONFLICT, "/values"},
    {mean_of_scores, ATTN_CONFLICT, "/return/average_heads"},
    {largest_without_maps, ATTN_CONFLICT, "/return/top_k"},
    {maps_that_overflow, ATTN_TOO_LARGE, "/inputs"},
    {beyond_one_blas_call, ATTN_TOO_LARGE, "/inputs"},
    {more_queries_than_one_blas_call, ATTN_TOO_LARGE, "/inputs"},
};

START_TEST(a_sound_request_is_planned) {
    sound s;
    sound_init(&s);
    attn_error error = {0};
    attn_plan plan;
    ck_assert_msg(attn_plan_make(&s.request, 1, &plan, &error) == ATTN_OK, "%s", error.text);
    ck_assert_uint_eq(plan.total_queries, 5);
    ck_assert_uint_eq(plan.total_keys, 5);
    ck_assert_uint_eq(plan.map_floats, 2 * (3 * 3 + 2 * 2));
    ck_assert_uint_eq(plan.result_floats, 2 * (3 * 3 + 2 * 2) + 5 * 4);
    /* Four projections of 5 rows 4×4, then 2·(dk + dv) for every score. */
    ck_assert(plan.flops == 4 * 2 * 5 * 16 + 2 * (9 + 4) * 2 * (2 + 2));
}
END_TEST

START_TEST(the_layer_rules_where_the_request_is_silent) {
    sound s;
    sound_init(&s);
    s.layer.causal = ATTN_CAUSAL_SQUARE;
    s.layer.window = 2;
    attn_plan plan;
    ck_assert_int_eq(attn_plan_make(&s.request, 1, &plan, NULL), ATTN_OK);
    ck_assert_int_eq(plan.request.causal, ATTN_CAUSAL_TOP_LEFT);
    ck_assert_uint_eq(plan.request.window, 2);
    ck_assert(plan.request.scale == 0.5F);

    s.request.causal = ATTN_CAUSAL_OFF;
    s.request.window_given = s.request.scale_given = true;
    s.request.scale = 0; /* a factor like any other */
    ck_assert_int_eq(attn_plan_make(&s.request, 1, &plan, NULL), ATTN_OK);
    ck_assert_int_eq(plan.request.causal, ATTN_CAUSAL_OFF);
    ck_assert_uint_eq(plan.request.window, 0);
    ck_assert(plan.request.scale == 0);

    s.layer.scale = 0; /* as in the parameter-free layer */
    s.request.scale_given = false;
    ck_assert_int_eq(attn_plan_make(&s.request, 1, &plan, NULL), ATTN_OK);
    ck_assert(plan.request.scale == (float)(1 / sqrt(2)));
}
END_TEST

START_TEST(a_broken_request_is_refused_by_field) {
    sound s;
    sound_init(&s);
    refusals[_i].break_it(&s);
    attn_error error = {0};
    attn_plan plan, untouched;
    memset(&plan, 0x5a, sizeof plan);
    memset(&untouched, 0x5a, sizeof untouched);
    attn_code code = attn_plan_make(&s.request, 1, &plan, &error);
    ck_assert_msg(code == refusals[_i].code && error.code == code, "row %d: %s, want %s", _i,
                  attn_code_name(code), attn_code_name(refusals[_i].code));
    ck_assert_str_eq(error.where, refusals[_i].where);
    ck_assert_uint_gt(strlen(error.text), 0);
    ck_assert_mem_eq(&plan, &untouched, sizeof plan);
}
END_TEST

/* Bytes of the heap in use, as a sanitizer's allocator counts them exactly; 0 without one. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
static size_t heap_bytes(void) {
    return __sanitizer_get_current_allocated_bytes != NULL ? __sanitizer_get_current_allocated_bytes() : 0;
}

START_TEST(a_run_takes_the_planned_bytes) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
        random_request random;
        random_request_init(&random, seed);
        attn_plan plan;
        ck_assert_int_eq(attn_plan_make(&random.request, 1 + seed % 8, &plan, NULL), ATTN_OK);
        size_t before = heap_bytes();
        attn_run *run = NULL;
        ck_assert_int_eq(attn_run_new(&plan, &run, NULL), ATTN_OK);
        /* A plain allocator tells only how large the two blocks are. */
        size_t blocks = malloc_usable_size(run) + malloc_usable_size(run->scratch.memory);
        size_t taken = before > 0 ? heap_bytes() - before : blocks;
        /* An allocator may round up: to pages, or (thread sanitizer) to an eighth. */
        ck_assert_msg(taken >= plan.bytes && taken <= plan.bytes + plan.bytes / 8 + 8192,
                      "seed %zu: planned %zu, took %zu", (size_t)seed, plan.bytes, taken);
        attn_run_free(run);
        random_request_done(&random);
    }
}
END_TEST

/* What the README says of sizes: self-attention of N sequences of L, width D, H heads, with maps and without. */
START_TEST(sizes_are_the_readme_s) {
    static const struct {
        size_t sequences, length, width, heads, workers;
    } shapes[] = {{1, 16, 384, 12, 2}, {8, 128, 768, 12, 2}, {1, 1024, 768, 12, 4}, {1, 4096, 256, 4, 1}};
    size_t n = shapes[_i / 2].sequences, l = shapes[_i / 2].length, d = shapes[_i / 2].width;
    size_t h = shapes[_i / 2].heads, workers = shapes[_i / 2].workers;
    bool maps = _i % 2 == 1;
    float *numbers = calloc(d * d > n * l * d ? d * d : n * l * d, sizeof *numbers);
    attn_sequence sequences[8];
    for (size_t i = 0; i < n; i++)
        sequences[i] = (attn_sequence){.queries = l, .keys = l};
    attn_layer layer = {.d_model = d,
                        .d_key = d,
                        .d_value = d,
                        .d_out = d,
                        .heads = h,
                        .kv_heads = h,
                        .head_dim = d / h,
                        .value_dim = d / h,
                        .scale = 1,
                        .wq = numbers,
                        .wk = numbers,
                        .wv = numbers,
                        .wo = numbers};
    attn_request request = {.layer = &layer,
                            .sequences = sequences,
                            .sequence_count = n,
                            .inputs = numbers,
                            .d_model = d,
                            .want = ATTN_WANT_OUTPUTS | (maps ? ATTN_WANT_MAPS : 0)};
    attn_plan plan;
    ck_assert_int_eq(attn_plan_make(&request, workers, &plan, NULL), ATTN_OK);
    size_t told = 4 * (6 * n * l * d + (maps ? n * h * l * l : 0));
    size_t held = plan.bytes + 4 * n * l * d; /* the inputs are the caller's */
    ck_assert_uint_ge(held, told);
    ck_assert_uint_le(held, told + (workers * 3 << 20));
    ck_assert_double_eq(plan.flops, (double)(8 * n * l * d * d + 4 * n * l * l * d));
    free(numbers);
}
END_TEST

ATTND_SUITE(plan) {
    Suite *suite = suite_create("plan");
    TCase *cases = tcase_create("plan");
    tcase_add_test(cases, a_sound_request_is_planned);
    tcase_add_test(cases, the_layer_rules_where_the_request_is_silent);
    tcase_add_loop_test(cases, a_broken_request_is_refused_by_field, 0,
                        (int)(sizeof refusals / sizeof *refusals));
    tcase_add_test(cases, a_run_takes_the_planned_bytes);
    tcase_add_loop_test(cases, sizes_are_the_readme_s, 0, 8);
    suite_add_tcase(suite, cases);
    return suite;
}
