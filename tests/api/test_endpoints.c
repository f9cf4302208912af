/* Every path of this version: probes, models, version; unknown paths, wrong methods, HEAD. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

START_TEST(probes_are_ok) {
    static const char *const paths[] = {"/livez", "/readyz", "/healthz", "/livez?anything=%zz&a=b",
                                        "/readyz?verbose"};
    json_t *answer = api_get(paths[_i], 200);
    json_check_exact(answer, "/status", "\"ok\"");
    json_decref(answer);
}
END_TEST

static void check_line(http_answer answer, long status) {
    ck_assert_int_eq(answer.status, status);
    ck_assert_msg(answer.size > 2 && strcmp(answer.body + answer.size - 2, "}\n") == 0, "%s", answer.body);
    http_done(&answer);
}

/* At a terminal the prompt stands on a line of its own. */
START_TEST(json_ends_its_line) {
    static const char *const paths[] = {"/livez",
                                        "/v1/models",
                                        "/v1/models/tiny",
                                        "/v1/models/tiny/layers/0",
                                        "/v1/models/tiny/example",
                                        "/v1/limits",
                                        "/openapi.json",
                                        "/version",
                                        "/v2"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        check_line(http_get(api_daemon.url, paths[i]), 200);
    check_line(http_get(api_daemon.url, "/nowhere"), 404);
    check_line(http_post(api_daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]]}"), 200);
    check_line(http_post(api_daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]],\"plan\":true}"), 200);
}
END_TEST

START_TEST(models_are_listed) {
    json_t *answer = api_get("/v1/models", 200);
    json_t *models = json_at(answer, "/models");
    ck_assert_uint_eq(json_array_size(models), 3);
    json_check_exact(answer, "/models/0/name", "\"tiny\"");
    json_check_exact(answer, "/models/0/d_model", "4");
    json_check_exact(answer, "/models/0/heads", "2");
    json_check_exact(answer, "/models/0/kv_heads", "2");
    json_check_exact(answer, "/models/1/name", "\"demo\"");
    json_check_exact(answer, "/models/1/layers", "2");
    json_check_exact(answer, "/models/1/d_model", "512");
    json_check_exact(answer, "/models/1/heads", "8");
    json_check_exact(answer, "/models/2/name", "\"plain\"");
    ck_assert(json_is_null(json_at(answer, "/models/2/d_model")));
    json_check_exact(answer, "/models/2/heads", "1");
    for (size_t i = 0; i < 3; i++) {
        json_t *model = json_array_get(models, i);
        ck_assert(json_is_string(json_at(model, "/family")));
        ck_assert_int_eq(json_is_true(json_at(model, "/default")), i == 0);
    }
    json_decref(answer);
}
END_TEST

START_TEST(version_tells_what_runs) {
    json_t *answer = api_get("/version", 200);
    static const char *const texts[] = {
        "/version",           "/commit",    "/compiler",    "/libraries/libmicrohttpd",
        "/libraries/jansson", "/blas/core", "/blas/origin", "/libraries/openblas",
        "/vectors",           "/kernels"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_uint_gt(json_string_length(json_at(answer, texts[i])), 0);
    json_check_exact(answer, "/workers", "2");
    json_check_exact(answer, "/blas/self_test", "\"passed\"");
    json_decref(answer);
}
END_TEST

static const struct {
    const char *path, *accept;
    long status;
} accepted[] = {
    /* Probes and scrapers are answered whatever they say. */
    {"/livez", "Accept: text/html", 200},
    {"/readyz", "Accept: application/xml;q=0.5", 200},
    {"/healthz", "Accept: text/plain", 200},
    {"/metrics", "Accept: application/openmetrics-text;version=1.0.0", 200},
    {"/metrics?collect[]=cpu&name[]=x", "Accept: text/plain;version=0.0.4", 200},
    /* All others look at it, and name what there is. */
    {"/version", "Accept: application/*", 200},
    {"/version", "Accept: text/html, */*;q=0.1", 200},
    {"/version", "Accept: text/html", 406},
    {"/version", "Accept: application/json;q=0, */*", 406},
    {"/", "Accept: text/plain", 200},
    {"/", "Accept: application/json", 406},
    {"/openapi.json", "Accept: text/html", 406},
    {"/v1/models", "Accept: image/png", 406},
    {"/v1/models/tiny", "Accept: image/png", 406},
    {"/v1/models/tiny/layers/0", "Accept: image/png", 406},
    {"/v1/models/tiny/example", "Accept: image/png", 406},
    {"/v1/limits", "Accept: image/png", 406},
};

START_TEST(accept_is_looked_at) {
    http_answer answer = http_send("GET", api_daemon.url, accepted[_i].path,
                                   (const char *const[]){accepted[_i].accept, NULL}, NULL, 0);
    ck_assert_msg(answer.status == accepted[_i].status, "%s, %s: %ld", accepted[_i].path, accepted[_i].accept,
                  answer.status);
    if (answer.status == 406) {
        api_check_problem(&answer, 406, "not_acceptable");
        const char *type =
            strcmp(accepted[_i].path, "/") == 0 ? "answers with text/plain" : "answers with application/json";
        ck_assert_msg(strstr(answer.body, type), "%s", answer.body);
    }
    http_done(&answer);
}
END_TEST

START_TEST(queries_are_looked_at) {
    static const char *const paths[] = {
        "/v1/models", "/v1/models/tiny", "/v1/models/tiny/layers/0", "/v1/models/tiny/example", "/v1/limits",
        "/version",   "/openapi.json"};
    char target[64];
    snprintf(target, sizeof target, "%s?verbose=1&x", paths[_i]);
    http_answer answer = http_get(api_daemon.url, target);
    api_check_problem(&answer, 422, "unknown_field");
    ck_assert_msg(strstr(answer.body, "\"parameter\":\"verbose\""), "%s", answer.body);
    http_done(&answer);
}
END_TEST

/* What the path names goes before the query, and an empty query is none. */
START_TEST(names_go_before_queries) {
    static const struct {
        const char *path;
        long status;
        const char *code;
    } asked[] = {{"/v1/models/none?x=1", 404, "model_not_found"},
                 {"/v1/models/tiny/layers/9?x=1", 404, "layer_not_found"},
                 {"/v1/models/none/example?x=1", 404, "model_not_found"},
                 {"/nothing?x=1", 404, "not_found"},
                 {"/v1/models?", 200, NULL},
                 {"/v1/models?&&", 200, NULL},
                 {"/v1/models?&x", 422, "unknown_field"}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        http_answer answer = http_get(api_daemon.url, asked[i].path);
        ck_assert_msg(answer.status == asked[i].status, "%s: %ld", asked[i].path, answer.status);
        if (asked[i].code) api_check_problem(&answer, asked[i].status, asked[i].code);
        http_done(&answer);
    }
}
END_TEST

START_TEST(unknown_path_is_404) {
    static const char *const paths[] = {"/nothing",     "/v1",
                                        "/v1/",         "/v1/models/",
                                        "/livez/",      "/v1/attention/",
                                        "//livez",      "/v1/attention%00",
                                        "/v1%2Fmodels", "/V1/models"};
    http_answer answer = http_get(api_daemon.url, paths[_i]);
    api_check_problem(&answer, 404, "not_found");
    http_done(&answer);
}
END_TEST

static const struct {
    const char *method, *path, *allow;
} wrong_methods[] = {
    {"GET", "/v1/attention", "POST"},  {"HEAD", "/v1/attention", "POST"},
    {"PUT", "/v1/attention", "POST"},  {"POST", "/v1/models", "GET, HEAD"},
    {"DELETE", "/livez", "GET, HEAD"}, {"PATCH", "/version", "GET, HEAD"},
    {"get", "/version", "GET, HEAD"},
};

START_TEST(wrong_method_is_405) {
    http_answer answer =
        http_send(wrong_methods[_i].method, api_daemon.url, wrong_methods[_i].path, NULL, NULL, 0);
    if (strcmp(wrong_methods[_i].method, "HEAD") == 0) {
        ck_assert_int_eq(answer.status, 405);
    } else {
        api_check_problem(&answer, 405, "method_not_allowed");
    }
    char *allow = http_header(&answer, "Allow");
    ck_assert_msg(allow && strncmp(allow, wrong_methods[_i].allow, strlen(wrong_methods[_i].allow)) == 0,
                  "Allow: %s", allow);
    free(allow);
    http_done(&answer);
}
END_TEST

START_TEST(head_is_get_without_body) {
    static const char *const paths[] = {"/livez", "/readyz", "/v1/models", "/version"};
    http_answer get = http_get(api_daemon.url, paths[_i]);
    http_raw raw;
    char request[128];
    http_raw_open(&raw, api_daemon.port);
    snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n", paths[_i]);
    /* Twice on one connection: a stray body would be taken for the second answer. */
    for (int i = 0; i < 2; i++) {
        http_raw_send_text(&raw, request);
        http_answer head = http_raw_answer(&raw, 1);
        ck_assert_int_eq(head.status, get.status);
        char *length = http_header(&head, "Content-Length");
        ck_assert_uint_eq(strtoul(length, NULL, 10), get.size);
        free(length);
        http_done(&head);
    }
    http_raw_close(&raw);
    http_done(&get);
}
END_TEST

START_TEST(request_id_is_echoed_or_new) {
    static const struct {
        const char *given;
        bool echoed;
    } ids[] = {
        {"X-Request-Id: abc-123", true}, {"X-Request-Id: a b", false}, {"X-Request-Id: \xc3\xa4", false}};
    char *before = NULL;
    for (size_t i = 0; i < 3; i++) {
        http_answer answer =
            http_send("GET", api_daemon.url, "/livez", (const char *const[]){ids[i].given, NULL}, NULL, 0);
        char *id = http_header(&answer, "X-Request-Id");
        ck_assert_ptr_nonnull(id);
        ck_assert_msg((strcmp(id, ids[i].given + strlen("X-Request-Id: ")) == 0) == ids[i].echoed, "%s", id);
        ck_assert_msg(!before || strcmp(before, id) != 0, "%s twice", id);
        free(before);
        before = id;
        http_done(&answer);
    }
    free(before);

    char longest[160] = "X-Request-Id: ", too_long[160];
    memset(longest + strlen(longest), 'x', 128);
    snprintf(too_long, sizeof too_long, "%.142sx", longest);
    http_answer answer =
        http_send("GET", api_daemon.url, "/livez", (const char *const[]){longest, NULL}, NULL, 0);
    api_check_header(&answer, "X-Request-Id", longest + strlen("X-Request-Id: "));
    http_done(&answer);
    answer = http_send("GET", api_daemon.url, "/livez", (const char *const[]){too_long, NULL}, NULL, 0);
    char *id = http_header(&answer, "X-Request-Id");
    ck_assert_uint_lt(strlen(id), 128);
    free(id);
    http_done(&answer);
}
END_TEST

ATTND_SUITE(endpoints) {
    Suite *suite = suite_create("endpoints");
    TCase *tests = api_case(suite, "endpoints");
    tcase_add_loop_test(tests, probes_are_ok, 0, 5);
    tcase_add_test(tests, json_ends_its_line);
    tcase_add_test(tests, models_are_listed);
    tcase_add_test(tests, version_tells_what_runs);
    tcase_add_loop_test(tests, accept_is_looked_at, 0, (int)(sizeof accepted / sizeof *accepted));
    tcase_add_loop_test(tests, queries_are_looked_at, 0, 7);
    tcase_add_test(tests, names_go_before_queries);
    tcase_add_loop_test(tests, unknown_path_is_404, 0, 10);
    tcase_add_loop_test(tests, wrong_method_is_405, 0, (int)(sizeof wrong_methods / sizeof *wrong_methods));
    tcase_add_loop_test(tests, head_is_get_without_body, 0, 4);
    tcase_add_test(tests, request_id_is_echoed_or_new);
    return suite;
}
