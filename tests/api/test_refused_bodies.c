/* Bodies that are refused before they have come, from clients that send all before they read: the answer is read, and
 * the connection is in step or closed. Nothing of a body is ever taken for a request: these are full of them. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

#define HOST "Host: localhost\r\n"
#define INNER "GET /livez HTTP/1.1\r\n" HOST "\r\n"

static const size_t sizes[] = {300 << 10, 4 << 20, 100 << 20};
enum { SIZES = 3, KINDS = 3 };
static const char *const kinds[KINDS] = {"plain", "chunked", "Expect"};

static char *make_body(size_t size) {
    char *body = malloc(size + sizeof INNER);
    ck_assert_ptr_nonnull(body);
    for (size_t used = 0; used < size; used += sizeof INNER - 1)
        memcpy(body + used, INNER, sizeof INNER - 1);
    body[size] = '\0';
    return body;
}

/* Sends as much as is taken. */
static void send_all(http_raw *raw, const char *kind, const char *body, size_t size) {
    char head[256];
    bool is_chunked = strcmp(kind, "chunked") == 0;
    snprintf(head, sizeof head, "POST /v1/attention HTTP/1.1\r\n" HOST "%s%zu\r\n%s\r\n",
             is_chunked ? "Transfer-Encoding: chunked\r\nX-Size: " : "Content-Length: ", size,
             strcmp(kind, "Expect") == 0 ? "Expect: 100-continue\r\n" : "");
    http_raw_send_text(raw, head);
    if (is_chunked) {
        snprintf(head, sizeof head, "%zx\r\n", size);
        http_raw_send_text(raw, head);
    }
    http_raw_send(raw, body, size);
    if (is_chunked) http_raw_send_text(raw, "\r\n0\r\n\r\n");
}

START_TEST(raw_clients_read_the_refusal) {
    size_t size = sizes[_i / KINDS];
    const char *kind = kinds[_i % KINDS];
    char *body = make_body(size);
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    send_all(&raw, kind, body, size);
    http_answer answer = http_raw_answer(&raw, 0);
    api_check_problem(&answer, 413, "body_too_large");
    char *connection = http_header(&answer, "Connection");
    bool closes = connection && strcasecmp(connection, "close") == 0;
    free(connection);
    http_done(&answer);
    if (closes) {
        ck_assert(http_raw_is_closed(&raw));
    } else {
        http_raw_send_text(&raw, "GET /version HTTP/1.1\r\n" HOST "\r\n");
        answer = http_raw_answer(&raw, 0);
        ck_assert_int_eq(answer.status, 200);
        ck_assert_ptr_nonnull(strstr(answer.body, "\"commit\""));
        http_done(&answer);
    }
    http_raw_close(&raw);
    free(body);
}
END_TEST

START_TEST(curl_reads_the_refusal) {
    size_t size = sizes[_i / KINDS];
    static const char *const headers[KINDS] = {"Expect:", "Transfer-Encoding: chunked",
                                               "Expect: 100-continue"};
    const char *list[] = {headers[_i % KINDS], _i % KINDS == 1 ? "Expect:" : NULL, NULL};
    char *body = make_body(size);
    http_answer answer = http_send("POST", api_daemon.url, "/v1/attention", list, body, size);
    api_check_problem(&answer, 413, "body_too_large");
    http_done(&answer);
    free(body);
}
END_TEST

/* Python's http.client sends all and only then reads, and takes no error while it sends. */
START_TEST(python_reads_the_refusal) {
    static const char *const python = "/usr/bin/python3";
    static const char script[] =
        "import http.client, json, sys\n"
        "c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))\n"
        "size, chunked = int(sys.argv[2]), sys.argv[3] == 'chunked'\n"
        "body = b' ' * size\n"
        "c.request('POST', '/v1/attention', iter([body]) if chunked else body, encode_chunked=chunked,\n"
        "          headers={'Transfer-Encoding': 'chunked'} if chunked else {})\n"
        "r = c.getresponse()\n"
        "print(r.status, json.loads(r.read())['code'])\n";
    char port[16], size[32];
    snprintf(port, sizeof port, "%d", api_daemon.port);
    snprintf(size, sizeof size, "%zu", sizes[_i / 2]);
    process_result result = process_run(
        (const char *const[]){python, "-c", script, port, size, _i % 2 ? "chunked" : "plain", NULL}, NULL,
        NULL, 0);
    ck_assert_msg(result.code == 0, "%s", result.errors);
    ck_assert_str_eq(result.output, "413 body_too_large\n");
    process_result_done(&result);
}
END_TEST

ATTND_SUITE(refused_bodies) {
    Suite *suite = suite_create("refused_bodies");
    TCase *tests = api_case(suite, "refused_bodies");
    tcase_add_loop_test(tests, raw_clients_read_the_refusal, 0, SIZES * KINDS);
    tcase_add_loop_test(tests, curl_reads_the_refusal, 0, SIZES * KINDS);
    tcase_add_loop_test(tests, python_reads_the_refusal, 0, SIZES * 2);
    suite_add_tcase(suite, tests);
    return suite;
}
