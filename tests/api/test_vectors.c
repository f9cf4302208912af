/* The setting engine.vectors: a daemon of each width says so and answers the same to 1e-5; what the processor lacks is
 * refused before anything is opened. */
#include "engine/tensor/vectors.h"
#include "tests/support/daemon.h"
#include "tests/support/http.h"
#include "tests/support/json_check.h"
#include "tests/support/suites.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[ATTN_VECTORS_COUNT] = {"plain", "avx2", "avx512"};
static const char body[] =
    "{\"model\":\"plain\",\"inputs\":[[1,0,2],[0,1,0.5],[3,-1,0],[0.25,2,1],[1,1,1],[2,0,-3]]}";

/* The answer of a daemon of that width. */
static json_t *answer_of(int width) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--vectors", words[width], NULL}, NULL);
    http_answer version = http_get(daemon.url, "/version"),
                answer = http_post(daemon.url, "/v1/attention", body);
    json_t *facts = http_json(&version), *document = http_json(&answer);
    ck_assert_str_eq(json_string_value(json_at(facts, "/vectors")), attn_vectors_name((attn_vectors)width));
    ck_assert_int_eq(answer.status, 200);
    json_decref(facts);
    http_done(&version);
    http_done(&answer);
    daemon_stop(&daemon);
    return document;
}

START_TEST(widths_agree) {
    json_t *plain = answer_of(ATTN_VECTORS_PLAIN);
    for (int width = 1; width <= (int)attn_vectors_best(); width++) {
        json_t *other = answer_of(width);
        ck_assert_double_le(json_difference(json_at(other, "/outputs"), json_at(plain, "/outputs")), 1e-5);
        ck_assert_double_le(json_difference(json_at(other, "/attention"), json_at(plain, "/attention")),
                            1e-5);
        json_decref(other);
    }
    json_decref(plain);
}
END_TEST

START_TEST(another_word_is_refused) {
    process_result result = daemon_refused((const char *const[]){"--vectors", "sse", NULL}, NULL);
    ck_assert_int_eq(result.code, 2);
    ck_assert_str_eq(result.errors,
                     "attnd serve: flag --vectors: 'sse' is not one of auto, plain, avx2, avx512\n");
    process_result_done(&result);
}
END_TEST

/* On a processor with all widths there is nothing that can be refused so. */
START_TEST(a_width_that_the_processor_lacks_is_refused) {
    for (int width = (int)attn_vectors_best() + 1; width < ATTN_VECTORS_COUNT; width++) {
        process_result result = daemon_refused((const char *const[]){"--vectors", words[width], NULL}, NULL);
        ck_assert_int_eq(result.code, 2);
        ck_assert_ptr_nonnull(
            strstr(result.errors, "attnd serve: setting engine.vectors: this processor has no "));
        ck_assert_ptr_eq(strchr(result.errors, '\n') + 1, strchr(result.errors, '\0'));
        process_result_done(&result);
    }
}
END_TEST

ATTND_SUITE(vectors) {
    Suite *suite = suite_create("vectors");
    TCase *tests = tcase_create("vectors");
    tcase_add_test(tests, widths_agree);
    tcase_add_test(tests, another_word_is_refused);
    tcase_add_test(tests, a_width_that_the_processor_lacks_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
