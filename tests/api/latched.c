#include "latched.h"

#include "tests/support/temporary.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

void latched_start(latched *out, const char *const arguments[]) {
    char *usual = strdup(process_attnd()), *variable = NULL;
    const char *binary = getenv("ATTND_LATCH_BINARY");
    ck_assert_msg(binary && *binary, "ATTND_LATCH_BINARY must name attnd-latch; `make check` does that");
    out->folder = temporary_folder();
    char *path = temporary_path(out->folder, "latch");
    out->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(out->file, 0);
    ck_assert_int_eq(flock(out->file, LOCK_EX), 0);
    ck_assert_int_gt(asprintf(&variable, "TEST_LATCH=%s", path), 0);
    setenv("ATTND_BINARY", binary, 1);
    daemon_start(&out->daemon, arguments, (const char *const[]){variable, NULL});
    setenv("ATTND_BINARY", usual, 1);
    free(variable);
    free(path);
    free(usual);
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
