/* What is outside the tensors: whoever waits for a long text can give up. */
#include "suites.h"
#include "tests/support/decoding.h"

#include <string.h>

/* The text outside the tensors is no further read. */
START_TEST(a_cancelled_job_reads_no_tree) {
    static const char *const bodies[] = {
        "{\"inputs\":[[1]],\"tokens\":[\"a\"]}",
        "{\"inputs\":[{\"name\":\"inputs\",\"shape\":[1,1,1],\"datatype\":\"FP32\",\"data\":[1]}]}"};
    const srv_codec *codec = (_i / 2 == 0 ? srv_codecs_attention : srv_codecs_inference).rows;
    const srv_addressed addressed = {.model = "plain"};
    attn_job job = {.stage_count = 0};
    const srv_source source = {.job = &job, .addressed = &addressed};
    srv_budget budget;
    srv_problem problem = {0};
    srv_ask *ask = NULL;
    if (_i % 2 == 1) attn_job_cancel(&job);
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(codec, &budget, 0);
    ck_assert(feed_copy(decoder, bodies[_i / 2], strlen(bodies[_i / 2]), &problem));
    ck_assert_int_eq(srv_decoder_end(decoder, &source, &ask, &problem), _i % 2 == 0);
    ck_assert_int_eq(problem.id, SRV_NO_PROBLEM);
    srv_decoder_free(decoder);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
    srv_ask_free(ask);
}
END_TEST

ATTND_SUITE(json_text) {
    Suite *suite = suite_create("json_text");
    TCase *tests = tcase_create("json_text");
    tcase_add_loop_test(tests, a_cancelled_job_reads_no_tree, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
