/* POST /v1/attention, answered: members and their order, shapes, selections, batches, numbers, many at a
 * time. */
#include "api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char sentence[] =
    "{\"model\":\"tiny\",\"layer\":0,\"inputs\":[[1,0,0,0],[0,1,0,0]],\"causal\":true,"
    "\"return\":{\"attention\":true,\"heads\":[0,1]},\"tokens\":[\"The\",\"cat\"]}";

/* The sum of each row of a map is 1, or 0 where the row sees no key. */
static void check_rows(const json_t *map) {
    if (!json_is_array(json_array_get(map, 0))) {
        double sum = 0;
        for (size_t i = 0; i < json_array_size(map); i++)
            sum += json_number_value(json_array_get(map, i));
        ck_assert_msg(sum > 1 - 1e-5 && sum < 1 + 1e-5, "a row's sum is %g", sum);
        return;
    }
    for (size_t i = 0; i < json_array_size(map); i++)
        check_rows(json_array_get(map, i));
}

START_TEST(members_in_order) {
    json_t *answer = api_ask(sentence);
    static const char *const order[] = {
        "model",      "layer",          "shape",   "heads",      "queries",
        "tokens",     "context_tokens", "lengths", "extra_keys", "rows_without_keys",
        "warnings",   "stats",          "outputs", "attention",  "scores",
        "projections"};
    size_t at = 0;
    const char *name;
    json_t *value;
    json_object_foreach(answer, name, value) {
        while (at < sizeof order / sizeof *order && strcmp(order[at], name) != 0)
            at++;
        ck_assert_msg(at < sizeof order / sizeof *order, "%s is unknown or out of order", name);
    }
    json_check_exact(answer, "/model", "\"tiny\"");
    json_check_exact(answer, "/layer", "0");
    json_check_exact(answer, "/shape/batch", "1");
    json_check_exact(answer, "/shape/queries", "[2]");
    json_check_exact(answer, "/shape/keys", "[2]");
    json_check_exact(answer, "/shape/heads", "2");
    json_check_exact(answer, "/shape/kv_heads", "2");
    json_check_exact(answer, "/shape/d_out", "4");
    json_check_exact(answer, "/heads", "[0,1]");
    json_check_exact(answer, "/tokens", "[\"The\",\"cat\"]");
    json_check_exact(answer, "/warnings", "[]");
    ck_assert_uint_eq(json_array_size(json_at(answer, "/outputs")), 2);
    ck_assert_uint_eq(json_array_size(json_at(answer, "/outputs/1")), 4);
    ck_assert_uint_eq(json_array_size(json_at(answer, "/attention")), 2);
    json_check_exact(answer, "/attention/0/0", "[1,0]");
    check_rows(json_at(answer, "/attention"));
    json_decref(answer);
}
END_TEST

/* softmax(X·Xᵀ/√D)·X by hand: D = 1, x = (0, ln 2) gives scores 0, 0 and 0, (ln 2)². */
START_TEST(plain_by_hand) {
    json_t *answer =
        api_ask("{\"model\":\"plain\",\"inputs\":[[0],[0.6931471805599453]],\"return\":{\"scores\":true}}");
    json_check(answer, "/attention", "[[[0.5,0.5],[0.382145,0.617855]]]");
    json_check(answer, "/scores", "[[[0,0],[0,0.480453]]]");
    json_check(answer, "/outputs", "[[0.346574],[0.428264]]");
    json_decref(answer);

    /* Any width: D = 3, equal rows share alike. */
    answer = api_ask("{\"model\":\"plain\",\"inputs\":[[1,2,3],[1,2,3]]}");
    json_check(answer, "/attention", "[[[0.5,0.5],[0.5,0.5]]]");
    json_check(answer, "/outputs", "[[1,2,3],[1,2,3]]");
    json_decref(answer);
}
END_TEST

START_TEST(selections) {
    json_t *all = api_ask(
        "{\"model\":\"tiny\",\"inputs\":[[1,0,2,0],[0,1,0,-1],[3,0,1,0]],\"return\":{\"scores\":true}}");
    json_t *some = api_ask("{\"model\":\"tiny\",\"inputs\":[[1,0,2,0],[0,1,0,-1],[3,0,1,0]],"
                           "\"return\":{\"scores\":true,\"heads\":[1],\"queries\":[2,0],\"outputs\":false}}");
    json_check_exact(some, "/heads", "[1]");
    json_check_exact(some, "/queries", "[2,0]");
    json_check_exact(some, "/shape/heads", "2");
    ck_assert_ptr_null(json_object_get(some, "outputs"));
    ck_assert_uint_eq(json_array_size(json_at(some, "/attention")), 1);
    ck_assert_uint_eq(json_array_size(json_at(some, "/attention/0")), 2);
    ck_assert_double_le(json_difference(json_at(some, "/attention/0/0"), json_at(all, "/attention/1/2")),
                        1e-6);
    ck_assert_double_le(json_difference(json_at(some, "/attention/0/1"), json_at(all, "/attention/1/0")),
                        1e-6);
    ck_assert_double_le(json_difference(json_at(some, "/scores/0/0"), json_at(all, "/scores/1/2")), 1e-6);
    /* The two rows do differ, so that an exchange would show. */
    ck_assert_double_gt(json_difference(json_at(all, "/attention/1/2"), json_at(all, "/attention/1/0")),
                        1e-3);
    json_decref(some);

    some = api_ask(
        "{\"model\":\"tiny\",\"inputs\":[[1,0,2,0],[0,1,0,-1],[3,0,1,0]],\"return\":{\"attention\":false}}");
    ck_assert_ptr_null(json_object_get(some, "attention"));
    ck_assert_double_le(json_difference(json_at(some, "/outputs"), json_at(all, "/outputs")), 4e-6);
    json_decref(some);
    json_decref(all);
}
END_TEST

START_TEST(batches_answer_as_their_sequences) {
    json_t *batch = api_ask("{\"inputs\":[[[1,0,2,0]],[[0,1,0,-1],[3,0,1,0]]],\"causal\":true}");
    json_t *second = api_ask("{\"inputs\":[[0,1,0,-1],[3,0,1,0]],\"causal\":true}");
    json_check_exact(batch, "/shape/batch", "2");
    json_check_exact(batch, "/shape/queries", "[1,2]");
    json_check_exact(batch, "/shape/keys", "[1,2]");
    json_check_exact(batch, "/attention/0", "[[[1]],[[1]]]");
    ck_assert_double_le(json_difference(json_at(batch, "/outputs/1"), json_at(second, "/outputs")), 1e-6);
    ck_assert_double_le(json_difference(json_at(batch, "/attention/1"), json_at(second, "/attention")), 1e-6);
    json_decref(batch);
    json_decref(second);
}
END_TEST

START_TEST(projections_have_their_shapes) {
    json_t *answer =
        api_ask("{\"model\":\"tiny\",\"inputs\":[[1,0,0,0]],\"context\":[[1,0,0,0],[0,1,0,0],[0,0,1,0]],"
                "\"return\":{\"projections\":true}}");
    static const struct {
        const char *name;
        size_t rows;
    } parts[] = {{"/projections/q", 1}, {"/projections/k", 3}, {"/projections/v", 3}};
    for (size_t i = 0; i < 3; i++) {
        const json_t *part = json_at(answer, parts[i].name);
        ck_assert_uint_eq(json_array_size(part), 2);
        ck_assert_uint_eq(json_array_size(json_array_get(part, 1)), parts[i].rows);
        ck_assert_uint_eq(json_array_size(json_array_get(json_array_get(part, 1), 0)), 2);
    }
    json_check_exact(answer, "/shape/keys", "[3]");
    json_decref(answer);
}
END_TEST

START_TEST(precision_cuts_digits) {
    http_answer answer =
        http_post(api_daemon.url, "/v1/attention",
                  "{\"model\":\"plain\",\"inputs\":[[0],[0.6931472]],\"return\":{\"precision\":3}}");
    ck_assert_int_eq(answer.status, 200);
    ck_assert_msg(strstr(answer.body, "[0.382,0.618]") != NULL, "%s", answer.body);
    http_done(&answer);
}
END_TEST

START_TEST(null_means_absent) {
    json_t *with =
        api_ask("{\"model\":null,\"inputs\":[[1,0,0,0]],\"causal\":null,\"return\":null,\"scale\":null,"
                "\"context\":null,\"key_padding_mask\":null,\"bias\":null,\"window\":null,\"tokens\":null}");
    json_t *without = api_ask("{\"inputs\":[[1,0,0,0]]}");
    ck_assert(json_equal(with, without));
    json_decref(with);
    json_decref(without);
}
END_TEST

START_TEST(content_types_that_are_json) {
    static const char *const types[] = {"Content-Type: application/json",
                                        "Content-Type: APPLICATION/JSON; charset=utf-8",
                                        "Content-Type:", "Content-Type: text/plain;charset=UTF-8",
                                        "Content-Type: application/x-www-form-urlencoded"};
    http_answer answer = http_send("POST", api_daemon.url, "/v1/attention",
                                   (const char *const[]){types[_i], NULL}, sentence, strlen(sentence));
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    http_done(&answer);
}
END_TEST

START_TEST(timing_is_told) {
    http_answer answer = http_post(api_daemon.url, "/v1/attention", sentence);
    char *timing = http_header(&answer, "Server-Timing");
    static const char *const stages[] = {"read;dur=", "parse;dur=", "queue;dur=", "compute;dur="};
    for (size_t i = 0; i < 4; i++)
        ck_assert_msg(timing && strstr(timing, stages[i]), "%s", timing);
    free(timing);
    http_done(&answer);
}
END_TEST

enum { CALLERS = 8, CALLS = 12 };

typedef struct caller {
    const char *body, *wanted;
    int wrong;
} caller;

static void *call(void *context) {
    caller *me = context;
    for (int i = 0; i < CALLS; i++) {
        http_answer answer = http_post(api_daemon.url, "/v1/attention", me->body);
        me->wrong += answer.status != 200 || strcmp(answer.body, me->wanted) != 0;
        http_done(&answer);
    }
    return NULL;
}

/* Each caller's answer has the same bytes however many others there are. */
START_TEST(many_at_a_time) {
    char bodies[CALLERS][512];
    http_answer alone[CALLERS];
    caller callers[CALLERS];
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        size_t used = (size_t)snprintf(bodies[i], sizeof bodies[i], "{\"model\":\"%s\",\"inputs\":[",
                                       i % 2 ? "tiny" : "plain");
        for (int row = 0; row <= i; row++)
            used += (size_t)snprintf(bodies[i] + used, sizeof bodies[i] - used, "%s[%d,0.%d,-%d,1]",
                                     row ? "," : "", row, i, row);
        snprintf(bodies[i] + used, sizeof bodies[i] - used, "],\"causal\":%s}", i % 3 ? "true" : "false");
        alone[i] = http_post(api_daemon.url, "/v1/attention", bodies[i]);
        ck_assert_msg(alone[i].status == 200, "%s", alone[i].body);
        callers[i] = (caller){bodies[i], alone[i].body, 0};
    }
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_msg(callers[i].wrong == 0, "%d of %d answers differ: %s", callers[i].wrong, CALLS,
                      bodies[i]);
        http_done(&alone[i]);
    }
}
END_TEST

ATTND_SUITE(attention) {
    Suite *suite = suite_create("attention");
    TCase *tests = api_case(suite, "attention");
    tcase_add_test(tests, members_in_order);
    tcase_add_test(tests, plain_by_hand);
    tcase_add_test(tests, selections);
    tcase_add_test(tests, batches_answer_as_their_sequences);
    tcase_add_test(tests, projections_have_their_shapes);
    tcase_add_test(tests, precision_cuts_digits);
    tcase_add_test(tests, null_means_absent);
    tcase_add_loop_test(tests, content_types_that_are_json, 0, 5);
    tcase_add_test(tests, timing_is_told);
    tcase_add_test(tests, many_at_a_time);
    return suite;
}
