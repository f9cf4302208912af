/* Every status that the OpenAPI document describes for a path and method and that the headers alone, or the daemon's
 * state, decide: brought about on each of them, by every method, on a connection that stays in step. */
#include "api.h"
#include "keyed.h"
#include "latched.h"

#include "server/openapi/document.h"
#include "tests/support/temporary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static keyed guarded;
static latched loading, faulty;
static json_t *document;

static void read_document(void) {
    srv_text text = {0};
    srv_openapi_append(&text);
    document = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(document);
    srv_text_done(&text);
}

static void start(void) {
    read_document();
    keyed_start(&guarded, NULL);
    latched_start_loading(&loading);
    latched_start_faulty(&faulty);
    /* From now on this key comes too soon. */
    http_answer answer = http_send("GET", guarded.daemon.url, "/v1/limits",
                                   (const char *const[]){BEARING(KEY_OF_SLOW), NULL}, NULL, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
}

static void stop(void) {
    latched_stop(&faulty);
    latched_stop(&loading);
    keyed_stop(&guarded);
    json_decref(document);
}

static bool is_inference(const char *pattern) {
    return strncmp(pattern, "/v2/models/", 11) == 0 && strstr(pattern, "/infer") != NULL;
}

/* Whether a request that is answered can be made for it here: other bodies and places are their own tests' business. */
static bool is_known(const char *method, const char *pattern) {
    const char *rest = pattern;
    while ((rest = strchr(rest, '{'))) {
        if (strncmp(rest, "{model}", 7) != 0 && strncmp(rest, "{layer}", 7) != 0 &&
            strncmp(rest, "{version}", 9) != 0)
            return false;
        rest++;
    }
    return strcmp(method, "POST") != 0 || strcmp(pattern, "/v1/attention") == 0 || is_inference(pattern) ||
           strcmp(pattern, "/v2/repository/index") == 0;
}

/* A place of a path's pattern, and what is put there: something that is there, or nothing of that name. */
static const char *filling(const char *place, bool is_there) {
    if (!is_there) return "none";
    return strncmp(place, "{model", 6) == 0 ? "tiny" : strncmp(place, "{version", 8) == 0 ? "1" : "0";
}

static void fill(const char *pattern, bool is_there, char out[128]) {
    size_t used = 0;
    for (; *pattern; pattern++) {
        if (*pattern != '{') {
            out[used++] = *pattern;
        } else {
            used += (size_t)snprintf(out + used, 127 - used, "%s", filling(pattern, is_there));
            pattern = strchr(pattern, '}');
        }
    }
    out[used] = '\0';
}

/* How a status comes about: what is added to a request that would be answered, and whom it is sent to. */
typedef struct way {
    const char *host, *origin, *header;
    const char *query;
    size_t padding; /* bytes of a long header */
    size_t body;    /* bytes of a long body */
    bool is_unknown;
    const test_daemon *daemon;
} way;

/* False for those that come about by a body alone: their own tests do that. */
static bool way_to(long status, const char *method, way *out) {
    *out = (way){.host = "localhost",
                 .origin = "http://localhost:5173",
                 .header = "",
                 .query = "",
                 .daemon = &api_daemon};
    switch (status) {
    case 200:
    case 204: return true;
    case 400: out->header = "Host: localhost\r\n"; return true;
    case 401: out->daemon = &guarded.daemon; return true;
    case 403: out->origin = "https://evil.example"; return true;
    case 404: out->is_unknown = true; return true;
    case 406: out->header = "Accept: text/x-nothing\r\n"; return true;
    case 413: out->body = 70000; return true;
    case 415: out->header = "Content-Type: text/x-nothing\r\n"; return true;
    case 421: out->host = "evil.example"; return true;
    case 422: out->query = "?nothing=1"; return true;
    case 429:
        out->daemon = &guarded.daemon;
        out->header = BEARING(KEY_OF_SLOW) "\r\n";
        return true;
    case 431: out->padding = 33000; return true;
    case 500: out->daemon = &faulty.daemon; return true;
    case 501: return true;
    case 503: out->daemon = strcmp(method, "POST") == 0 ? &loading.daemon : &faulty.daemon; return true;
    default: return false;
    }
}

static char *request_for(const char *method, const char *pattern, const way *by) {
    char path[128], *request = NULL, *padding = calloc(1, by->padding + 1);
    fill(pattern, !by->is_unknown, path);
    memset(padding, 'x', by->padding);
    char small[128] = "";
    if (is_inference(pattern))
        snprintf(small, sizeof small,
                 "{\"inputs\":[{\"name\":\"inputs\",\"shape\":[1,1,4],\"datatype\":\"FP32\",\"data\":[1,0,0,"
                 "0]}]}");
    else if (strcmp(method, "POST") == 0)
        snprintf(small, sizeof small, "{\"model\":\"%s\",\"inputs\":[[1,0,0,0]]}",
                 by->is_unknown ? "none" : "tiny");
    char *body = by->body > 0 ? calloc(1, by->body + 1) : strdup(small);
    if (by->body > 0) memset(body, ' ', by->body);
    ck_assert_int_gt(
        asprintf(
            &request,
            "%s %s%s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\n%sX-Long: %s\r\nContent-Length: %zu\r\n\r\n%s",
            method, path, by->query, by->host, by->origin, by->header, padding, strlen(body), body),
        0);
    free(padding);
    free(body);
    return request;
}

/* The next request on the connection is answered, or the connection ends as the answer has said. */
static void check_step(http_raw *raw, const http_answer *answer) {
    char *connection = http_header(answer, "Connection");
    if (connection && strcasecmp(connection, "close") == 0) {
        ck_assert(http_raw_is_closed(raw));
    } else {
        http_raw_send_text(raw, "OPTIONS /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        http_answer next = http_raw_answer(raw, 0);
        ck_assert_msg(next.status == 204, "out of step: %ld after %ld", next.status, answer->status);
        http_done(&next);
    }
    free(connection);
}

static void bring_about(const char *method, const char *pattern, long status, const way *by) {
    http_raw raw;
    bool is_head = strcmp(method, "HEAD") == 0;
    char *request = request_for(method, pattern, by);
    http_raw_open(&raw, by->daemon->port);
    http_raw_send_text(&raw, request);
    http_answer answer = http_raw_answer(&raw, is_head);
    ck_assert_msg(answer.status == status, "%s %s: %ld, not %ld: %s", method, pattern, answer.status, status,
                  answer.body);
    if (status >= 400 && !is_head) {
        json_t *problem = http_json(&answer);
        (strncmp(pattern, "/v2", 3) == 0 ? api_check_inference_problem : api_check_problem)(
            &answer, status, json_string_value(json_at(problem, "/code")));
        ck_assert_ptr_null(strstr(answer.body, "/etc/passwd"));
        json_decref(problem);
    }
    if (status != 403) {
        api_check_header(&answer, "Access-Control-Allow-Origin", "http://localhost:5173");
        api_check_vary(&answer);
    }
    char *retry = http_header(&answer, "Retry-After");
    ck_assert_msg((retry != NULL) == (status == 503 || status == 429), "%s %s, %ld: Retry-After: %s", method,
                  pattern, status, retry);
    free(retry);
    check_step(&raw, &answer);
    http_done(&answer);
    http_raw_close(&raw);
    free(request);
}

static const long statuses[] = {200, 204, 400, 401, 403, 404, 406, 413,
                                415, 421, 422, 429, 431, 500, 501, 503};

START_TEST(each_described_status_comes_about) {
    static const char *const methods[] = {"GET", "HEAD", "POST", "OPTIONS"};
    static const char *const names[] = {"get", "head", "post", "options"};
    long status = statuses[_i];
    char number[8];
    const char *path;
    json_t *item;
    size_t count = 0;
    snprintf(number, sizeof number, "%ld", status);
    json_object_foreach(json_at(document, "/paths"), path, item) {
        for (size_t m = 0; m < 4; m++) {
            json_t *operation = json_object_get(item, names[m]);
            way by;
            if (!json_object_get(json_object_get(operation, "responses"), number)) continue;
            bool needs_an_answer = status == 200 || status == 404 || status == 500 || status == 503;
            if (!way_to(status, methods[m], &by)) continue;
            if (needs_an_answer && !is_known(methods[m], path)) continue;
            /* There a body's doing: test_inference.c. */
            if (status == 501 && is_inference(path)) continue;
            bring_about(methods[m], path, status, &by);
            count++;
        }
    }
    ck_assert_uint_gt(count, 0);
}
END_TEST

/* What needs models is told to come back, by every method; what does not is answered. */
START_TEST(loading_is_told) {
    const char *path;
    json_t *item;
    json_object_foreach(json_at(document, "/paths"), path, item) {
        static const char *const open[] = {"/livez", "/healthz", "/metrics", "/version", "/v2/health/live"};
        json_t *answers = json_object_get(json_object_get(item, "get"), "responses");
        if (!json_object_get(answers, "200")) continue;
        bool is_open = false;
        way by;
        for (size_t i = 0; i < sizeof open / sizeof *open; i++)
            is_open = is_open || strcmp(path, open[i]) == 0;
        way_to(200, "GET", &by);
        by.daemon = &loading.daemon;
        bring_about("GET", path, is_open ? 200 : 503, &by);
        bring_about("HEAD", path, is_open ? 200 : 503, &by);
    }
}
END_TEST

/* A fault of the daemon's own is an error in the log, under the request's id. */
START_TEST(faults_are_logged) {
    latched one;
    latched_start_faulty(&one);
    http_answer answer = http_send("POST", one.daemon.url, "/v1/attention",
                                   (const char *const[]){"X-Request-Id: the-faulty-one", NULL},
                                   "{\"inputs\":[[1,0,0,0]]}", 22);
    api_check_problem(&answer, 500, "internal");
    http_done(&answer);
    process_signal(&one.daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&one.daemon.process), 0);
    char *log = process_errors(&one.daemon.process);
    ck_assert_msg(
        strstr(log, " error   request id=the-faulty-one method=POST route=/v1/attention status=500 "), "%s",
        log);
    free(log);
    process_done(&one.daemon.process);
    latched_open(&one);
    temporary_remove(one.folder);
}
END_TEST

ATTND_SUITE(statuses) {
    Suite *suite = suite_create("statuses");
    TCase *tests = api_case(suite, "statuses");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_loop_test(tests, each_described_status_comes_about, 0,
                        (int)(sizeof statuses / sizeof *statuses));
    tcase_add_test(tests, loading_is_told);
    tcase_add_test(tests, faults_are_logged);
    return suite;
}
