/* A daemon's life: start, refusal to start, and the end by SIGTERM in every state. */
#include "api.h"

#include "tests/support/temporary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(ends_when_idle) {
    test_daemon daemon;
    daemon_start(&daemon, NULL, NULL);
    daemon_stop(&daemon);
}
END_TEST

START_TEST(ends_with_open_connections) {
    test_daemon daemon;
    http_raw used, silent;
    daemon_start(&daemon, NULL, NULL);
    http_raw_open(&used, daemon.port);
    http_raw_open(&silent, daemon.port);
    http_raw_send_text(&used, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    http_answer answer = http_raw_answer(&used, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    daemon_stop(&daemon);
    ck_assert(http_raw_is_closed(&used));
    http_raw_close(&used);
    http_raw_close(&silent);
}
END_TEST

/* The port is open before the models are there; whether or not they are by now, the end is clean. */
START_TEST(ends_while_loading) {
    test_daemon daemon;
    daemon_start_unready(&daemon, NULL, NULL);
    daemon_stop(&daemon);
}
END_TEST

/* Until the models are there, requests are told to come back, and probes that look at life alone are answered. */
START_TEST(before_ready_is_503) {
    static const char body[] = "{\"inputs\":[[1,0,0,0]]}";
    test_daemon daemon;
    daemon_start_unready(&daemon, NULL, NULL);
    for (long status = 0; status != 200;) {
        http_answer answer = http_post(daemon.url, "/v1/attention", body);
        status = answer.status;
        if (status != 200) {
            api_check_problem(&answer, 503, "loading");
            char *retry = http_header(&answer, "Retry-After");
            ck_assert_msg(retry && strtol(retry, NULL, 10) > 0, "Retry-After: %s", retry);
            free(retry);
        }
        http_done(&answer);
        answer = http_get(daemon.url, "/livez");
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
    }
    http_answer answer = http_get(daemon.url, "/readyz");
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    daemon_stop(&daemon);
}
END_TEST

START_TEST(ends_by_sigint_too) {
    test_daemon daemon;
    daemon_start(&daemon, NULL, NULL);
    process_signal(&daemon.process, SIGINT);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    process_done(&daemon.process);
}
END_TEST

/* A request that runs for a while: 2 × 1024 positions through 'demo'. */
static char *long_request(size_t *size) {
    enum { ROWS = 1024, WIDTH = 512 };
    size_t capacity = (size_t)ROWS * WIDTH * 4 + 256, used = 0;
    char *body = malloc(capacity);
    ck_assert_ptr_nonnull(body);
    used +=
        (size_t)snprintf(body, capacity, "{\"model\":\"demo\",\"return\":{\"attention\":false},\"inputs\":[");
    for (int i = 0; i < ROWS; i++) {
        body[used++] = i ? ',' : ' ';
        body[used++] = '[';
        for (int j = 0; j < WIDTH; j++) {
            body[used++] = (char)('0' + (i * 7 + j) % 10);
            body[used++] = j + 1 < WIDTH ? ',' : ']';
        }
    }
    used += (size_t)snprintf(body + used, capacity - used, "]}");
    *size = used;
    return body;
}

/* Whatever the tests themselves run under: as started from a terminal, or under nohup. */
static void start_with_hangups(test_daemon *daemon, bool are_ignored) {
    void (*before)(int) = signal(SIGHUP, are_ignored ? SIG_IGN : SIG_DFL);
    daemon_start(daemon, (const char *const[]){"--drain", "3600", NULL}, NULL);
    signal(SIGHUP, before);
}

static void await_log(const test_daemon *daemon, const char *text) {
    bool is_there = false;
    while (!is_there) {
        char *log = process_errors(&daemon->process);
        is_there = strstr(log, text) != NULL;
        free(log);
    }
}

/* SIGTERM or SIGHUP when the request is known: it is answered, then the daemon ends. A terminal that closes hangs up more
 * than once, which hastens nothing. */
START_TEST(ends_after_the_running_request) {
    const bool hangs_up = _i == 1;
    test_daemon daemon;
    http_raw raw;
    size_t size;
    char head[200], *body = long_request(&size);
    start_with_hangups(&daemon, false);
    http_raw_open(&raw, daemon.port);
    snprintf(head, sizeof head,
             "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: "
             "%zu\r\n\r\n",
             size);
    http_raw_send_text(&raw, head);
    /* 100 says that the daemon knows of this request. */
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 100);
    http_done(&answer);
    ck_assert(http_raw_send(&raw, body, size - 1));
    process_signal(&daemon.process, hangs_up ? SIGHUP : SIGTERM);
    if (hangs_up) {
        await_log(&daemon, " drain ");
        process_signal(&daemon.process, SIGHUP);
    }
    ck_assert(http_raw_send(&raw, body + size - 1, 1));
    answer = http_raw_answer(&raw, 0);
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    json_decref(http_json(&answer));
    http_done(&answer);
    ck_assert(http_raw_is_closed(&raw));
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    process_done(&daemon.process);
    http_raw_close(&raw);
    free(body);
}
END_TEST

/* Started with hangups ignored, the daemon leaves them so: bit 0 of the mask that the system shows. */
START_TEST(nohup_is_heeded) {
    test_daemon daemon;
    char path[64], line[128];
    unsigned long long ignored = 0;
    start_with_hangups(&daemon, _i == 1);
    snprintf(path, sizeof path, "/proc/%d/status", (int)daemon.process.pid);
    FILE *status = fopen(path, "r");
    ck_assert_ptr_nonnull(status);
    bool is_told = false;
    while (!is_told && fgets(line, sizeof line, status))
        is_told = sscanf(line, "SigIgn: %llx", &ignored) == 1;
    fclose(status);
    ck_assert(is_told);
    ck_assert_int_eq((int)(ignored & 1), _i);
    daemon_stop(&daemon);
}
END_TEST

/* What has arrived before SIGTERM is answered, though nobody may have looked at it by then. */
START_TEST(answers_what_has_arrived) {
    enum { CLIENTS = 100 };
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    test_daemon daemon;
    http_raw clients[CLIENTS];
    daemon_start(&daemon, (const char *const[]){"--drain", "3600", NULL}, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        http_raw_open(&clients[i], daemon.port);
        http_raw_send_text(&clients[i], request);
        http_answer answer = http_raw_answer(&clients[i], 0);
        http_done(&answer);
    }
    for (int i = 0; i < CLIENTS; i++)
        http_raw_send_text(&clients[i], request);
    process_signal(&daemon.process, SIGTERM);
    for (int i = 0; i < CLIENTS; i++) {
        http_answer answer = http_raw_answer(&clients[i], 0);
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
        ck_assert(http_raw_is_closed(&clients[i]));
        http_raw_close(&clients[i]);
    }
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    process_done(&daemon.process);
}
END_TEST

/* The log's form and level are what was asked for, one object a line. */
START_TEST(log_lines_are_json) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--log-format", "json", NULL}, NULL);
    http_answer answer = http_send("POST", daemon.url, "/v1/attention",
                                   (const char *const[]){"X-Request-Id: a\"b\\", NULL}, "{}", 2);
    ck_assert_int_eq(answer.status, 422);
    http_done(&answer);
    process_signal(&daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    char *log = process_errors(&daemon.process), *rest = log, *line;
    bool told = false;
    while ((line = strsep(&rest, "\n")) && *line) {
        json_t *entry = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(json_is_object(entry), "%s", line);
        const char *id = json_string_value(json_object_get(entry, "id"));
        told |=
            id && strcmp(id, "a\"b\\") == 0 && json_integer_value(json_object_get(entry, "status")) == 422;
        json_decref(entry);
    }
    ck_assert_msg(told, "the request is not logged with its id and status");
    free(log);
    process_done(&daemon.process);
}
END_TEST

START_TEST(error_level_is_silent) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--log-level", "error", NULL}, NULL);
    http_answer answer = http_get(daemon.url, "/nothing");
    http_done(&answer);
    process_signal(&daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    char *log = process_errors(&daemon.process);
    ck_assert_str_eq(log, "");
    free(log);
    process_done(&daemon.process);
}
END_TEST

/* The operator's limit of time, for who sets none or a longer one. */
START_TEST(compute_limit_is_504) {
    static const char *const paths[] = {"/v1/attention", "/v1/attention?timeout_ms=100000"};
    test_daemon daemon;
    size_t size;
    char *body = long_request(&size);
    daemon_start(&daemon, (const char *const[]){"--compute-ms", "1", NULL}, NULL);
    for (size_t i = 0; i < 2; i++) {
        http_answer answer = http_post(daemon.url, paths[i], body);
        api_check_problem(&answer, 504, "deadline");
        ck_assert_msg(strstr(answer.body, "the 1 ms of the setting timeouts.compute_ms are over"), "%s",
                      answer.body);
        http_done(&answer);
    }
    daemon_stop(&daemon);
    free(body);
}
END_TEST

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

START_TEST(taken_port_is_one_clear_line) {
    test_daemon daemon;
    daemon_start(&daemon, NULL, NULL);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", daemon.port);
    const char *argv[] = {process_attnd(), "serve", "--log-level", "error", "--listen", address, NULL};
    process_result result = process_run(argv, NULL, NULL, 0);
    ck_assert_int_eq(result.code, 1);
    ck_assert_msg(count_lines(result.errors) == 1 && strstr(result.errors, address), "%s", result.errors);
    ck_assert_str_eq(result.output, "");
    process_result_done(&result);
    daemon_stop(&daemon);
}
END_TEST

/* An IPv6 address that this machine does not have (RFC 3849's are nobody's) is a warning beside another one, since many
 * machines have none; alone it is fatal, and so is an IPv4 address (RFC 5737's) in any company. */
START_TEST(missing_address_is_a_warning) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--listen", "[2001:db8::1]:0", NULL}, NULL);
    char *log = process_errors(&daemon.process);
    ck_assert_msg(strstr(log, " warning listen ") && strstr(log, "going on without it"), "%s", log);
    free(log);
    daemon_stop(&daemon);
    static const char *const alone[] = {"[2001:db8::1]:0", "127.0.0.1:0"}, *const with[] = {NULL,
                                                                                            "192.0.2.1:0"};
    for (size_t i = 0; i < 2; i++) {
        process_result result = process_run_attnd("serve", "--log-level", "error", "--listen", alone[i],
                                                  with[i] ? "--listen" : NULL, with[i], NULL);
        ck_assert_int_eq(result.code, 1);
        ck_assert_uint_eq(count_lines(result.errors), 1);
        ck_assert_str_eq(result.output, "");
        process_result_done(&result);
    }
}
END_TEST

START_TEST(every_wrong_setting_is_told) {
    process_result result = daemon_refused((const char *const[]){"--wrokers", "2", "--max-body=0", NULL},
                                           (const char *const[]){"ATTND_WORKERS=x", NULL});
    ck_assert_int_eq(result.code, 2);
    ck_assert_msg(
        strstr(result.errors, "--workers") && strstr(result.errors, "--max-body") &&
            strstr(result.errors, "environment ATTND_WORKERS: 'x' is not a whole number from 0 to 1024"),
        "%s", result.errors);
    ck_assert_uint_eq(count_lines(result.errors), 3);
    process_result_done(&result);
}
END_TEST

START_TEST(missing_model_is_told) {
    process_result result = daemon_refused(
        (const char *const[]){"--log-level", "error", "--model", "mine=/nonexistent.safetensors", NULL},
        NULL);
    ck_assert_int_eq(result.code, 2);
    ck_assert_msg(strstr(result.errors, "/nonexistent.safetensors"), "%s", result.errors);
    ck_assert_uint_eq(count_lines(result.errors), 1);
    process_result_done(&result);
}
END_TEST

/* Runs a daemon whose hard limit of descriptors is so, up to its readiness and the end; what it has logged. */
static char *log_with_descriptors(const char *limit, const char *connections) {
    static const char script[] =
        "ulimit -n \"$1\" && exec \"$0\" serve --listen 127.0.0.1:0 --max-connections \"$2\"";
    process running;
    char line[256];
    process_start(&running,
                  (const char *const[]){"/bin/sh", "-c", script, process_attnd(), limit, connections, NULL},
                  NULL, NULL, 0);
    do
        ck_assert_ptr_nonnull(fgets(line, sizeof line, running.output));
    while (strcmp(line, "ready\n") != 0);
    process_signal(&running, SIGTERM);
    ck_assert_int_eq(process_wait(&running), 0);
    char *log = process_errors(&running);
    process_done(&running);
    return log;
}

/* Where the system does not give what so many connections need, the daemon starts all the same and says so. */
START_TEST(too_few_descriptors_are_told) {
    static const char told[] = "4000 connections would need 4192 descriptors; the system gives 300";
    char *log = log_with_descriptors("300", "4000");
    ck_assert_msg(strstr(log, " warning descriptors ") && strstr(log, told), "%s", log);
    free(log);
    log = log_with_descriptors("300", "100");
    ck_assert_msg(!strstr(log, " descriptors "), "%s", log);
    free(log);
}
END_TEST

/* One settings file, the environment and flags, as an operator mixes them. */
START_TEST(settings_reach_the_daemon) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "attnd.json");
    FILE *file = fopen(path, "w");
    fputs("{\"engine\":{\"workers\":3},\"limits\":{\"max_body\":16}}", file);
    ck_assert_int_eq(fclose(file), 0);
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--config", path, NULL},
                 (const char *const[]){"ATTND_WORKERS=1", NULL});
    http_answer answer = http_get(daemon.url, "/version");
    json_t *document = http_json(&answer);
    json_check_exact(document, "/workers", "1");
    json_decref(document);
    http_done(&answer);
    answer = http_post(daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]]}");
    ck_assert_int_eq(answer.status, 413);
    http_done(&answer);
    daemon_stop(&daemon);
    free(path);
    temporary_remove(folder);
}
END_TEST

/* What a request would hold is known before it is reserved. */
START_TEST(memory_limit_is_413) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--memory", "1MiB", NULL}, NULL);
    size_t size;
    char *body = malloc(100000);
    size = (size_t)snprintf(body, 100000, "{\"model\":\"plain\",\"inputs\":[[0]");
    for (int i = 0; i < 2000; i++)
        size += (size_t)snprintf(body + size, 100000 - size, ",[1]");
    snprintf(body + size, 100000 - size, "]}");
    http_answer answer = http_post(daemon.url, "/v1/attention", body);
    api_check_problem(&answer, 413, "needs_too_much_memory");
    http_done(&answer);
    /* Nothing of it is left taken. */
    for (int i = 0; i < 3; i++) {
        answer = http_post(daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]]}");
        ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
        http_done(&answer);
    }
    daemon_stop(&daemon);
    free(body);
}
END_TEST

/* Between the signal and the end of the delay requests are taken, but balancers are told. */
START_TEST(delayed_end_still_takes_requests) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--drain-delay-ms", "60000", NULL}, NULL);
    process_signal(&daemon.process, SIGTERM);
    http_answer answer = {0};
    do {
        http_done(&answer);
        answer = http_get(daemon.url, "/readyz");
    } while (answer.status == 200);
    api_check_problem(&answer, 503, "draining");
    http_done(&answer);
    answer = http_get(daemon.url, "/v2/health/ready");
    api_check_inference_problem(&answer, 503, "draining");
    http_done(&answer);
    answer = http_get(daemon.url, "/v2/health/live");
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    answer = http_post(daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]]}");
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    /* A second signal ends the wait. */
    daemon_stop(&daemon);
}
END_TEST

/* A body that does not end must not keep the daemon: neither beyond its time nor beyond a second signal. */
START_TEST(unfinished_request_does_not_keep_the_daemon) {
    test_daemon daemon;
    http_raw raw;
    daemon_start(&daemon, (const char *const[]){"--drain", _i == 0 ? "0" : "3600", NULL}, NULL);
    http_raw_open(&raw, daemon.port);
    http_raw_send_text(&raw, "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                             "Content-Length: 10\r\n\r\n");
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 100);
    http_done(&answer);
    /* Two alike that come at once may be taken as one. */
    if (_i == 1) process_signal(&daemon.process, SIGINT);
    daemon_stop(&daemon);
    http_raw_close(&raw);
}
END_TEST

ATTND_SUITE(life) {
    Suite *suite = suite_create("life");
    TCase *tests = tcase_create("life");
    tcase_add_test(tests, ends_when_idle);
    tcase_add_test(tests, ends_with_open_connections);
    tcase_add_test(tests, ends_while_loading);
    tcase_add_test(tests, before_ready_is_503);
    tcase_add_test(tests, ends_by_sigint_too);
    tcase_add_test(tests, log_lines_are_json);
    tcase_add_test(tests, error_level_is_silent);
    tcase_add_loop_test(tests, ends_after_the_running_request, 0, 2);
    tcase_add_loop_test(tests, nohup_is_heeded, 0, 2);
    tcase_add_test(tests, answers_what_has_arrived);
    tcase_add_test(tests, compute_limit_is_504);
    tcase_add_test(tests, taken_port_is_one_clear_line);
    tcase_add_test(tests, missing_address_is_a_warning);
    tcase_add_test(tests, every_wrong_setting_is_told);
    tcase_add_test(tests, missing_model_is_told);
    tcase_add_test(tests, too_few_descriptors_are_told);
    tcase_add_test(tests, settings_reach_the_daemon);
    tcase_add_test(tests, memory_limit_is_413);
    tcase_add_test(tests, delayed_end_still_takes_requests);
    tcase_add_loop_test(tests, unfinished_request_does_not_keep_the_daemon, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
