/* A log that nobody reads: the daemon answers and ends all the same, and tells later what is missing. */
#include "api.h"

#include "tests/support/temporary.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_SIZE = 1 << 20 };

/* A daemon whose standard error is a pipe, which the test alone reads. */
typedef struct unread {
    process process;
    int port, log;
    char *folder;
    http_raw raw;
} unread;

static void start(unread *out) {
    static const char script[] = "exec \"$0\" serve --listen 127.0.0.1:0 2>\"$1\"";
    static const char listening[] = "listening on http://127.0.0.1:";
    char line[256] = "";
    out->folder = temporary_folder();
    char *path = temporary_path(out->folder, "log");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    out->log = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(out->log, 0);
    process_start(&out->process, (const char *const[]){"/bin/sh", "-c", script, process_attnd(), path, NULL},
                  NULL, NULL, 0);
    while (strcmp(line, "ready\n") != 0) {
        ck_assert_ptr_nonnull(fgets(line, sizeof line, out->process.output));
        if (strncmp(line, listening, sizeof listening - 1) == 0)
            out->port = (int)strtol(line + sizeof listening - 1, NULL, 10);
    }
    http_raw_open(&out->raw, out->port);
    free(path);
}

static void stop(unread *running) {
    process_signal(&running->process, SIGTERM);
    ck_assert_int_eq(process_wait(&running->process), 0);
    process_done(&running->process);
    http_raw_close(&running->raw);
    close(running->log);
    temporary_remove(running->folder);
}

/* Requests one after the other, each of them a line. */
static void ask(unread *running, int times) {
    for (int i = 0; i < times; i++) {
        http_raw_send_text(&running->raw, "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
        http_answer answer = http_raw_answer(&running->raw, 0);
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
    }
}

/* Reads the log until so many lines are there or told to be missing; appends to `text`. The told ones go to *missing. */
static void read_log(const unread *running, char *text, size_t lines, size_t *missing) {
    size_t seen = 0, used = strlen(text);
    while (seen < lines) {
        struct pollfd event = {.fd = running->log, .events = POLLIN};
        ck_assert_int_gt(poll(&event, 1, -1), 0);
        ssize_t got = read(running->log, text + used, LOG_SIZE - 1 - used);
        ck_assert_int_gt(got, 0);
        used += (size_t)got;
        text[used] = '\0';
        seen = *missing = 0;
        for (const char *at = text; (at = strstr(at, " info    request ")); at++)
            seen++;
        for (const char *at = text; (at = strstr(at, "suppressed of=line reason=unread count=")); at++)
            *missing += strtoul(strrchr(strndupa(at, strcspn(at, "\n")), '=') + 1, NULL, 10);
        seen += *missing;
    }
    ck_assert_uint_eq(seen, lines);
}

/* Every line is written or told to be missing. Far more of them than a pipe holds. */
START_TEST(requests_do_not_wait_for_it) {
    enum { TIMES = 1000 };
    unread daemon;
    size_t missing = 0;
    char *text = calloc(1, LOG_SIZE);
    start(&daemon);
    ask(&daemon, TIMES);
    /* Room for new lines, which tell of those before them. */
    ssize_t got = read(daemon.log, text, LOG_SIZE - 1);
    ck_assert_int_gt(got, 0);
    ask(&daemon, 1);
    read_log(&daemon, text, TIMES + 1, &missing);
    ck_assert_uint_gt(missing, 0);
    ck_assert_uint_lt(missing, TIMES);
    stop(&daemon);
    free(text);
}
END_TEST

START_TEST(the_end_does_not_wait_for_it) {
    unread daemon;
    start(&daemon);
    ask(&daemon, 1000);
    stop(&daemon);
}
END_TEST

ATTND_SUITE(unread_log) {
    Suite *suite = suite_create("unread_log");
    TCase *tests = tcase_create("unread_log");
    tcase_add_test(tests, requests_do_not_wait_for_it);
    tcase_add_test(tests, the_end_does_not_wait_for_it);
    suite_add_tcase(suite, tests);
    return suite;
}
