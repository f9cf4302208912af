#include "latched.h"

#include "tests/support/temporary.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef void starter(test_daemon *out, const char *const arguments[], const char *const environment[]);

/* The variable names the file that is locked until latched_open; `change` is a further one, or NULL. */
static void start_with(latched *out, starter *begin, const char *variable, const char *const arguments[],
                       const char *change) {
    char *usual = strdup(process_attnd()), *setting = NULL;
    const char *binary = getenv("ATTND_LATCH_BINARY");
    ck_assert_msg(binary && *binary, "ATTND_LATCH_BINARY must name attnd-latch; `make check` does that");
    out->folder = temporary_folder();
    char *path = temporary_path(out->folder, "latch");
    out->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(out->file, 0);
    ck_assert_int_eq(flock(out->file, LOCK_EX), 0);
    ck_assert_int_gt(asprintf(&setting, "%s=%s", variable, path), 0);
    setenv("ATTND_BINARY", binary, 1);
    begin(&out->daemon, arguments, (const char *const[]){setting, change, NULL});
    setenv("ATTND_BINARY", usual, 1);
    free(setting);
    free(path);
    free(usual);
}

void latched_start_under(latched *out, const char *const arguments[], const char *change) {
    start_with(out, daemon_start, "TEST_LATCH", arguments, change);
}

void latched_start(latched *out, const char *const arguments[]) {
    start_with(out, daemon_start, "TEST_LATCH", arguments, NULL);
}

static const char *const usual_arguments[] = {"--workers", "2", "--max-body", "64KiB", NULL};

void latched_start_loading(latched *out) {
    start_with(out, daemon_start_unready, "TEST_LOADING", usual_arguments, NULL);
}

void latched_start_faulty(latched *out) {
    start_with(out, daemon_start, "TEST_FAULT", usual_arguments, NULL);
}

void latched_open(latched *held) {
    if (held->file >= 0) close(held->file);
    held->file = -1;
}

void latched_stop(latched *held) {
    latched_open(held);
    daemon_stop(&held->daemon);
    temporary_remove(held->folder);
}
