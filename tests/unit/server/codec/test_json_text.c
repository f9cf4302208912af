/* What is outside the tensors: whoever waits for a long text can give up, and another format is told by its first byte. */
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

START_TEST(an_npy_array_is_told_how_it_is_sent) {
    static const char body[] = "\x93NUMPY\x01";
    attn_job job = {.stage_count = 0};
    const srv_source source = {.job = &job};
    srv_budget budget;
    srv_problem problem = {0};
    srv_ask *ask = NULL;
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &budget, 0);
    ck_assert(!feed_copy(decoder, body, sizeof body - 1, &problem) ||
              !srv_decoder_end(decoder, &source, &ask, &problem));
    ck_assert_int_eq(problem.id, SRV_BAD_JSON);
    ck_assert_ptr_nonnull(strstr(problem.detail, "Content-Type: application/x-npy"));
    srv_decoder_free(decoder);
}
END_TEST

ATTND_SUITE(json_text) {
    Suite *suite = suite_create("json_text");
    TCase *tests = tcase_create("json_text");
    tcase_add_loop_test(tests, a_cancelled_job_reads_no_tree, 0, 4);
    tcase_add_test(tests, an_npy_array_is_told_how_it_is_sent);
    suite_add_tcase(suite, tests);
    return suite;
}
