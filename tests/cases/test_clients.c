/* Clients that misbehave a little, and web pages. */
#include "cases.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20, SIZE = 2 << 20 };

static size_t resident(void) {
    char path[64];
    unsigned long long whole = 0, pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)case_daemon.process.pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu %llu", &whole, &pages), 2);
    fclose(file);
    return (size_t)pages * 4096;
}

static void check_refused(const char *headers, const char *before, const char *body, const char *after) {
    http_raw raw;
    http_raw_open(&raw, case_daemon.port);
    http_raw_send_text(&raw, "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\n");
    http_raw_send_text(&raw, headers);
    http_raw_send_text(&raw, before);
    http_raw_send(&raw, body, SIZE);
    http_raw_send_text(&raw, after);
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 413);
    json_t *problem = http_json(&answer);
    ck_assert_str_eq(json_string_value(json_at(problem, "/code")), "body_too_large");
    json_decref(problem);
    http_done(&answer);
    http_raw_close(&raw);
}

START_TEST(over_limit) {
    char *body = malloc(SIZE);
    memset(body, ' ', SIZE);
    /* AddressSanitizer keeps what was freed, which is no growth. */
    const char *const at_once[] = {"ASAN_OPTIONS=quarantine_size_mb=0:thread_local_quarantine_size_kb=0",
                                   NULL};
    daemon_start(&case_daemon, (const char *const[]){"--max-body", "1MiB", "--log-level", "error", NULL},
                 at_once);
    for (int round = 0; round < 8; round++) {
        check_refused("Content-Length: 2097152\r\n\r\n", "", body, "");
        check_refused("Transfer-Encoding: chunked\r\n\r\n", "200000\r\n", body, "\r\n0\r\n\r\n");
        check_refused("Content-Length: 2097152\r\nExpect: 100-continue\r\n\r\n", "", body, "");
        static size_t first;
        if (round == 0) first = resident();
        ck_assert_msg(resident() <= first + (size_t)4 * LIMIT, "%zu bytes, then %zu", first, resident());
    }
    daemon_stop(&case_daemon);
    free(body);
}
END_TEST

#define ORIGIN "http://localhost:3000"

static void check_readable(const char *method, const char *path, const char *body, size_t size, long status) {
    http_answer answer = http_send(
        method, case_daemon.url, path,
        (const char *const[]){"Origin: " ORIGIN, "Access-Control-Request-Method: POST", NULL}, body, size);
    ck_assert_msg(answer.status == status, "%s %s: %ld %s", method, path, answer.status, answer.body);
    char *allowed = http_header(&answer, "Access-Control-Allow-Origin");
    ck_assert_msg(allowed && strcmp(allowed, ORIGIN) == 0, "%s %s: %s", method, path, allowed);
    free(allowed);
    http_done(&answer);
}

START_TEST(preflight) {
    static const char good[] = "{\"inputs\":[[1,0,0,0]]}";
    char *big = malloc(SIZE);
    memset(big, ' ', SIZE);
    daemon_start(&case_daemon, (const char *const[]){"--max-body", "1MiB", "--drain-delay-ms", "60000", NULL},
                 NULL);
    check_readable("OPTIONS", "/v1/attention", NULL, 0, 204);
    check_readable("POST", "/v1/attention", good, sizeof good - 1, 200);
    check_readable("POST", "/v1/attention", "{", 1, 400);
    check_readable("POST", "/nothing", good, sizeof good - 1, 404);
    check_readable("POST", "/v1/attention", big, SIZE, 413);
    /* The end has begun once /readyz says so. */
    process_signal(&case_daemon.process, SIGTERM);
    for (long status = 200; status == 200;) {
        http_answer answer = http_get(case_daemon.url, "/readyz");
        status = answer.status;
        http_done(&answer);
    }
    check_readable("GET", "/readyz", NULL, 0, 503);
    check_readable("POST", "/v1/attention", good, sizeof good - 1, 200);
    daemon_stop(&case_daemon);
    free(big);
}
END_TEST

ATTND_SUITE(cases_clients) {
    Suite *suite = suite_create("cases_clients");
    case_add(suite, "over-limit", over_limit, false);
    case_add(suite, "preflight", preflight, false);
    return suite;
}
