/* GET /metrics: a page that scrapers read, whose counters move by exactly what was sent. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

/* The value of one sample, named with its labels; 0 where the page does not have it. */
static double sample_of(const char *page, const char *name) {
    size_t length = strlen(name);
    for (const char *line = page; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ') return strtod(line + length, NULL);
    }
    return 0;
}

static double sample(const char *name) {
    http_answer answer = http_get(api_daemon.url, "/metrics");
    ck_assert_int_eq(answer.status, 200);
    double value = sample_of(answer.body, name);
    http_done(&answer);
    return value;
}

static bool is_name(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9')) return false;
    }
    return length > 0;
}

/* The labels of a sample, from behind '{'; what follows '}'. */
static const char *skip_labels(const char *at) {
    while (*at != '}') {
        size_t length = strcspn(at, "=");
        ck_assert_msg(is_name(at, length) && at[length + 1] == '"', "label at %.40s", at);
        at += length + 2;
        while (*at && *at != '"' && *at != '\n')
            at += *at == '\\' ? 2 : 1;
        ck_assert_msg(*at == '"', "label at %.40s", at);
        at++;
        at += *at == ',';
    }
    return at + 1;
}

/* Every line is HELP, TYPE or a sample of the family that the last TYPE began. */
START_TEST(page_is_prometheus_text) {
    http_answer answer = http_get(api_daemon.url, "/metrics");
    api_check_header(&answer, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    ck_assert_int_eq(answer.body[answer.size - 1], '\n');
    char family[128] = "";
    for (char *line = strtok(answer.body, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "# HELP ", 7) == 0) continue;
        if (strncmp(line, "# TYPE ", 7) == 0) {
            char kind[32];
            ck_assert_int_eq(sscanf(line, "# TYPE %127s %31s", family, kind), 2);
            ck_assert_msg(!strcmp(kind, "counter") || !strcmp(kind, "gauge") || !strcmp(kind, "histogram"),
                          "%s", line);
            continue;
        }
        size_t length = strcspn(line, "{ ");
        ck_assert_msg(is_name(line, length), "%s", line);
        ck_assert_msg(strncmp(line, family, strlen(family)) == 0, "%s within %s", line, family);
        const char *value = line[length] == '{' ? skip_labels(line + length + 1) : line + length;
        char *end;
        ck_assert_msg(*value == ' ', "%s", line);
        strtod(value, &end);
        ck_assert_msg(*end == '\0' && end > value + 1, "%s", line);
    }
    http_done(&answer);
}
END_TEST

#define COUNT(route, method, status)                                                                         \
    "attnd_requests_total{route=\"" route "\",method=\"" method "\",status=\"" status "\"}"

static const struct {
    const char *method, *path, *body;
    const char *counter;
    bool computes;
} sent[] = {
    {"POST", "/v1/attention", "{\"inputs\":[[1,0,0,0]]}", COUNT("/v1/attention", "POST", "200"), true},
    {"POST", "/v1/attention", "{\"inputs\":[[1,0,0]]}", COUNT("/v1/attention", "POST", "422"), false},
    {"POST", "/v1/attention", "{", COUNT("/v1/attention", "POST", "400"), false},
    {"GET", "/livez", NULL, COUNT("/livez", "GET", "200"), false},
    {"GET", "/v1/models/tiny/example", NULL, COUNT("/v1/models/{model}/example", "GET", "200"), false},
    {"GET", "/v1/models/none/example", NULL, COUNT("/v1/models/{model}/example", "GET", "404"), false},
    {"GET", "/nothing/\"quoted\"", NULL, COUNT("none", "GET", "404"), false},
    {"BREW", "/livez", NULL, COUNT("/livez", "other", "405"), false},
};

START_TEST(counters_move_by_what_was_sent) {
    enum { TIMES = 3 };
    static const char computed[] = "attnd_stage_seconds_count{stage=\"compute\"}",
                      parsed[] = "attnd_stage_seconds_count{stage=\"parse\"}";
    double before = sample(sent[_i].counter), computed_before = sample(computed),
           parsed_before = sample(parsed);
    for (int i = 0; i < TIMES; i++) {
        const char *body = sent[_i].body;
        http_answer answer =
            http_send(sent[_i].method, api_daemon.url, sent[_i].path, NULL, body, body ? strlen(body) : 0);
        http_done(&answer);
    }
    ck_assert_double_eq(sample(sent[_i].counter) - before, TIMES);
    ck_assert_double_eq(sample(computed) - computed_before, sent[_i].computes ? TIMES : 0);
    ck_assert_double_eq(sample(parsed) - parsed_before, sent[_i].body ? TIMES : 0);
}
END_TEST

START_TEST(page_counts_itself) {
    double before = sample(COUNT("/metrics", "GET", "200"));
    ck_assert_double_eq(sample(COUNT("/metrics", "GET", "200")), before + 1);
}
END_TEST

START_TEST(gauges_tell_the_moment_and_go_back) {
    static const char *const zero[] = {"attnd_requests_in_flight", "attnd_requests_waiting",
                                       "attnd_memory_reserved_bytes"};
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                             "Content-Length: 24\r\n\r\n");
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 100);
    http_done(&answer);
    ck_assert_double_eq(sample("attnd_requests_in_flight"), 1);
    ck_assert_double_ge(sample("attnd_memory_reserved_bytes"), 24 / 2); /* as the body will probably need */
    http_raw_send_text(&raw, "{\"inputs\":[[1,0,0,0]]}  ");
    answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    /* Over the same connection, so that the request before has ended for the daemon as well. */
    http_raw_send_text(&raw, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    answer = http_raw_answer(&raw, 0);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(strstr(answer.body, zero[i]));
        ck_assert_msg(sample_of(answer.body, zero[i]) == 0, "%s: %g", zero[i],
                      sample_of(answer.body, zero[i]));
    }
    ck_assert_double_ge(sample_of(answer.body, "attnd_connections"), 1);
    ck_assert_double_eq(sample_of(answer.body, "attnd_workers"), 2);
    ck_assert_double_eq(sample_of(answer.body, "attnd_models_ready"), 1);
    ck_assert_double_gt(sample_of(answer.body, "attnd_memory_limit_bytes"), 0);
    double high_water = sample_of(answer.body, "attnd_workspace_high_water_bytes");
    ck_assert_double_gt(high_water, 0);
    ck_assert_double_le(high_water, sample_of(answer.body, "attnd_memory_limit_bytes"));
    ck_assert_double_gt(sample_of(answer.body, "attnd_workspace_kept_bytes"), 0);
    ck_assert_double_gt(sample_of(answer.body, "process_resident_memory_bytes"), 1e6);
    ck_assert_double_gt(sample_of(answer.body, "process_start_time_seconds"), 1.7e9);
    http_done(&answer);
    http_raw_close(&raw);
}
END_TEST

/* Counts rise when the daemon has noticed, which is a moment after the client has left. */
static void await_count(const char *counter, double wanted) {
    while (sample(counter) < wanted) /* the test's own time limit ends this */
        continue;
    ck_assert_double_eq(sample(counter), wanted);
}

#define CUT(reason) "attnd_connections_cut_total{reason=\"" reason "\"}"

START_TEST(clients_that_leave_are_counted) {
    double before = sample(CUT("client_gone"));
    for (int i = 1; i <= 3; i++) {
        http_raw raw;
        http_raw_open(&raw, api_daemon.port);
        http_raw_send_text(
            &raw, "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Length: 24\r\n\r\n{\"inp");
        http_raw_close(&raw);
        await_count(CUT("client_gone"), before + i);
    }
    ck_assert_double_eq(sample("attnd_memory_reserved_bytes"), 0);
}
END_TEST

START_TEST(deadlines_are_counted) {
    static const struct {
        const char *bytes, *counter;
    } slow[] = {
        {"GET /livez HTTP/1.1\r\nHost: lo", CUT("header_deadline")},
        {"GET /li", CUT("header_deadline")},
        {"POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Length: 24\r\n\r\n{",
         CUT("body_deadline")},
    };
    test_daemon daemon, shared = api_daemon;
    daemon_start(&daemon, (const char *const[]){"--headers-ms", "100", "--stalled-body-ms", "100", NULL},
                 NULL);
    api_daemon = daemon; /* whose page is read */
    http_raw raw;
    http_raw_open(&raw, daemon.port);
    http_raw_send_text(&raw, slow[_i].bytes);
    ck_assert(http_raw_is_closed(&raw));
    await_count(slow[_i].counter, 1);
    /* Logged too, where there was a request line. */
    char *log = process_errors(&daemon.process);
    ck_assert_msg((strstr(log, " end=deadline ") != NULL) == (_i != 1), "%s", log);
    free(log);
    http_raw_close(&raw);
    daemon_stop(&daemon);
    api_daemon = shared;
}
END_TEST

/* Many at once, half of them wrong: each is counted once, and nothing is held afterwards. */
START_TEST(load_leaves_counts_and_nothing_else) {
    enum { CLIENTS = 40 };
    static const char *const bodies[] = {"{\"inputs\":[[1,0,0,0],[0,1,0,0]]}", "{\"inputs\":[[1,0,0]]}"};
    static const char fine[] = COUNT("/v1/attention", "POST", "200"),
                      wrong[] = COUNT("/v1/attention", "POST", "422"),
                      full[] = COUNT("/v1/attention", "POST", "503");
    double fine_before = sample(fine), wrong_before = sample(wrong), full_before = sample(full);
    double counts[3] = {0};
    http_raw clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        http_raw_open(&clients[i], api_daemon.port);
    for (int i = 0; i < CLIENTS; i++) {
        char request[256];
        snprintf(request, sizeof request,
                 "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
                 strlen(bodies[i % 2]), bodies[i % 2]);
        http_raw_send_text(&clients[i], request);
    }
    for (int i = 0; i < CLIENTS; i++) {
        http_answer answer = http_raw_answer(&clients[i], 0);
        counts[answer.status == 200 ? 0 : answer.status == 422 ? 1 : 2]++;
        http_done(&answer);
        /* The next request on a connection begins when the one before has ended. */
        http_raw_send_text(&clients[i], "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        answer = http_raw_answer(&clients[i], 0);
        http_done(&answer);
    }
    ck_assert_double_eq(sample(fine) - fine_before, counts[0]);
    ck_assert_double_eq(sample(wrong) - wrong_before, counts[1]);
    ck_assert_double_eq(sample(full) - full_before, counts[2]);
    ck_assert_double_ge(sample("attnd_connections"), CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        http_raw_close(&clients[i]);
    ck_assert_double_eq(sample("attnd_requests_waiting"), 0);
    ck_assert_double_eq(sample("attnd_memory_reserved_bytes"), 0);
    ck_assert_double_eq(sample("attnd_requests_in_flight"), 0);
    while (sample("attnd_connections") > 1)
        continue;
}
END_TEST

/* How many of a log's lines hold this. */
static size_t lines_with(const char *log, const char *text) {
    size_t count = 0;
    for (const char *at = log; (at = strstr(at, text)); at += strlen(text))
        count++;
    return count;
}

START_TEST(what_clients_repeat_is_not_logged_forever) {
    enum { TIMES = 200 };
    test_daemon daemon;
    http_raw raw;
    daemon_start(&daemon, NULL, NULL);
    http_raw_open(&raw, daemon.port);
    for (int i = 0; i < TIMES; i++) {
        http_raw_send_text(&raw, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\nGET /version "
                                 "HTTP/1.1\r\nHost: localhost\r\n\r\n");
        for (int j = 0; j < 2; j++) {
            http_answer answer = http_raw_answer(&raw, 0);
            ck_assert_int_eq(answer.status, j ? 200 : 404);
            http_done(&answer);
        }
    }
    http_raw_close(&raw);
    process_signal(&daemon.process, 15);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    char *log = process_errors(&daemon.process);
    size_t told = 0;
    static const char suppressed[] = "suppressed of=request reason=not_found count=";
    for (const char *at = log; (at = strstr(at, suppressed)); at += strlen(suppressed))
        told += strtoul(at + strlen(suppressed), NULL, 10);
    ck_assert_uint_eq(lines_with(log, "route=/version status=200"), TIMES);
    ck_assert_uint_eq(lines_with(log, "status=404 code=not_found") + told, TIMES);
    ck_assert_uint_gt(told, 0);
    free(log);
    process_done(&daemon.process);
}
END_TEST

/* A request's line in the log, and none of a probe's unless asked for. */
START_TEST(probes_are_logged_at_debug_only) {
    static const char *const paths[] = {"/livez", "/readyz", "/healthz", "/metrics"};
    const char *level = _i ? "debug" : "info";
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--log-level", level, NULL}, NULL);
    for (size_t i = 0; i < 4; i++) {
        http_answer answer = http_get(daemon.url, paths[i]);
        http_done(&answer);
    }
    http_answer answer = http_get(daemon.url, "/version");
    http_done(&answer);
    process_signal(&daemon.process, 15);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    char *log = process_errors(&daemon.process);
    ck_assert_ptr_nonnull(strstr(log, "route=/version status=200"));
    for (size_t i = 0; i < 4; i++) {
        char line[64];
        snprintf(line, sizeof line, "route=%s status=200", paths[i]);
        ck_assert_msg((strstr(log, line) != NULL) == (_i != 0), "%s: %s", level, log);
    }
    free(log);
    process_done(&daemon.process);
}
END_TEST

ATTND_SUITE(metrics_page) {
    Suite *suite = suite_create("metrics_page");
    TCase *tests = api_case(suite, "metrics");
    tcase_add_test(tests, page_is_prometheus_text);
    tcase_add_loop_test(tests, counters_move_by_what_was_sent, 0, (int)(sizeof sent / sizeof *sent));
    tcase_add_test(tests, page_counts_itself);
    tcase_add_test(tests, gauges_tell_the_moment_and_go_back);
    tcase_add_test(tests, clients_that_leave_are_counted);
    tcase_add_loop_test(tests, deadlines_are_counted, 0, 3);
    tcase_add_test(tests, load_leaves_counts_and_nothing_else);
    tcase_add_test(tests, what_clients_repeat_is_not_logged_forever);
    tcase_add_loop_test(tests, probes_are_logged_at_debug_only, 0, 2);
    return suite;
}
