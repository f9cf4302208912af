/* A daemon whose workers can be held: each waits before the first tile of a planned request while the latch is shut. Or
 * whose models are not ready until it is opened; or that fails at whatever it can fail at. */
#ifndef TESTS_API_LATCHED_H
#define TESTS_API_LATCHED_H

#include "tests/support/daemon.h"

typedef struct latched {
    test_daemon daemon;
    char *folder;
    int file;
} latched;

/* Starts it with these further arguments, the latch shut. */
void latched_start(latched *out, const char *const arguments[]);
/* The same with one change of the environment (NAME=value). */
void latched_start_under(latched *out, const char *const arguments[], const char *change);
/* Starts it with the usual two workers and bodies up to 64 KiB, its models not ready. */
void latched_start_loading(latched *out);
/* Starts one, as usual too, in which every answer fails by a fault of its own or for want of memory. */
void latched_start_faulty(latched *out);
/* Lets the workers go, once and for all. */
void latched_open(latched *held);
/* Opens, stops and expects exit code 0. */
void latched_stop(latched *held);

#endif
