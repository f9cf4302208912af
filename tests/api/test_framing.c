/* Where requests begin and end: keep-alive stays in step whatever is refused, and doubtful framing is
 * refused. */
#include "api.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HOST "Host: localhost\r\n"
#define POST "POST /v1/attention HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n"

static const char good[] = "{\"inputs\":[[1,0,0,0]]}";

static void send_post(http_raw *raw, const char *type, const char *path, const char *body, size_t size) {
    char head[512];
    snprintf(head, sizeof head, "POST %s HTTP/1.1\r\n" HOST "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
             path, type, size);
    ck_assert(http_raw_send_text(raw, head));
    ck_assert(http_raw_send(raw, body, size));
}

static void expect(http_raw *raw, long status) {
    http_answer answer = http_raw_answer(raw, 0);
    ck_assert_msg(answer.status == status, "%ld, not %ld: %s", answer.status, status, answer.body);
    http_done(&answer);
}

/* A refused body is swallowed and never read as the next request: it holds one, to be sure. */
START_TEST(refusals_keep_step) {
    static const char inner[] = "GET /livez HTTP/1.1\r\n" HOST "\r\n";
    size_t size = 65536 + 4096;
    char *big = malloc(size);
    for (size_t i = 0; i < size; i++)
        big[i] = inner[i % (sizeof inner - 1)];
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    for (int round = 0; round < 3; round++) {
        send_post(&raw, "application/json", "/v1/attention", inner, sizeof inner - 1);
        expect(&raw, 400);
        send_post(&raw, "text/xml", "/v1/attention", inner, sizeof inner - 1);
        expect(&raw, 415);
        send_post(&raw, "application/json", "/nothing", inner, sizeof inner - 1);
        expect(&raw, 404);
        send_post(&raw, "application/json", "/livez", inner, sizeof inner - 1);
        expect(&raw, 405);
        send_post(&raw, "application/json", "/v1/attention", big, size);
        expect(&raw, 413);
        send_post(&raw, "application/json", "/v1/attention", good, sizeof good - 1);
        expect(&raw, 200);
    }
    http_raw_close(&raw);
    free(big);
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order) {
    char text[4096] = "";
    static const char *const bodies[] = {"{\"inputs\":[[1,0,0,0]]}", "{\"inputs\":[[1,0]]}",
                                         "{\"inputs\":[[0,1,0,0]]}"};
    for (size_t i = 0; i < 3; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, POST "Content-Length: %zu\r\n\r\n%s", strlen(bodies[i]),
                 bodies[i]);
    }
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, text);
    expect(&raw, 200);
    expect(&raw, 422);
    expect(&raw, 200);
    http_raw_close(&raw);
}
END_TEST

/* A body in a GET is passed over. */
START_TEST(body_of_a_get_is_swallowed) {
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, "GET /livez HTTP/1.1\r\n" HOST
                             "Content-Length: 5\r\n\r\nHELLOGET /version HTTP/1.1\r\n" HOST "\r\n");
    expect(&raw, 200);
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"commit\""));
    http_done(&answer);
    http_raw_close(&raw);
}
END_TEST

static const char *const doubtful[] = {
    POST "Content-Length: 22\r\nContent-Length: 23\r\n\r\n{\"inputs\":[[1,0,0,0]]}",
    POST "Content-Length: 22\r\nContent-Length: 22\r\n\r\n{\"inputs\":[[1,0,0,0]]}",
    POST "Content-Length: 22\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    POST "Transfer-Encoding: gzip\r\n\r\n",
    POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /v1/attention HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET /livez HTTP/1.1\r\n\r\n",
    "GET /livez HTTP/1.1\r\n" HOST HOST "\r\n",
    "GET http://localhost:80@elsewhere/livez HTTP/1.1\r\n" HOST "\r\n",
    "GET http:///livez HTTP/1.1\r\n" HOST "\r\n",
    "GET http://localhost:123456/livez HTTP/1.1\r\n" HOST "\r\n",
    "GET /livez HTTP/1.1\r\n" HOST "X: a\001b\r\n\r\n",
    "GET /livez HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n",
    "GET /\xff HTTP/1.1\r\n" HOST "\r\n",
    POST "Content-Length: abc\r\n\r\n",
    POST "Content-Length: -1\r\n\r\n",
    POST "Content-Length: 5, 5\r\n\r\nhello",
    POST "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
};

/* 400 and a close, so that nothing behind it can be taken for a request. */
START_TEST(doubtful_framing_is_400) {
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, doubtful[_i]);
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_msg(answer.status == 400, "%s\n%ld %s", doubtful[_i], answer.status, answer.body);
    /* Nobody has taken what follows for its body. */
    ck_assert_msg(!strstr(answer.body, "\"bad_json\""), "%s\n%s", doubtful[_i], answer.body);
    http_done(&answer);
    http_raw_close(&raw);
}
END_TEST

/* Headers that stand twice: the one that speaks against the request counts. */
START_TEST(doubled_headers_do_not_hide_each_other) {
    static const struct {
        const char *headers;
        long status;
    } doubled[] = {
        {"Content-Encoding: gzip\r\nContent-Encoding: identity\r\n", 400}, /* and the body is not gzip */
        {"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n", 400},
        {"Content-Encoding: identity\r\nContent-Encoding: br\r\n", 415},
        {"Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n", 415},
        {"Origin: http://elsewhere.example\r\nOrigin: http://localhost:1\r\n", 403},
        {"Origin: http://localhost:1\r\nOrigin: http://elsewhere.example\r\n", 403},
    };
    for (size_t i = 0; i < sizeof doubled / sizeof *doubled; i++) {
        http_raw raw;
        http_raw_open(&raw, api_daemon.port);
        http_raw_send_text(&raw, POST);
        http_raw_send_text(&raw, doubled[i].headers);
        http_raw_send_text(&raw, "Content-Length: 22\r\n\r\n");
        http_raw_send_text(&raw, good);
        expect(&raw, doubled[i].status);
        http_raw_close(&raw);
    }
}
END_TEST

/* The limit itself is accepted, one byte more is not. */
START_TEST(largest_body) {
    enum { LIMIT = 65536 };
    char *body = malloc(LIMIT + 1);
    ck_assert_ptr_nonnull(body);
    memset(body, ' ', LIMIT + 1);
    memcpy(body, good, sizeof good - 1);
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    send_post(&raw, "application/json", "/v1/attention", body, LIMIT);
    expect(&raw, 200);
    send_post(&raw, "application/json", "/v1/attention", body, LIMIT + 1);
    expect(&raw, 413);
    http_raw_close(&raw);
    free(body);
}
END_TEST

START_TEST(http_1_0_is_answered_and_closed) {
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, "GET /livez HTTP/1.0\r\n\r\n");
    expect(&raw, 200);
    ck_assert(http_raw_is_closed(&raw));
    http_raw_close(&raw);
}
END_TEST

START_TEST(expect_continue) {
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, POST "Content-Length: 22\r\nExpect: 100-continue\r\n\r\n");
    expect(&raw, 100);
    http_raw_send_text(&raw, good);
    expect(&raw, 200);
    /* Too large: refused before the body is sent. */
    http_raw_send_text(&raw, POST "Content-Length: 70000\r\nExpect: 100-continue\r\n\r\n");
    expect(&raw, 413);
    http_raw_close(&raw);
}
END_TEST

START_TEST(chunked_body_over_the_limit_is_413) {
    enum { PIECE = 4096, PIECES = 20 };
    http_raw raw;
    char piece[PIECE];
    memset(piece, ' ', sizeof piece);
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, POST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < PIECES; i++) {
        http_raw_send_text(&raw, "1000\r\n");
        http_raw_send(&raw, piece, PIECE);
        http_raw_send_text(&raw, "\r\n");
    }
    http_raw_send_text(&raw, "0\r\n\r\n");
    expect(&raw, 413);
    send_post(&raw, "application/json", "/v1/attention", good, sizeof good - 1);
    expect(&raw, 200);
    http_raw_close(&raw);
}
END_TEST

/* Clients that go away: in the headers, in the body, and while their answer is computed. */
START_TEST(disconnects_harm_nobody) {
    static const char *const parts[] = {"POST /v1/att", POST "Content-Length: 1000\r\n\r\n{\"inputs\":[[1,",
                                        POST "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"inp\r\n",
                                        POST "Content-Length: 22\r\n\r\n{\"inputs\":[[1,0,0,0]]}"};
    for (int i = 0; i < 40; i++) {
        http_raw raw;
        http_raw_open(&raw, api_daemon.port);
        http_raw_send_text(&raw, parts[i % 4]);
        if (i % 8 >= 4) {
            /* A reset instead of an orderly end. */
            const struct linger hard = {.l_onoff = 1};
            setsockopt(raw.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        }
        http_raw_close(&raw);
    }
    json_decref(api_ask(good));
}
END_TEST

ATTND_SUITE(framing) {
    Suite *suite = suite_create("framing");
    TCase *tests = api_case(suite, "framing");
    tcase_add_test(tests, refusals_keep_step);
    tcase_add_test(tests, pipelined_requests_are_answered_in_order);
    tcase_add_test(tests, body_of_a_get_is_swallowed);
    tcase_add_loop_test(tests, doubtful_framing_is_400, 0, (int)(sizeof doubtful / sizeof *doubtful));
    tcase_add_test(tests, doubled_headers_do_not_hide_each_other);
    tcase_add_test(tests, largest_body);
    tcase_add_test(tests, http_1_0_is_answered_and_closed);
    tcase_add_test(tests, expect_continue);
    tcase_add_test(tests, chunked_body_over_the_limit_is_413);
    tcase_add_test(tests, disconnects_harm_nobody);
    return suite;
}
