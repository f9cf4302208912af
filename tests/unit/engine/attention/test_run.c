/* How a run ends where float32 cannot hold a value: as not finite where that value was asked for or decides what was
 * asked for, else as if nothing had happened. */
#include "engine/attention/request.h"

#include "cancelled_run.h"
#include "engine/blas/blas.h"
#include "engine/weights/model.h"
#include "suites.h"
#include "tests/unit/engine/sched/blocker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTPUTS = ATTN_WANT_OUTPUTS,
    MAPS = ATTN_WANT_MAPS,
    SCORES = ATTN_WANT_SCORES,
    PROJECTIONS = ATTN_WANT_PROJECTIONS
};

/* A layer of width 1 and one head; wo 0: no output projection. `fails`: what cannot be answered. */
typedef struct overflow {
    const char *name;
    float wq, wk, wv, wo;
    float inputs[2];
    unsigned fails;
} overflow;

static const overflow overflows[] = {
    {"nothing", 1, 1, 1, 1, {1, 2}, 0},
    {"output projection", 1, 1, 1, 3e38F, {1, 2}, OUTPUTS},
    {"values", 1, 1, 3e38F, 1, {1, 2}, OUTPUTS | PROJECTIONS},
    {"values without output projection", 1, 1, 3e38F, 0, {1, 2}, OUTPUTS | PROJECTIONS},
    {"queries", 3e38F, 1, 1, 1, {1, 2}, OUTPUTS | MAPS | SCORES | PROJECTIONS},
    {"scores", 1e30F, 1e30F, 1, 1, {1, 2}, OUTPUTS | MAPS | SCORES},
    {"every score, below", -1e30F, 1e30F, 1, 1, {1, 2}, OUTPUTS | MAPS | SCORES},
    {"one score of two, below: its weight is 0", -1e30F, 1e30F, 1, 1, {1, 0}, SCORES},
};

static attn_layer layer_of(const overflow *o) {
    return (attn_layer){.name = "layers.0",
                        .d_model = 1,
                        .d_key = 1,
                        .d_value = 1,
                        .d_out = 1,
                        .heads = 1,
                        .kv_heads = 1,
                        .head_dim = 1,
                        .value_dim = 1,
                        .scale = 1,
                        .wq = &o->wq,
                        .wk = &o->wk,
                        .wv = &o->wv,
                        .wo = o->wo != 0 ? &o->wo : NULL};
}

/* A planned run of two positions; what it points to must stay. */
static attn_run *run_new(const attn_layer *layer, const float *inputs, unsigned want) {
    static const attn_sequence sequence = {.queries = 2, .keys = 2};
    const attn_request request = {.layer = layer,
                                  .sequences = &sequence,
                                  .sequence_count = 1,
                                  .inputs = inputs,
                                  .d_model = 1,
                                  .want = want};
    attn_plan plan;
    attn_run *made = NULL;
    ck_assert_int_eq(attn_plan_make(&request, 1, &plan, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_new(&plan, &made, NULL), ATTN_OK);
    return made;
}

static attn_code run(const overflow *o, unsigned want) {
    const attn_layer layer = layer_of(o);
    attn_run *made = run_new(&layer, o->inputs, want);
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_pool_new(1, &pool, NULL), ATTN_OK);
    attn_code code = attn_run_wait(made, pool);
    attn_pool_free(pool);
    attn_run_free(made);
    return code;
}

START_TEST(a_value_beyond_float32_is_told_where_it_matters) {
    const overflow *o = &overflows[_i];
    static const unsigned wants[] = {OUTPUTS, MAPS, SCORES, PROJECTIONS,
                                     OUTPUTS | MAPS | SCORES | PROJECTIONS};
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        attn_code code = run(o, wants[i]), expected = (wants[i] & o->fails) != 0 ? ATTN_NOT_FINITE : ATTN_OK;
        ck_assert_msg(code == expected, "%s, wanting %u: %s", o->name, wants[i], attn_code_name(code));
    }
}
END_TEST

static void keep_code(void *context, attn_run *ended, attn_code code) {
    (void)ended;
    *(attn_code *)context = code;
}

/* Two requests that share their tiles: half the number fits where the whole one does not. */
START_TEST(company_that_overflows_spoils_nobody_else) {
    static const overflow layers[] = {{"values", 1, 1, 3e38F, 1, {1, 2}, 0},
                                      {"output projection", 1, 1, 1, 3e38F, {1, 2}, 0}};
    static const float fits[2] = {0.5F, 0.5F};
    const attn_layer layer = layer_of(&layers[_i / 2]);
    size_t spoilt = (size_t)_i % 2;
    attn_code codes[2] = {ATTN_CANCELLED, ATTN_CANCELLED};
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_pool_new(1, &pool, NULL), ATTN_OK);
    attn_job blocker = blocker_of(&gate);
    pthread_mutex_lock(&gate);
    attn_pool_submit(pool, &blocker);
    attn_run *runs[2];
    for (size_t i = 0; i < 2; i++) {
        runs[i] = run_new(&layer, i == spoilt ? layers[_i / 2].inputs : fits, _i < 2 ? PROJECTIONS : OUTPUTS);
        attn_run_submit(runs[i], pool, keep_code, &codes[i]);
    }
    pthread_mutex_unlock(&gate);
    attn_pool_free(pool);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(codes[i], i == spoilt ? ATTN_NOT_FINITE : ATTN_OK);
        attn_run_free(runs[i]);
    }
}
END_TEST

/* Numbers of all tensors of a result, one behind the other. */
static size_t gather(const attn_run *made, float *out) {
    static const struct {
        unsigned want;
        attn_result what;
    } results[] = {{OUTPUTS, ATTN_OUTPUTS}, {MAPS, ATTN_MAPS},     {SCORES, ATTN_SCORES},
                   {PROJECTIONS, ATTN_Q},   {PROJECTIONS, ATTN_K}, {PROJECTIONS, ATTN_V}};
    const attn_request *request = &attn_run_plan(made)->request;
    size_t used = 0;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (!(request->want & results[i].want)) continue;
        attn_view view = attn_run_view(made, results[i].what, 0);
        size_t outer = view.rank == 3 ? view.shape[0] : 1, rows = view.shape[view.rank - 2];
        for (size_t h = 0; h < outer; h++)
            for (size_t row = 0; row < rows; row++)
                for (size_t j = 0; j < view.shape[view.rank - 1]; j++)
                    out[used++] = view.data[(view.rank == 3 ? h * view.stride[0] : 0) +
                                            row * view.stride[view.rank - 2] + j];
    }
    return used;
}

static const unsigned wants[] = {OUTPUTS, OUTPUTS | MAPS, MAPS | SCORES, OUTPUTS | PROJECTIONS};

/* What is given back is no tensor of the result, and all that is none but for a page. */
START_TEST(results_stay_when_the_rest_goes) {
    enum { LENGTH = 1200, WIDTH = 128 };
    static const size_t one_head = 1;
    const attn_seed_spec spec = {.d_model = WIDTH, .heads = 4, .layers = 1, .seed = 3};
    attn_model *model = NULL;
    attn_pool *pool = NULL;
    attn_run *made = NULL;
    attn_plan plan;
    float *inputs = malloc(LENGTH * WIDTH * sizeof *inputs);
    for (size_t i = 0; i < (size_t)LENGTH * WIDTH; i++)
        inputs[i] = (float)(i * 7919 % 1009) / 1009 - 0.5F;
    ck_assert_int_eq(attn_model_seeded("m", &spec, &model, NULL), ATTN_OK);
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    const attn_sequence sequence = {.queries = LENGTH, .keys = LENGTH};
    const attn_request request = {.layer = model->layers,
                                  .sequences = &sequence,
                                  .sequence_count = 1,
                                  .inputs = inputs,
                                  .d_model = WIDTH,
                                  .heads = &one_head,
                                  .head_count = 1,
                                  .want = wants[_i]};
    ck_assert_int_eq(attn_plan_make(&request, 2, &plan, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_new(&plan, &made, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_wait(made, pool), ATTN_OK);
    float *before = malloc(plan.result_floats * sizeof *before),
          *after = malloc(plan.result_floats * sizeof *after);
    ck_assert_uint_eq(gather(made, before), plan.result_floats);
    size_t left = attn_run_keep_tensors(made), result = plan.result_floats * sizeof(float);
    ck_assert_uint_eq(gather(made, after), plan.result_floats);
    ck_assert_int_eq(memcmp(before, after, result), 0);
    ck_assert_uint_ge(left, result);
    ck_assert_uint_lt(left, result + 65536);
    free(before);
    free(after);
    free(inputs);
    attn_run_free(made);
    attn_pool_free(pool);
    attn_model_free(model);
}
END_TEST

START_TEST(a_cancelled_run_frees_its_memory_within_one_tile) {
    enum { LENGTH = 600, WIDTH = 8 };
    static float inputs[LENGTH * WIDTH];
    attn_model *model = NULL;
    const attn_seed_spec spec = {.d_model = WIDTH, .heads = 2, .layers = 1, .seed = 1};
    ck_assert_int_eq(attn_model_seeded("seeded", &spec, &model, NULL), ATTN_OK);
    const attn_sequence sequence = {.queries = LENGTH, .keys = LENGTH};
    const attn_request request = {.layer = model->layers,
                                  .sequences = &sequence,
                                  .sequence_count = 1,
                                  .inputs = inputs,
                                  .d_model = WIDTH,
                                  .want = OUTPUTS | MAPS};
    attn_plan plan;
    ck_assert_int_eq(attn_plan_make(&request, 1, &plan, NULL), ATTN_OK);
    ck_assert_uint_gt(plan.projection_tiles, 2);
    cancelled_run_check(&plan);
    attn_model_free(model);
}
END_TEST

ATTND_SUITE(run) {
    Suite *suite = suite_create("run");
    TCase *cases = tcase_create("beyond float32");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_loop_test(cases, a_value_beyond_float32_is_told_where_it_matters, 0,
                        (int)(sizeof overflows / sizeof *overflows));
    tcase_add_loop_test(cases, results_stay_when_the_rest_goes, 0, sizeof wants / sizeof *wants);
    tcase_add_test(cases, a_cancelled_run_frees_its_memory_within_one_tile);
    tcase_add_loop_test(cases, company_that_overflows_spoils_nobody_else, 0, 4);
    suite_add_tcase(suite, cases);
    return suite;
}
