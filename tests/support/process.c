#include "process.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *process_attnd(void) {
    const char *binary = getenv("ATTND_BINARY");
    ck_assert_msg(binary && *binary, "ATTND_BINARY must name the binary under test; `make check` does that");
    return binary;
}

/* Whether `variable` (NAME=value) is set or removed by the test itself. */
static bool is_overridden(const char *variable, const char *const environment[]) {
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; environment && environment[i]; i++) {
        if (strcspn(environment[i], "=") == length && strncmp(environment[i], variable, length) == 0)
            return true;
    }
    return false;
}

static char **make_environment(const char *const changes[]) {
    size_t count = 0, changed = 0;
    while (environ[count])
        count++;
    while (changes && changes[changed])
        changed++;
    char **list = calloc(count + changed + 2, sizeof *list);
    ck_assert_ptr_nonnull(list);
    size_t used = 0;
    static char vectors[64];
    snprintf(vectors, sizeof vectors, "ATTND_VECTORS=%s", getenv("ATTND_TESTED_VECTORS"));
    if (getenv("ATTND_TESTED_VECTORS") && !is_overridden(vectors, changes)) list[used++] = vectors;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "ATTND_", 6) == 0 || strncmp(environ[i], "OPENBLAS_", 9) == 0) continue;
        if (!is_overridden(environ[i], changes)) list[used++] = environ[i];
    }
    for (size_t i = 0; i < changed; i++) {
        if (strchr(changes[i], '=')) list[used++] = (char *)changes[i];
    }
    return list;
}

/* A file that is gone from its folder as soon as it is open, holding the input. */
static int input_file(const char *input, size_t size) {
    if (!input) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(input, 1, size, file), size);
    ck_assert_int_eq(fflush(file), 0);
    int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    fclose(file);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

void process_start(process *out, const char *const argv[], const char *const environment[], const char *input,
                   size_t input_size) {
    int pipe_ends[2];
    char errors_path[] = "/tmp/attnd-errors-XXXXXX";
    ck_assert_int_eq(pipe2(pipe_ends, O_CLOEXEC), 0);
    int errors = mkostemp(errors_path, O_CLOEXEC);
    ck_assert_int_ge(errors, 0);
    int standard_input = input_file(input, input_size);
    char **list = make_environment(environment);
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
        dup2(standard_input, STDIN_FILENO);
        dup2(pipe_ends[1], STDOUT_FILENO);
        dup2(errors, STDERR_FILENO);
        execve(argv[0], (char *const *)(void *)argv, list);
        dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    free(list);
    close(standard_input);
    close(errors);
    close(pipe_ends[1]);
    *out = (process){.pid = pid, .output = fdopen(pipe_ends[0], "r"), .errors_path = strdup(errors_path)};
    ck_assert_ptr_nonnull(out->output);
}

/* A program that does not end must not hang the tests: it is killed after a time that no right one takes. */
enum { LONGEST_END_MS = 100000 };

int process_wait(process *running) {
    int status;
    struct pollfd event = {.fd = (int)syscall(SYS_pidfd_open, running->pid, 0), .events = POLLIN};
    bool ends = event.fd < 0 || poll(&event, 1, LONGEST_END_MS) != 0;
    if (event.fd >= 0) close(event.fd);
    if (!ends) kill(running->pid, SIGKILL);
    pid_t ended;
    do
        ended = waitpid(running->pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    ck_assert_int_eq(ended, running->pid);
    running->pid = 0;
    ck_assert_msg(ends, "the program did not end within %d s", LONGEST_END_MS / 1000);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void process_signal(const process *running, int number) {
    ck_assert_int_gt(running->pid, 0);
    ck_assert_int_eq(kill(running->pid, number), 0);
}

static char *read_all(FILE *file, size_t *size) {
    char *text = NULL;
    size_t used = 0, got;
    do {
        text = realloc(text, used + 65537);
        ck_assert_ptr_nonnull(text);
        got = fread(text + used, 1, 65536, file);
        used += got;
    } while (got > 0);
    text[used] = '\0';
    if (size) *size = used;
    return text;
}

char *process_errors(const process *running) {
    FILE *file = fopen(running->errors_path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = read_all(file, NULL);
    fclose(file);
    return text;
}

void process_done(process *running) {
    if (running->pid > 0) {
        kill(running->pid, SIGKILL);
        process_wait(running);
    }
    if (running->output) fclose(running->output);
    if (running->errors_path) unlink(running->errors_path);
    free(running->errors_path);
    *running = (process){0};
}

process_result process_run(const char *const argv[], const char *const environment[], const char *input,
                           size_t input_size) {
    process running;
    process_result result = {0};
    process_start(&running, argv, environment, input, input_size);
    result.output = read_all(running.output, &result.output_size);
    result.code = process_wait(&running);
    result.errors = process_errors(&running);
    process_done(&running);
    return result;
}

void process_result_done(process_result *result) {
    free(result->output);
    free(result->errors);
    *result = (process_result){0};
}

process_result process_run_attnd(const char *first, ...) {
    const char *argv[32] = {process_attnd(), first};
    size_t count = 2;
    va_list rest;
    va_start(rest, first);
    while (count < 31 && (argv[count] = va_arg(rest, const char *)) != NULL)
        count++;
    va_end(rest);
    return process_run(argv, NULL, NULL, 0);
}
