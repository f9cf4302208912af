/* Unpacking a body: whoever waits for a large one can give up. */
#include "server/codec/inflater.h"
#include "suites.h"
#include "tests/support/packed.h"

#include <stdlib.h>
#include <string.h>

START_TEST(a_cancelled_job_unpacks_no_further) {
    enum { SIZE = 1 << 20 };
    attn_job job = {.stage_count = 0};
    const srv_source source = {.job = &job};
    srv_problem problem = {0};
    srv_ask *ask = NULL;
    srv_budget budget;
    size_t size;
    char *body = malloc(SIZE);
    memset(body, ' ', SIZE);
    memcpy(body, "{\"inputs\":[[1]]}", 16);
    char *bytes = packed("gzip", body, SIZE, &size);
    if (_i == 1) attn_job_cancel(&job);
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_inflater_new(SRV_CODING_GZIP, SIZE, srv_codecs_attention.rows, &budget, 0);
    ck_assert(srv_decoder_feed(decoder, bytes, size, &problem));
    ck_assert_int_eq(srv_decoder_end(decoder, &source, &ask, &problem), _i == 0);
    ck_assert_int_eq(problem.id, SRV_NO_PROBLEM);
    ck_assert_int_eq(ask != NULL, _i == 0);
    srv_decoder_free(decoder);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
    srv_ask_free(ask);
    free(bytes);
    free(body);
}
END_TEST

ATTND_SUITE(inflater) {
    Suite *suite = suite_create("inflater");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, a_cancelled_job_unpacks_no_further, 0, 2);
    suite_add_tcase(suite, cases);
    return suite;
}
