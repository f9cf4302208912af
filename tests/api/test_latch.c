/* With all workers held: the HTTP threads go on answering, bodies go on arriving, and what
 * leaves or is late is let go. */
#include "api.h"
#include "latched.h"

#include "tests/support/temporary.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HOST "Host: localhost\r\n"
#define COUNTED(status) "attnd_requests_total{route=\"/v1/attention\",method=\"POST\",status=\"" status "\"}"
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
        continue;
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

/* What fits alone but not beside the others is told to come back, and is answered once they have gone. */
START_TEST(memory_that_others_hold_is_503) {
    enum { ROWS = 200, LIMIT = 4 << 20 };
    char body[ROWS * 6 + 100], plan[sizeof body + 20];
    size_t used = (size_t)snprintf(body, sizeof body, "{\"model\":\"plain\",\"inputs\":[[0]");
    for (int i = 1; i < ROWS; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, ",[%d]", i % 10);
    snprintf(body + used, sizeof body - used, "]}");
    snprintf(plan, sizeof plan, "%.*s],\"plan\":true}", (int)used, body);
    latched tight;
    latched_start(&tight, (const char *const[]){"--workers", "2", "--memory", "4MiB", NULL});
    http_answer answer = http_post(tight.daemon.url, "/v1/attention", plan);
    json_t *document = http_json(&answer);
    json_int_t need = json_integer_value(json_at(document, "/plan/bytes"));
    ck_assert_msg(need > LIMIT / 2 && need <= LIMIT, "%lld of %d bytes", (long long)need, LIMIT);
    json_decref(document);
    http_done(&answer);

    http_raw raws[2];
    for (int i = 0; i < 2; i++) {
        char head[160];
        snprintf(head, sizeof head, "POST /v1/attention HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n",
                 strlen(body));
        http_raw_open(&raws[i], tight.daemon.port);
        http_raw_send_text(&raws[i], head);
        http_raw_send_text(&raws[i], body);
    }
    /* One of them holds its memory while the latch is shut; the other is refused, whichever came first. */
    struct pollfd events[] = {{.fd = raws[0].fd, .events = POLLIN}, {.fd = raws[1].fd, .events = POLLIN}};
    ck_assert_int_eq(poll(events, 2, -1), 1);
    int refused = events[0].revents & POLLIN ? 0 : 1;
    answer = http_raw_answer(&raws[refused], 0);
    api_check_problem(&answer, 503, "memory_taken");
    char *seconds = http_header(&answer, "Retry-After");
    ck_assert(seconds && strtol(seconds, NULL, 10) >= 1);
    free(seconds);
    http_done(&answer);
    latched_open(&tight);
    expect(&raws[1 - refused], 200, NULL);
    http_raw_send_text(&raws[refused], "POST /v1/attention HTTP/1.1\r\n" HOST "Content-Length: 22\r\n\r\n" X);
    expect(&raws[refused], 200, NULL);
    latched_stop(&tight);
}
END_TEST

START_TEST(late_requests_are_504) {
    http_raw late, patient;
    post(&late, "{\"inputs\":[[1,0,0,0]],\"timeout_ms\":1}");
    post(&patient, "{\"inputs\":[[1,0,0,0]],\"timeout_ms\":3600000}");
    /* Its millisecond is over while a worker holds it, or before one could begin to be held. */
    while (sample("attnd_requests_stopped") + sample(COUNTED("504")) != 1)
        continue;
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
    await_sample("attnd_requests_stopped", 2);
    latched_open(&held);
    ck_assert(http_raw_is_closed(&half));
    http_raw_close(&half);
    await_sample("attnd_requests_in_flight", 0);
    await_sample("attnd_memory_reserved_bytes", 0);
    await_sample("attnd_requests_stopped", 0);
    ck_assert_double_eq(sample(COUNTED("200")), 0);
}
END_TEST

/* In the middle of a body whose numbers are read as they come: what they took is back at once. */
START_TEST(who_leaves_in_mid_body_is_forgotten) {
    enum { SIZE = 4 << 20 };
    http_raw raw;
    char *body = malloc(SIZE + 1);
    memset(body, '1', SIZE);
    for (size_t i = 1; i < SIZE; i += 2)
        body[i] = ',';
    memcpy(body, "{\"inputs\":[[1,", 14);
    body[SIZE] = '\0';
    http_raw_open(&raw, held.daemon.port);
    http_raw_send_text(&raw, "POST /v1/attention HTTP/1.1\r\n" HOST "Content-Length: 16000000\r\n\r\n");
    http_raw_send(&raw, body, SIZE);
    /* Two million numbers, four bytes each. */
    while (sample("attnd_memory_reserved_bytes") < 8000000)
        continue;
    http_raw_close(&raw);
    await_sample("attnd_memory_reserved_bytes", 0);
    await_sample("attnd_requests_in_flight", 0);
    free(body);
}
END_TEST

/* Reads what the daemon has logged until the text stands there. */
static void await_log(const char *text) {
    bool found = false;
    while (!found) {
        char *log = process_errors(&held.daemon.process);
        found = strstr(log, text) != NULL;
        free(log);
    }
}

/* The stopped request's answer, then the daemon's exit code. */
static void expect_stopped(http_raw *running, int code) {
    latched_open(&held);
    expect(running, 503, "draining");
    ck_assert_int_eq(process_wait(&held.daemon.process), code);
    process_done(&held.daemon.process);
    temporary_remove(held.folder);
}

/* The time of draining is over while the workers are held: what they have is stopped and told so. */
START_TEST(draining_has_an_end) {
    http_raw running;
    latched_start(&held, (const char *const[]){"--workers", "2", "--drain", "0", NULL});
    post(&running, X);
    await_sample("attnd_requests_in_flight", 1);
    process_signal(&held.daemon.process, SIGTERM);
    await_log("the time is over; 1 requests were stopped");
    expect_stopped(&running, 0);
}
END_TEST

/* A body that is whole only when the waiting is over: nobody begins with it, and it is told so. */
START_TEST(a_second_signal_does_not_wait) {
    http_raw running, late;
    latched_start(&held, (const char *const[]){"--workers", "2", "--drain", "3600", NULL});
    post(&running, X);
    http_raw_open(&late, held.daemon.port);
    http_raw_send_text(&late, "POST /v1/attention HTTP/1.1\r\n" HOST "Content-Length: 22\r\n\r\n");
    await_sample("attnd_requests_in_flight", 2);
    process_signal(&held.daemon.process, SIGTERM);
    await_log("answering what has been accepted");
    process_signal(&held.daemon.process, SIGTERM);
    await_log("a second signal; 1 requests were stopped");
    http_raw_send_text(&late, X);
    expect(&late, 503, "draining");
    expect_stopped(&running, 1);
}
END_TEST

ATTND_SUITE(latch) {
    Suite *suite = suite_create("latch");
    TCase *tests = tcase_create("latch");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, http_goes_on_while_workers_are_held);
    tcase_add_test(tests, late_requests_are_504);
    tcase_add_test(tests, who_leaves_is_cancelled);
    tcase_add_test(tests, who_leaves_in_mid_body_is_forgotten);
    suite_add_tcase(suite, tests);
    TCase *ends = tcase_create("latch_ends");
    tcase_add_test(ends, memory_that_others_hold_is_503);
    tcase_add_test(ends, draining_has_an_end);
    tcase_add_test(ends, a_second_signal_does_not_wait);
    suite_add_tcase(suite, ends);
    return suite;
}
