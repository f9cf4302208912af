/* The real daemon, on a port of the system's choice. */
#ifndef TESTS_SUPPORT_DAEMON_H
#define TESTS_SUPPORT_DAEMON_H

#include "process.h"

typedef struct test_daemon {
    process process;
    int port;
    char url[64]; /* "http://127.0.0.1:PORT" */
} test_daemon;

/* Starts `attnd serve --listen 127.0.0.1:0` with these further arguments and changes of the environment (as
 * process_start; NULL: none) and waits until it is ready. */
void daemon_start(test_daemon *out, const char *const arguments[], const char *const environment[]);
/* The same, but returns as soon as the port is open. */
void daemon_start_unready(test_daemon *out, const char *const arguments[], const char *const environment[]);
/* Sends SIGTERM and expects exit code 0; under a sanitizer that also says that it found nothing. */
void daemon_stop(test_daemon *running);
/* Starts a daemon that must not come up: its exit code and what it wrote. */
process_result daemon_refused(const char *const arguments[], const char *const environment[]);

#endif
