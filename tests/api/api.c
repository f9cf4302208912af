#include "api.h"

#include <stdlib.h>
#include <string.h>

test_daemon api_daemon;

static void start(void) {
    daemon_start(&api_daemon, (const char *const[]){"--workers", "2", "--max-body", "64KiB", NULL}, NULL);
}

static void stop(void) {
    daemon_stop(&api_daemon);
}

TCase *api_case(Suite *suite, const char *name) {
    TCase *tests = tcase_create(name);
    tcase_add_unchecked_fixture(tests, start, stop);
    suite_add_tcase(suite, tests);
    return tests;
}

static json_t *take_json(http_answer answer, long status) {
    ck_assert_msg(answer.status == status, "%ld: %s", answer.status, answer.body);
    api_check_header(&answer, "Content-Type", status < 400 ? "application/json" : "application/problem+json");
    json_t *document = http_json(&answer);
    http_done(&answer);
    return document;
}

json_t *api_get(const char *path, long status) {
    return take_json(http_get(api_daemon.url, path), status);
}

json_t *api_post(const char *path, const char *body, long status) {
    return take_json(http_post(api_daemon.url, path, body), status);
}

json_t *api_ask(const char *body) {
    return api_post("/v1/attention", body, 200);
}

void api_check_header(const http_answer *answer, const char *name, const char *value) {
    char *found = http_header(answer, name);
    ck_assert_msg(found && strcmp(found, value) == 0, "%s is %s, not %s", name, found ? found : "missing",
                  value);
    free(found);
}

static void check_problem(const http_answer *answer, long status, const char *code, const char *type) {
    static const char *const members[] = {"type",   "title",     "status", "code",  "detail",    "pointer",
                                          "offset", "parameter", "header", "error", "request_id"};
    ck_assert_msg(answer->status == status, "%ld, not %ld: %s", answer->status, status, answer->body);
    api_check_header(answer, "Content-Type", type);
    json_t *document = http_json(answer), *value;
    const char *name;
    json_check_exact(document, "/type", "\"about:blank\"");
    ck_assert_uint_gt(json_string_length(json_at(document, "/title")), 0);
    ck_assert_int_eq(json_integer_value(json_at(document, "/status")), status);
    ck_assert_str_eq(json_string_value(json_at(document, "/code")), code);
    const char *detail = json_string_value(json_at(document, "/detail"));
    ck_assert_msg(*detail && !strchr(detail, '\n'), "detail: %s", detail);
    api_check_header(answer, "X-Request-Id", json_string_value(json_at(document, "/request_id")));
    json_object_foreach(document, name, value) {
        bool known = false;
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            known |= strcmp(name, members[i]) == 0;
        ck_assert_msg(known, "member %s", name);
    }
    json_decref(document);
}

void api_check_problem(const http_answer *answer, long status, const char *code) {
    check_problem(answer, status, code, "application/problem+json");
    ck_assert_ptr_null(strstr(answer->body, "\"error\":"));
}

void api_check_inference_problem(const http_answer *answer, long status, const char *code) {
    check_problem(answer, status, code, "application/json");
    json_t *document = http_json(answer);
    ck_assert_str_eq(json_string_value(json_at(document, "/error")),
                     json_string_value(json_at(document, "/detail")));
    json_decref(document);
}

void api_check_vary(const http_answer *answer) {
    bool is_chosen = answer->status == 200 && strstr(answer->headers, "Server-Timing:") != NULL;
    api_check_header(answer, "Vary", is_chosen ? "Origin, Accept, Accept-Encoding" : "Origin");
}
