/* A daemon whose workers can be held: each waits before the first tile of a planned request while the latch is shut. */
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
/* Lets the workers go, once and for all. */
void latched_open(latched *held);
/* Opens, stops and expects exit code 0. */
void latched_stop(latched *held);

#endif
