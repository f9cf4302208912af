/* What takes too long is ended, and nobody else notices. */
#include "api.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HOST "Host: localhost\r\n"
#define POST "POST /v1/attention HTTP/1.1\r\n" HOST

static test_daemon hasty;

static void start(void) {
    daemon_start(&hasty,
                 (const char *const[]){"--workers", "1", "--headers-ms", "300", "--body-ms", "600",
                                       "--body-mebibyte-ms", "0", "--stalled-body-ms", "300",
                                       "--stalled-reader-ms", "300", "--idle-ms", "1200", "--swallow-ms",
                                       "300", "--max-body", "1MiB", NULL},
                 NULL);
}

static void stop(void) {
    daemon_stop(&hasty);
}

/* Sends the same piece, where there is one, again and again, until the daemon closes. */
static void dribble(http_raw *raw, const char *piece) {
    const struct timeval pause = {.tv_usec = 50000};
    setsockopt(raw->fd, SOL_SOCKET, SO_RCVTIMEO, &pause, sizeof pause);
    char byte;
    ssize_t got;
    while ((got = recv(raw->fd, &byte, 1, 0)) < 0 && piece && http_raw_send_text(raw, piece))
        continue;
    while (!piece && got < 0)
        got = recv(raw->fd, &byte, 1, 0);
    ck_assert_int_le(got, 0);
}

static void check_ended(const char *beginning, const char *piece) {
    http_raw raw;
    http_raw_open(&raw, hasty.port);
    http_raw_send_text(&raw, beginning);
    dribble(&raw, piece);
    http_raw_close(&raw);
    http_answer answer = http_get(hasty.url, "/livez");
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
}

static const struct {
    const char *beginning, *piece;
} slow[] = {
    {"GET /liv", NULL},
    {"G", "E"},
    {"GET /livez HTTP/1.1\r\n", NULL},
    {"GET /livez HTTP/1.1\r\n" HOST, "X-More: of it\r\n"},
    {POST "Content-Length: 100\r\n\r\n{", NULL},
    {POST "Content-Length: 100000\r\n\r\n{", " "},
    {POST "Transfer-Encoding: chunked\r\n\r\n1\r\n{", NULL},
    {POST "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
    {POST "Transfer-Encoding: chunked\r\n\r\n5", ";a=b"},
    {"", NULL},
};

START_TEST(slow_requests_are_ended) {
    check_ended(slow[_i].beginning, slow[_i].piece);
}
END_TEST

/* However long a body may take, its sender may not stop. */
START_TEST(stalled_bodies_are_ended) {
    test_daemon daemon;
    http_raw raw;
    daemon_start(&daemon, (const char *const[]){"--body-ms", "3600000", "--stalled-body-ms", "100", NULL},
                 NULL);
    http_raw_open(&raw, daemon.port);
    http_raw_send_text(&raw, POST "Content-Length: 100\r\n\r\n{");
    ck_assert(http_raw_is_closed(&raw));
    http_raw_close(&raw);
    daemon_stop(&daemon);
}
END_TEST

/* A declared length gives a body longer: it is still taken when a shorter one's time has run out. */
START_TEST(long_bodies_have_longer) {
    enum { LONG = 1 << 20 };
    test_daemon daemon;
    http_raw little, large;
    daemon_start(&daemon,
                 (const char *const[]){"--body-ms", "1", "--body-mebibyte-ms", "3600000", "--stalled-body-ms",
                                       "3600000", NULL},
                 NULL);
    char *rest = malloc(LONG), head[128];
    memset(rest, ' ', LONG);
    http_raw_open(&large, daemon.port);
    snprintf(head, sizeof head, POST "Content-Length: %d\r\n\r\n{\"inputs\":[[1,0,0,0]]}", LONG);
    http_raw_send_text(&large, head);
    http_raw_open(&little, daemon.port);
    http_raw_send_text(&little, POST "Content-Length: 1\r\n\r\n");
    ck_assert(http_raw_is_closed(&little));
    ck_assert(http_raw_send(&large, rest, LONG - strlen("{\"inputs\":[[1,0,0,0]]}")));
    http_answer answer = http_raw_answer(&large, 0);
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    http_done(&answer);
    http_raw_close(&large);
    http_raw_close(&little);
    free(rest);
    daemon_stop(&daemon);
}
END_TEST

/* Between two requests as well. */
START_TEST(idle_connections_are_ended) {
    http_raw raw;
    http_raw_open(&raw, hasty.port);
    for (int i = 0; i < 3; i++) {
        http_raw_send_text(&raw, "GET /livez HTTP/1.1\r\n" HOST "\r\n");
        http_answer answer = http_raw_answer(&raw, 0);
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
    }
    ck_assert(http_raw_is_closed(&raw));
    http_raw_close(&raw);
}
END_TEST

/* The time for headers runs on a connection that has been idle for a while, too. */
START_TEST(second_requests_are_ended) {
    test_daemon daemon;
    http_raw raw;
    daemon_start(&daemon, (const char *const[]){"--headers-ms", "300", "--idle-ms", "3600000", NULL}, NULL);
    http_raw_open(&raw, daemon.port);
    http_raw_send_text(&raw, "GET /livez HTTP/1.1\r\n" HOST "\r\n");
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    dribble(&raw, "G");
    http_raw_close(&raw);
    daemon_stop(&daemon);
}
END_TEST

/* An answer of some megabytes, of which nobody takes a byte. */
START_TEST(stalled_readers_are_ended) {
    enum { ROWS = 700 };
    http_raw raw;
    char *body = malloc(ROWS * 10 + 100), head[200];
    size_t used = (size_t)sprintf(body, "{\"inputs\":[");
    for (int i = 0; i < ROWS; i++)
        used += (size_t)sprintf(body + used, "%s[%d,0,1,3]", i ? "," : "", i % 10);
    used += (size_t)sprintf(body + used, "]}");
    snprintf(head, sizeof head, POST "Content-Length: %zu\r\n\r\n", used);
    http_raw_open(&raw, hasty.port);
    const int small = 4096;
    setsockopt(raw.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    http_raw_send_text(&raw, head);
    http_raw_send(&raw, body, used);
    static const char counter[] = "attnd_connections_ended_total{reason=\"reader_deadline\"} ";
    for (bool ended = false; !ended;) {
        http_answer answer = http_get(hasty.url, "/metrics");
        const char *found = strstr(answer.body, "reader_deadline\"} ");
        ck_assert_msg(found, "%s in %s", counter, answer.body);
        ended = strtol(strchr(found, ' '), NULL, 10) > 0;
        http_done(&answer);
    }
    http_raw_close(&raw);
    free(body);
}
END_TEST

/* A refused body that does not end within its time: the refusal is the connection's last word. */
START_TEST(swallowing_has_an_end) {
    http_raw raw;
    char piece[4096];
    memset(piece, ' ', sizeof piece);
    http_raw_open(&raw, hasty.port);
    http_raw_send_text(&raw, "POST /nothing HTTP/1.1\r\n" HOST "Content-Length: 60000000\r\n\r\n");
    const struct timeval pause = {.tv_usec = 20000};
    setsockopt(raw.fd, SOL_SOCKET, SO_RCVTIMEO, &pause, sizeof pause);
    char first;
    while (recv(raw.fd, &first, 1, MSG_PEEK) < 0)
        ck_assert(http_raw_send(&raw, piece, sizeof piece));
    http_answer answer = http_raw_answer(&raw, 0);
    api_check_problem(&answer, 404, "not_found");
    http_done(&answer);
    http_raw_close(&raw);
}
END_TEST

/* Slowloris: 200 connections that dribble, and others are answered meanwhile. */
START_TEST(dribblers_disturb_nobody) {
    enum { COUNT = 200 };
    static http_raw raws[COUNT];
    for (int i = 0; i < COUNT; i++) {
        http_raw_open(&raws[i], hasty.port);
        http_raw_send_text(&raws[i], i % 2 ? "GET /livez HTTP/1.1\r\n" : POST "Content-Length: 9999\r\n\r\n");
    }
    int open = COUNT;
    while (open > 0) {
        http_answer answer = http_post(hasty.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]]}");
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
        open = 0;
        for (int i = 0; i < COUNT; i++) {
            char byte;
            ssize_t got = recv(raws[i].fd, &byte, 1, MSG_DONTWAIT);
            ck_assert_int_le(got, 0);
            bool is_open = got < 0 && send(raws[i].fd, i % 2 ? "X" : " ", 1, MSG_NOSIGNAL) == 1;
            open += is_open;
        }
    }
    for (int i = 0; i < COUNT; i++)
        http_raw_close(&raws[i]);
}
END_TEST

ATTND_SUITE(deadlines) {
    Suite *suite = suite_create("deadlines");
    TCase *tests = tcase_create("deadlines");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_loop_test(tests, slow_requests_are_ended, 0, (int)(sizeof slow / sizeof *slow));
    tcase_add_test(tests, long_bodies_have_longer);
    tcase_add_test(tests, stalled_bodies_are_ended);
    tcase_add_test(tests, idle_connections_are_ended);
    tcase_add_test(tests, second_requests_are_ended);
    tcase_add_test(tests, stalled_readers_are_ended);
    tcase_add_test(tests, swallowing_has_an_end);
    tcase_add_test(tests, dribblers_disturb_nobody);
    suite_add_tcase(suite, tests);
    return suite;
}
