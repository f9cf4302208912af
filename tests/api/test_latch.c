/* With all workers held: the HTTP threads go on answering, bodies go on arriving, and what leaves or is late is let go.
 */
#include "api.h"
#include "latched.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST "Host: localhost\r\n"
#define X "{\"inputs\":[[1,0,0,0]]}"

static latched held;

static void start(void) {
    latched_start(&held,
                  (const char *const[]){"--workers", "2", "--max-waiting", "4", "--max-body", "16MiB", NULL});
}

static void stop(void) {
    latched_stop(&held);
}

static void post(http_raw *raw, const char *body) {
    char head[256];
    snprintf(head, sizeof head, "POST /v1/attention HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n",
             strlen(body));
    http_raw_open(raw, held.daemon.port);
    http_raw_send_text(raw, head);
    http_raw_send_text(raw, body);
}

/* A number of /metrics. */
static double sample(const char *name) {
    http_answer answer = http_get(held.daemon.url, "/metrics");
    ck_assert_int_eq(answer.status, 200);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\n%s ", name);
    const char *found = strstr(answer.body, wanted);
    double value = found ? strtod(found + strlen(wanted), NULL) : 0;
    http_done(&answer);
    return value;
}

static void await_sample(const char *name, double value) {
    while (sample(name) != value)
        usleep(1000);
}

static void expect(http_raw *raw, long status, const char *code) {
    http_answer answer = http_raw_answer(raw, 0);
    ck_assert_msg(answer.status == status, "%ld: %s", answer.status, answer.body);
    if (code) api_check_problem(&answer, status, code);
    http_done(&answer);
    http_raw_close(raw);
}

static void check_at_once(const char *method, const char *path, const char *header, const char *body,
                          long status) {
    http_answer answer = http_send(method, held.daemon.url, path, (const char *const[]){header, NULL}, body,
                                   body ? strlen(body) : 0);
    ck_assert_msg(answer.status == status, "%s %s: %ld", method, path, answer.status);
    http_done(&answer);
}

START_TEST(http_goes_on_while_workers_are_held) {
    enum { SIZE = 12 << 20, RUNNING = 6 };
    http_raw running[RUNNING], big, refused;
    for (int i = 0; i < RUNNING - 1; i++)
        post(&running[i], X);
    await_sample("attnd_requests_waiting", RUNNING - 3);

    check_at_once("GET", "/livez", NULL, NULL, 200);
    check_at_once("GET", "/v1/models", NULL, NULL, 200);
    check_at_once("GET", "/nothing", NULL, NULL, 404);
    check_at_once("OPTIONS", "/v1/attention", "Origin: http://localhost:1", NULL, 204);
    http_raw_open(&refused, held.daemon.port);
    http_raw_send_text(&refused, "POST /v1/attention HTTP/1.1\r\n" HOST
                                 "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
    expect(&refused, 413, "body_too_large");

    /* Far more than any socket's buffer: it is all taken although nobody can begin with it. */
    char *body = malloc(SIZE + 1);
    memset(body, ' ', SIZE);
    memcpy(body, X, strlen(X));
    body[SIZE] = '\0';
    post(&big, body);
    running[RUNNING - 1] = big;
    await_sample("attnd_requests_waiting", RUNNING - 2);
    free(body);

    /* Two run and four wait: one more is told to come back, before it sends its body. */
    http_raw_open(&refused, held.daemon.port);
    http_raw_send_text(&refused, "POST /v1/attention HTTP/1.1\r\n" HOST
                                 "Expect: 100-continue\r\nContent-Length: 22\r\n\r\n");
    http_answer answer = http_raw_answer(&refused, 0);
    api_check_problem(&answer, 503, "queue_full");
    char *seconds = http_header(&answer, "Retry-After");
    ck_assert(seconds && strtol(seconds, NULL, 10) >= 1 && strtol(seconds, NULL, 10) <= 30);
    free(seconds);
    http_done(&answer);
    http_raw_close(&refused);

    latched_open(&held);
    for (int i = 0; i < RUNNING; i++)
        expect(&running[i], 200, NULL);
}
END_TEST

START_TEST(late_requests_are_504) {
    http_raw late, patient;
    post(&late, "{\"inputs\":[[1,0,0,0]],\"timeout_ms\":1}");
    post(&patient, "{\"inputs\":[[1,0,0,0]],\"timeout_ms\":3600000}");
    await_sample("attnd_requests_in_flight", 2);
    usleep(2000);
    latched_open(&held);
    expect(&late, 504, "deadline");
    expect(&patient, 200, NULL);
}
END_TEST

/* A client that leaves, or ends its side, has no use for the answer. */
START_TEST(who_leaves_is_cancelled) {
    http_raw gone, half;
    post(&gone, X);
    post(&half, X);
    await_sample("attnd_requests_in_flight", 2);
    http_raw_close(&gone);
    shutdown(half.fd, SHUT_WR);
    /* The reaper looks ten times a second; only then may the workers go on. */
    usleep(400000);
    latched_open(&held);
    ck_assert(http_raw_is_closed(&half));
    http_raw_close(&half);
    await_sample("attnd_requests_in_flight", 0);
    await_sample("attnd_memory_reserved_bytes", 0);
    ck_assert_double_eq(
        sample("attnd_requests_total{route=\"/v1/attention\",method=\"POST\",status=\"200\"}"), 0);
}
END_TEST

/* The time of draining is over while the workers are held: what they have is told so as soon as they can tell. */
START_TEST(draining_has_an_end) {
    http_raw running;
    post(&running, X);
    await_sample("attnd_requests_in_flight", 1);
    process_signal(&held.daemon.process, SIGTERM);
    process_signal(&held.daemon.process, SIGINT);
    latched_open(&held);
    http_answer answer = http_raw_answer(&running, 0);
    ck_assert_msg(answer.status == 503 || answer.status == 200, "%ld: %s", answer.status, answer.body);
    http_done(&answer);
    http_raw_close(&running);
    int code = process_wait(&held.daemon.process);
    ck_assert_msg(code == 0 || code == 1, "%d", code);
    process_done(&held.daemon.process);
}
END_TEST

ATTND_SUITE(latch) {
    Suite *suite = suite_create("latch");
    TCase *tests = tcase_create("latch");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, http_goes_on_while_workers_are_held);
    tcase_add_test(tests, late_requests_are_504);
    tcase_add_test(tests, who_leaves_is_cancelled);
    suite_add_tcase(suite, tests);
    TCase *ends = tcase_create("latch_ends");
    tcase_set_timeout(ends, 120);
    tcase_add_checked_fixture(ends, start, NULL);
    tcase_add_test(ends, draining_has_an_end);
    suite_add_tcase(suite, ends);
    return suite;
}
