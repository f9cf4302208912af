/* Which refusal goes first where the headers give several reasons, and requests that are odd from their first line. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

#define HOST "Host: localhost\r\n"
#define EVIL "Origin: https://evil.example\r\n"

static void ask(const char *request, long status, const char *code) {
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, request);
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_msg(answer.status == status, "%.200s\n%ld, not %ld: %s", request, answer.status, status,
                  answer.body);
    if (code) api_check_problem(&answer, status, code);
    http_done(&answer);
    http_raw_close(&raw);
}

static const struct {
    const char *request;
    long status;
    const char *code;
} several[] = {
    /* Each loses its first reason on the next line. */
    {"POST /nothing HTTP/1.1\r\n" HOST "Host: evil\r\n" EVIL "Content-Length: 99999\r\n\r\n", 400,
     "bad_http"},
    {"PUT /nothing HTTP/1.1\r\nHost: evil\r\n" EVIL "Expect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
     421, "misdirected"},
    {"PUT /nothing HTTP/1.1\r\n" HOST EVIL "Expect: 100-continue\r\nContent-Length: 99999\r\n\r\n", 404,
     "not_found"},
    {"PUT /v1/attention HTTP/1.1\r\n" HOST EVIL
     "Content-Type: text/xml\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
     405, "method_not_allowed"},
    {"POST /v1/attention HTTP/1.1\r\n" HOST EVIL
     "Content-Type: text/xml\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
     403, "forbidden_origin"},
    {"POST /v1/attention HTTP/1.1\r\n" HOST
     "Content-Type: text/xml\r\nAccept: text/html\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
     415, "unsupported_media_type"},
    {"POST /v1/attention HTTP/1.1\r\n" HOST
     "Accept: text/html\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
     406, "not_acceptable"},
    {"POST /v1/attention HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 99999\r\n\r\n", 413,
     "body_too_large"},
};

START_TEST(headers_are_judged_in_order) {
    ask(several[_i].request, several[_i].status, several[_i].code);
}
END_TEST

/* What a header decides is told with its name. */
START_TEST(the_header_is_named) {
    static const struct {
        const char *request, *header;
    } named[] = {
        {"GET /livez HTTP/1.1\r\n" HOST HOST "\r\n", "Host"},
        {"GET /livez HTTP/1.1\r\nHost: evil\r\n\r\n", "Host"},
        {"POST /livez HTTP/1.1\r\n" HOST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n", "Content-Length"},
        {"POST /livez HTTP/1.1\r\n" HOST "Expect: more\r\n\r\n", "Expect"},
        {"GET /livez HTTP/1.1\r\n" HOST EVIL "\r\n", "Origin"},
        {"POST /v1/attention HTTP/1.1\r\n" HOST "Content-Type: text/xml\r\n\r\n", "Content-Type"},
        {"POST /v1/attention HTTP/1.1\r\n" HOST "Content-Encoding: x-unknown\r\n\r\n", "Content-Encoding"},
        {"GET /version HTTP/1.1\r\n" HOST "Accept: image/x\r\n\r\n", "Accept"},
        {"POST /v1/attention HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
         "Content-Length"},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        http_raw raw;
        http_raw_open(&raw, api_daemon.port);
        http_raw_send_text(&raw, named[i].request);
        http_answer answer = http_raw_answer(&raw, 0);
        json_t *problem = http_json(&answer);
        const char *header = json_string_value(json_object_get(problem, "header"));
        ck_assert_msg(header && strcmp(header, named[i].header) == 0, "%s: %s", named[i].request,
                      answer.body);
        json_decref(problem);
        http_done(&answer);
        http_raw_close(&raw);
    }
}
END_TEST

START_TEST(long_headers_are_431) {
    static const char start[] = "GET /nothing HTTP/1.1\r\nHost: evil\r\nX-Long: ";
    char *request = malloc(40000);
    /* To the byte: 32 KiB are judged further, one more is not. */
    for (int beyond = 0; beyond < 2; beyond++) {
        size_t size = 32768 + (size_t)beyond;
        memset(request, 'x', size);
        memcpy(request, start, sizeof start - 1);
        memcpy(request + size - 4, "\r\n\r\n", 5);
        ask(request, beyond ? 431 : 421, beyond ? "headers_too_large" : "misdirected");
    }
    free(request);
}
END_TEST

/* NULL: refused by the parser, whose document is its own. */
static const struct {
    const char *request;
    long status;
    const char *code;
} odd[] = {
    {"GET /livez HTTP/1.7\r\n" HOST "\r\n", 400, "bad_http"},
    {"G@T /livez HTTP/1.1\r\n" HOST "\r\n", 400, "bad_http"},
    {"get /livez HTTP/1.1\r\n" HOST "\r\n", 405, "method_not_allowed"},
    {"GET  HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
    {"GET livez HTTP/1.1\r\n" HOST "\r\n", 400, "bad_http"},
    {"GET /liv\001ez HTTP/1.1\r\n" HOST "\r\n", 400, "bad_http"},
    {"GET /liv\377ez HTTP/1.1\r\n" HOST "\r\n", 400, "bad_http"},
    {"GET /livez HTTP/1.1\r\n" HOST "X-A: b\001c\r\n\r\n", 400, "bad_http"},
    {"GET /livez HTTP/1.1\r\n" HOST "X-A: b\r\n c\r\n\r\n", 400, NULL},
    {"POST /livez HTTP/1.1\r\n" HOST "Content-Lengt: 5\r\n h\r\n\r\nhello", 400, NULL},
    {"POST /v1/attention HTTP/1.1\r\n" HOST "Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}", 400,
     "bad_http"},
    {"GET /livez HTTP/1.1\r\nHost:\r\n\r\n", 400, "bad_http"},
    {"CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n", 405, "method_not_allowed"},
    {"GET * HTTP/1.1\r\n" HOST "\r\n", 404, "not_found"},
    {"GET https://localhost/livez HTTP/1.1\r\n" HOST "\r\n", 200, NULL},
    {"GET /livez HTTP/1.0\r\n\r\n", 200, NULL},
    {"GET /livez HTTP/1.1\r\nhOST:localhost\r\nX:\r\nY: \t z\r\n\r\n", 200, NULL},
    {"GET /livez HTTP/1.1\r\nHost: localhost \r\n\r\n", 200, NULL},
};

START_TEST(odd_requests) {
    ask(odd[_i].request, odd[_i].status, odd[_i].code);
}
END_TEST

/* What the library would parse into arguments, and hang on. */
START_TEST(many_arguments) {
    enum { COUNT = 5000 };
    char *request = malloc(4 * COUNT + 100);
    size_t used = (size_t)sprintf(request, "GET /livez?");
    for (int i = 0; i < COUNT; i++)
        used += (size_t)sprintf(request + used, "a=b&");
    sprintf(request + used, " HTTP/1.1\r\n" HOST "\r\n");
    ask(request, 200, NULL);
    free(request);
}
END_TEST

ATTND_SUITE(order) {
    Suite *suite = suite_create("order");
    TCase *tests = api_case(suite, "order");
    tcase_add_loop_test(tests, headers_are_judged_in_order, 0, (int)(sizeof several / sizeof *several));
    tcase_add_test(tests, the_header_is_named);
    tcase_add_test(tests, long_headers_are_431);
    tcase_add_loop_test(tests, odd_requests, 0, (int)(sizeof odd / sizeof *odd));
    tcase_add_test(tests, many_arguments);
    return suite;
}
