#include "daemon.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 32 };

static void command_line(const char *argv[MAX_ARGUMENTS], const char *const arguments[]) {
    size_t count = 0;
    argv[count++] = process_attnd();
    argv[count++] = "serve";
    argv[count++] = "--listen";
    argv[count++] = "127.0.0.1:0";
    for (size_t i = 0; arguments && arguments[i]; i++) {
        ck_assert_uint_lt(count, MAX_ARGUMENTS - 1);
        argv[count++] = arguments[i];
    }
    argv[count] = NULL;
}

/* Reads its output up to a line that begins so; fails with what it wrote when it ends before. */
static void await_line(test_daemon *running, const char *start, char *line, int size) {
    while (fgets(line, size, running->process.output)) {
        if (strncmp(line, start, strlen(start)) == 0) return;
    }
    char *errors = process_errors(&running->process);
    process_done(&running->process);
    ck_abort_msg("the daemon ended before it said '%s': %s", start, errors);
}

void daemon_start_unready(test_daemon *out, const char *const arguments[], const char *const environment[]) {
    static const char listening[] = "listening on http://127.0.0.1:";
    const char *argv[MAX_ARGUMENTS];
    char line[256];
    command_line(argv, arguments);
    process_start(&out->process, argv, environment, NULL, 0);
    await_line(out, listening, line, sizeof line);
    out->port = (int)strtol(line + strlen(listening), NULL, 10);
    ck_assert_int_gt(out->port, 0);
    snprintf(out->url, sizeof out->url, "http://127.0.0.1:%d", out->port);
}

void daemon_start(test_daemon *out, const char *const arguments[], const char *const environment[]) {
    char line[256];
    daemon_start_unready(out, arguments, environment);
    await_line(out, "ready", line, sizeof line);
}

void daemon_stop(test_daemon *running) {
    process_signal(&running->process, SIGTERM);
    int code = process_wait(&running->process);
    char *errors = process_errors(&running->process);
    process_done(&running->process);
    ck_assert_msg(code == 0, "exit code %d: %s", code, errors);
    free(errors);
}

process_result daemon_refused(const char *const arguments[], const char *const environment[]) {
    const char *argv[MAX_ARGUMENTS];
    command_line(argv, arguments);
    return process_run(argv, environment, NULL, 0);
}
