/* Programs as tests see them: started with arguments, environment and input; watched through output and exit
 * code.
 *
 * A started program dies with the test that started it, whatever way that one ends. Failures to start are
 * test failures. */
#ifndef TESTS_SUPPORT_PROCESS_H
#define TESTS_SUPPORT_PROCESS_H

#include <stdio.h>
#include <sys/types.h>

/* The binary under test: $ATTND_BINARY. */
const char *process_attnd(void);

typedef struct process {
    pid_t pid;
    FILE *output;      /* its standard output, to be read line by line */
    char *errors_path; /* the file that takes its standard error */
} process;

/* Starts argv[0] (NULL-terminated). The child's environment is this one's without the variables that begin
 * with ATTND_ or OPENBLAS_, with those of `environment` ("NAME=value" sets, "NAME" removes; NULL: none) on
 * top. Where ATTND_TESTED_VECTORS is set, the child gets ATTND_VECTORS from it. `input` is its standard input,
 * closed after `input_size` bytes; NULL: /dev/null. */
void process_start(process *out, const char *const argv[], const char *const environment[], const char *input,
                   size_t input_size);
/* Waits for the end: the exit code, or 128 + signal. Frees all but the errors (process_errors). */
int process_wait(process *running);
void process_signal(const process *running, int signal);
/* What it has written to standard error up to now; malloc'ed. */
char *process_errors(const process *running);
void process_done(process *running);

/* A program run to its end. */
typedef struct process_result {
    int code;              /* as process_wait */
    char *output, *errors; /* malloc'ed, NUL-terminated */
    size_t output_size;
} process_result;

process_result process_run(const char *const argv[], const char *const environment[], const char *input,
                           size_t input_size);
void process_result_done(process_result *result);

/* attnd with these arguments: process_run_attnd("run", "-", NULL). */
__attribute__((sentinel)) process_result process_run_attnd(const char *first, ...);

#endif
