/* How a run ends where float32 cannot hold a value: as not finite where that value was asked for or decides what was
 * asked for, else as if nothing had happened. */
#include "engine/attention/request.h"

#include "engine/blas/blas.h"
#include "suites.h"

#include <math.h>

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

static attn_code run(const overflow *o, unsigned want) {
    const attn_layer layer = {.name = "layers.0",
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
    const attn_sequence sequence = {.queries = 2, .keys = 2};
    const attn_request request = {.layer = &layer,
                                  .sequences = &sequence,
                                  .sequence_count = 1,
                                  .inputs = o->inputs,
                                  .d_model = 1,
                                  .want = want};
    attn_plan plan;
    attn_run *made = NULL;
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_plan_make(&request, 1, &plan, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_new(&plan, &made, NULL), ATTN_OK);
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

ATTND_SUITE(run) {
    Suite *suite = suite_create("run");
    TCase *cases = tcase_create("beyond float32");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_loop_test(cases, a_value_beyond_float32_is_told_where_it_matters, 0,
                        (int)(sizeof overflows / sizeof *overflows));
    suite_add_tcase(suite, cases);
    return suite;
}
