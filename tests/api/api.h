/* The suites that talk to the real daemon over HTTP. One daemon with the demo models serves all tests of a
 * TCase made by api_case; tests of a daemon's own life start theirs. */
#ifndef TESTS_API_API_H
#define TESTS_API_API_H

#include "tests/support/daemon.h"
#include "tests/support/http.h"
#include "tests/support/json_check.h"
#include "tests/support/suites.h"

#include <stdbool.h>

extern test_daemon api_daemon;

/* A TCase with the shared daemon: two workers, bodies up to 64 KiB. */
TCase *api_case(Suite *suite, const char *name);

/* GET or POST of JSON that must be answered with this status; the JSON body. The caller decrefs. */
json_t *api_get(const char *path, long status);
json_t *api_ask(const char *body);
json_t *api_post(const char *path, const char *body, long status);

/* Checks that an answer is a problem document of this status and code, with the request's id, and nothing but
 * the members that the contract names. */
void api_check_problem(const http_answer *answer, long status, const char *code);
/* The same under /v2: another media type, and the detail as `error` too. */
void api_check_inference_problem(const http_answer *answer, long status, const char *code);
/* A header that must be there once, with this value. */
void api_check_header(const http_answer *answer, const char *name, const char *value);

/* Checks that Vary names what the answer depends on: of those that a format is chosen for also Accept and
 * Accept-Encoding. */
void api_check_vary(const http_answer *answer);

#endif
