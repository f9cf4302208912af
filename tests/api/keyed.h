/* A daemon that asks for keys. */
#ifndef TESTS_API_KEYED_H
#define TESTS_API_KEYED_H

#include "tests/support/daemon.h"

#define KEY_OF_ALL "key-of-all"         /* every right, no rate */
#define KEY_OF_READER "key-of-reader"   /* read */
#define KEY_OF_SCRAPER "key-of-scraper" /* metrics */
#define KEY_OF_SLOW "key-of-slow"       /* every right; once in three hours */
#define KEY_OF_TWICE "key-of-twice"     /* infer; twice at once, once in a hundred seconds */

/* The header of one of these. */
#define BEARING(key) "X-API-Key: " key

typedef struct keyed {
    test_daemon daemon;
    char *folder, *path; /* of the keys' file */
} keyed;

/* Starts it with the keys above, two workers, bodies up to 64 KiB, and these further arguments. */
void keyed_start(keyed *out, const char *const arguments[]);
/* Stops it and expects exit code 0. */
void keyed_stop(keyed *running);

#endif
