/* Keeps what tests exchanged with the daemon, for tests/openapi/validate.py: where the environment variable
 * ATTND_RECORD names a folder, one line of JSON for each answer goes into a file of this process there. Bytes are
 * written as the characters of the same numbers. */
#ifndef TESTS_SUPPORT_RECORD_H
#define TESTS_SUPPORT_RECORD_H

#include "http.h"

#include <stdbool.h>

bool record_is_on(void);

/* headers: as http_send takes them. */
void record_exchange(const char *method, const char *target, const char *const headers[], const char *body,
                     size_t size, const http_answer *answer);
/* The same for what was sent on a raw connection since the last answer: it is the first request there that was
 * answered. Returns its size, all where that cannot be told. What has no request line is written without method and
 * target. */
size_t record_raw(const char *sent, size_t size, const http_answer *answer);

#endif
