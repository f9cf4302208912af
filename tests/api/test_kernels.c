/* The setting engine.kernels: plain loops in double precision give the same answers to 1e-5, and where float32 sums lose
 * what counts, they do not. */
#include "tests/support/daemon.h"
#include "tests/support/http.h"
#include "tests/support/json_check.h"
#include "tests/support/suites.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Few rows and many, with and without maps; masks; a layer with weights and one without. */
static const char *const texts[] = {
    "{\"model\":\"tiny\",\"inputs\":[[1,0,0,0],[0,1,0,0],[0.5,-1,2,0.25]],\"causal\":true}",
    "{\"model\":\"tiny\",\"inputs\":[[1,0,0,0],[0,1,0,0]],\"return\":{\"attention\":false,\"projections\":"
    "true}}",
    "{\"model\":\"plain\",\"inputs\":[[1,0,2],[0,1,0.5],[3,-1,0],[0.25,2,1],[1,1,1],[2,0,-3]],"
    "\"attention_mask\":[1,1,0,1,1,1],\"return\":{\"scores\":true}}",
    NULL, /* long_text */
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* 150 positions through 'demo', which take every kind of product. malloc'ed. */
static char *long_text(void) {
    enum { ROWS = 150, WIDTH = 512 };
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    fputs("{\"model\":\"demo\",\"return\":{\"heads\":[0,5]},\"inputs\":[", file);
    for (int i = 0; i < ROWS * WIDTH; i++)
        fprintf(file, "%s%d%s",
                i % WIDTH > 0 ? ","
                : i > 0       ? ",["
                              : "[",
                i * 7 % 11 - 5, i % WIDTH == WIDTH - 1 ? "]" : "");
    fputs("]}", file);
    fclose(file);
    return text;
}

static void answers_of(const char *kernels, json_t *answers[TEXTS]) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--kernels", kernels, "--workers", "2", NULL}, NULL);
    http_answer version = http_get(daemon.url, "/version");
    json_t *facts = http_json(&version);
    ck_assert_str_eq(json_string_value(json_at(facts, "/kernels")), kernels);
    json_decref(facts);
    http_done(&version);
    for (size_t i = 0; i < TEXTS; i++) {
        char *made = texts[i] ? strdup(texts[i]) : long_text();
        http_answer answer = http_post(daemon.url, "/v1/attention", made);
        ck_assert_msg(answer.status == 200, "%s", answer.body);
        answers[i] = http_json(&answer);
        http_done(&answer);
        free(made);
    }
    daemon_stop(&daemon);
}

START_TEST(the_reference_answers_the_same) {
    static const char *const tensors[][2] = {{"outputs", "/outputs"},
                                             {"attention", "/attention"},
                                             {"scores", "/scores"},
                                             {"projections", "/projections/q"},
                                             {"projections", "/projections/v"}};
    json_t *fast[TEXTS], *plain[TEXTS];
    answers_of("auto", fast);
    answers_of("reference", plain);
    for (size_t i = 0; i < TEXTS; i++) {
        size_t compared = 0;
        for (size_t t = 0; t < sizeof tensors / sizeof *tensors; t++) {
            bool given = json_object_get(fast[i], tensors[t][0]) != NULL;
            ck_assert(given == (json_object_get(plain[i], tensors[t][0]) != NULL));
            if (!given) continue;
            ck_assert_double_le(
                json_difference(json_at(fast[i], tensors[t][1]), json_at(plain[i], tensors[t][1])), 1e-5);
            compared++;
        }
        ck_assert_uint_ge(compared, 2);
        json_decref(fast[i]);
        json_decref(plain[i]);
    }
}
END_TEST

#define ROW "[10000,1,10000]"
#define THREE(text) text "," text "," text

/* 1e8 + 1 − 1e8: in float32 the 1 is lost or not by the order of the sum. Three queries and nine of them take products of
 * different kinds. */
START_TEST(the_reference_sums_in_double) {
    static const char *const asked[][2] = {{THREE(ROW), "[[" THREE("[1]") "]]"},
                                           {THREE(THREE(ROW)), "[[" THREE(THREE("[1]")) "]]"}};
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--kernels", "reference", NULL}, NULL);
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"model\":\"plain\",\"scale\":1,\"inputs\":[%s],\"context\":[[10000,1,-10000]],"
                 "\"return\":{\"scores\":true}}",
                 asked[i][0]);
        http_answer answer = http_post(daemon.url, "/v1/attention", text);
        ck_assert_msg(answer.status == 200, "%s", answer.body);
        json_t *document = http_json(&answer);
        json_check_exact(document, "/scores", asked[i][1]);
        json_decref(document);
        http_done(&answer);
    }
    daemon_stop(&daemon);
}
END_TEST

START_TEST(another_word_is_refused) {
    process_result result = daemon_refused((const char *const[]){"--kernels", "slow", NULL}, NULL);
    ck_assert_int_eq(result.code, 2);
    ck_assert_str_eq(result.errors, "attnd serve: flag --kernels: 'slow' is not one of auto, reference\n");
    process_result_done(&result);
}
END_TEST

ATTND_SUITE(kernels) {
    Suite *suite = suite_create("kernels");
    TCase *tests = tcase_create("kernels");
    tcase_add_test(tests, the_reference_answers_the_same);
    tcase_add_test(tests, the_reference_sums_in_double);
    tcase_add_test(tests, another_word_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
