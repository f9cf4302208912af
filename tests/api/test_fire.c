/* Many at once: 500 requests, half of them wrong, and 2,000 connections that do nothing. What the process held before it
 * holds afterwards. */
#include "api.h"

#include "sanitized.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define HOST "Host: localhost\r\n"

static size_t resident(const test_daemon *daemon) {
    char path[64];
    unsigned long long whole = 0, pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)daemon->process.pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu %llu", &whole, &pages), 2);
    fclose(file);
    return (size_t)pages * 4096;
}

static size_t descriptors(const test_daemon *daemon) {
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon->process.pid);
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static const struct {
    const char *path, *header, *body;
    long status;
    bool may_wait; /* 503 is an answer too */
} mixed[] = {
    {"/v1/attention", NULL, "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"causal\":true}", 200, true},
    {"/v1/attention", NULL, "{\"inputs\":[[1,0,0]]}", 422, true},
    {"/v1/attention", NULL, "{\"model\":\"plain\",\"inputs\":[[1],[2],[3]]}", 200, true},
    {"/v1/attention", NULL, "{\"inputs\":", 400, true},
    {"/v1/attention", NULL, "{\"inputs\":[[[1,0,0,0]],[[1,1,1,1],[0,0,0,1]]]}", 200, true},
    {"/nothing", NULL, "{}", 404, false},
    {"/v1/attention", NULL, "{\"inputs\":[[0,0,0,1]],\"return\":{\"top_k\":1}}", 200, true},
    {"/v1/attention", "Content-Type: text/xml", "{}", 415, false},
    {"/v1/attention", "X-Request-Id: mine", "{\"inputs\":[[1,0,0,0]]}", 200, true},
    {"/livez", NULL, "{}", 405, false},
};
enum { MIXED = sizeof mixed / sizeof *mixed, REQUESTS = 500, CLIENTS = 50 };

typedef struct client {
    pthread_t thread;
    const test_daemon *daemon;
    int number;
    char wrong[256]; /* the first answer that must not be; empty: none */
} client;

/* Checks run on the test's own thread only, so a client reports in words. */
static void *ask(void *context) {
    client *c = context;
    for (int i = c->number; i < REQUESTS; i += CLIENTS) {
        const char *headers[] = {mixed[i % MIXED].header, NULL}, *body = mixed[i % MIXED].body;
        http_answer answer =
            http_send("POST", c->daemon->url, mixed[i % MIXED].path, headers, body, strlen(body));
        bool is_full = answer.status == 503 && mixed[i % MIXED].may_wait &&
                       strcasestr(answer.headers, "\r\nRetry-After: ");
        if (answer.status != mixed[i % MIXED].status && !is_full)
            snprintf(c->wrong, sizeof c->wrong, "%d: %ld %.200s", i, answer.status, answer.body);
        http_done(&answer);
    }
    return NULL;
}

static void fire(const test_daemon *daemon) {
    static client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (client){.daemon = daemon, .number = i};
        ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, ask, &clients[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_msg(clients[i].wrong[0] == '\0', "%s", clients[i].wrong);
}

/* Waits until the daemon has closed what its clients have left. */
static void await_connections(const test_daemon *daemon, long count) {
    for (long found = -1; found != count;) {
        http_answer answer = http_get(daemon->url, "/metrics");
        const char *line = strstr(answer.body, "\nattnd_connections ");
        ck_assert_ptr_nonnull(line);
        found = strtol(strchr(line, ' '), NULL, 10);
        http_done(&answer);
    }
}

START_TEST(mixed_requests_leave_nothing) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--workers", "2", "--log-level", "error", NULL}, NULL);
    fire(&daemon);
    await_connections(&daemon, 1);
    size_t before = resident(&daemon), open_before = descriptors(&daemon);
    fire(&daemon);
    fire(&daemon);
    await_connections(&daemon, 1);
    size_t after = resident(&daemon), open_after = descriptors(&daemon);
    ck_assert_msg(after <= before + ((size_t)16 << 20), "%zu bytes, then %zu", before, after);
    ck_assert_msg(open_after <= open_before + 1, "%zu descriptors, then %zu", open_before, open_after);
    daemon_stop(&daemon);
}
END_TEST

/* 256 positions through 'demo', eight heads' maps of them: megabytes at every stage. malloc'ed. */
static char *large_body(void) {
    enum { ROWS = 256, WIDTH = 512 };
    char *body = malloc(2 * ROWS * (WIDTH + 2) + 64), *at = body;
    ck_assert_ptr_nonnull(body);
    at += sprintf(at, "{\"model\":\"demo\",\"inputs\":[");
    for (int i = 0; i < ROWS * WIDTH; i++)
        at += sprintf(at, "%s%s%d%s", i == 0 ? "" : ",", i % WIDTH == 0 ? "[" : "", i % 7,
                      i % WIDTH == WIDTH - 1 ? "]" : "");
    sprintf(at, "]}");
    return body;
}

typedef struct large_client {
    pthread_t thread;
    const char *url, *body;
    long status;
} large_client;

static void *ask_large(void *context) {
    large_client *c = context;
    http_answer answer = http_post(c->url, "/v1/attention", c->body);
    c->status = answer.status;
    http_done(&answer);
    return NULL;
}

static void fire_large(const test_daemon *daemon, const char *body) {
    enum { COUNT = 8 };
    large_client clients[COUNT];
    for (int i = 0; i < COUNT; i++) {
        clients[i] = (large_client){.url = daemon->url, .body = body};
        ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, ask_large, &clients[i]), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        pthread_join(clients[i].thread, NULL);
        ck_assert_int_eq(clients[i].status, 200);
    }
}

/* What the engine keeps for the next requests, which it says and gives back after a while without any. */
static size_t kept(const test_daemon *daemon) {
    static const char name[] = "\nattnd_workspace_kept_bytes ";
    http_answer answer = http_get(daemon->url, "/metrics");
    const char *found = strstr(answer.body, name);
    ck_assert_ptr_nonnull(found);
    size_t bytes = (size_t)strtod(found + strlen(name), NULL);
    http_done(&answer);
    return bytes;
}

/* What large requests took goes back to the system, however many there were at a time. */
START_TEST(large_requests_leave_nothing) {
    test_daemon daemon;
    char *body = large_body();
    daemon_start(&daemon, (const char *const[]){"--workers", "2", NULL}, NULL);
    fire(&daemon);
    await_connections(&daemon, 1);
    size_t before = resident(&daemon) - kept(&daemon);
    for (int i = 0; i < 3; i++)
        fire_large(&daemon, body);
    await_connections(&daemon, 1);
    size_t after = resident(&daemon) - kept(&daemon);
    ck_assert_msg(IS_SANITIZED || after <= before + ((size_t)16 << 20), "%zu bytes, then %zu", before, after);
    daemon_stop(&daemon);
    free(body);
}
END_TEST

/* This program's own limit; false where the system gives less. */
static bool raise_descriptors(rlim_t count) {
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur >= count) return true;
    if (limit.rlim_max < count) return false;
    limit.rlim_cur = count;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

START_TEST(idle_connections_are_cheap) {
    enum { COUNT = 2000, MOST_EACH = 80 * 1024 };
    static http_raw raws[COUNT];
    test_daemon daemon;
    daemon_start(
        &daemon,
        (const char *const[]){"--workers", "2", "--max-connections", "4096", "--log-level", "error", NULL},
        NULL);
    /* After the daemon, which raises its own. */
    if (!raise_descriptors(COUNT + 100)) {
        daemon_stop(&daemon);
        return;
    }
    size_t before = resident(&daemon);
    for (int i = 0; i < COUNT; i++) {
        http_raw_open(&raws[i], daemon.port);
        http_raw_send_text(&raws[i], "GET /livez HTTP/1.1\r\n" HOST "\r\n");
        http_answer answer = http_raw_answer(&raws[i], 0);
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
    }
    size_t after = resident(&daemon);
    ck_assert_msg(IS_SANITIZED || after <= before + (size_t)COUNT * MOST_EACH, "%zu bytes, then %zu", before,
                  after);
    http_answer answer = http_post(daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]]}");
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    for (int i = 0; i < COUNT; i += 100) {
        http_raw_send_text(&raws[i], "GET /version HTTP/1.1\r\n" HOST "\r\n");
        answer = http_raw_answer(&raws[i], 0);
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
    }
    for (int i = 0; i < COUNT; i++)
        http_raw_close(&raws[i]);
    daemon_stop(&daemon);
}
END_TEST

/* Where the system gives too few descriptors, fewer connections are served, as /v1/limits tells. */
START_TEST(few_descriptors_are_fewer_connections) {
    enum { GIVEN = 400 };
    const struct rlimit few = {.rlim_cur = GIVEN, .rlim_max = GIVEN};
    test_daemon daemon;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    daemon_start(&daemon, (const char *const[]){"--listen", "127.0.0.2:0", NULL}, NULL);
    http_answer answer = http_get(daemon.url, "/v1/limits");
    json_t *document = http_json(&answer), *limits = json_object_get(document, "limits");
    /* 128 are kept for files; of the rest each address may take half, 64 of them for clients that are refused. */
    ck_assert_int_eq(json_integer_value(json_object_get(limits, "max_connections")), (GIVEN - 128) / 2 - 64);
    json_decref(document);
    http_done(&answer);
    process_signal(&daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    char *log = process_errors(&daemon.process);
    ck_assert_msg(strstr(log, "1024 connections would need 2304 descriptors; the system gives 400"), "%s",
                  log);
    free(log);
    process_done(&daemon.process);
}
END_TEST

/* Beyond the limit: told so, but for probes, and closed. */
START_TEST(too_many_connections_are_503) {
    test_daemon daemon;
    http_raw first, second;
    daemon_start(&daemon, (const char *const[]){"--workers", "1", "--max-connections", "1", NULL}, NULL);
    http_raw_open(&first, daemon.port);
    http_raw_send_text(&first, "GET /livez HTTP/1.1\r\n" HOST "\r\n");
    http_answer answer = http_raw_answer(&first, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);

    http_raw_open(&second, daemon.port);
    http_raw_send_text(&second, "GET /v1/models HTTP/1.1\r\n" HOST "\r\n");
    answer = http_raw_answer(&second, 0);
    api_check_problem(&answer, 503, "too_many_connections");
    char *seconds = http_header(&answer, "Retry-After");
    ck_assert_ptr_nonnull(seconds);
    free(seconds);
    char *connection = http_header(&answer, "Connection"); /* not only once its time is over */
    ck_assert_msg(connection && strcasecmp(connection, "close") == 0, "%s", connection);
    free(connection);
    http_done(&answer);
    ck_assert(http_raw_is_closed(&second));
    http_raw_close(&second);
    answer = http_get(daemon.url, "/livez");
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);

    http_raw_send_text(&first, "GET /v1/models HTTP/1.1\r\n" HOST "\r\n");
    answer = http_raw_answer(&first, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    http_raw_close(&first);
    daemon_stop(&daemon);
}
END_TEST

ATTND_SUITE(fire) {
    Suite *suite = suite_create("fire");
    TCase *tests = tcase_create("fire");
    tcase_add_test(tests, mixed_requests_leave_nothing);
    tcase_add_test(tests, large_requests_leave_nothing);
    tcase_add_test(tests, idle_connections_are_cheap);
    tcase_add_test(tests, few_descriptors_are_fewer_connections);
    tcase_add_test(tests, too_many_connections_are_503);
    suite_add_tcase(suite, tests);
    return suite;
}
