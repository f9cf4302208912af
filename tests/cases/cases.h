/* The cases from public bug reports: one test each, named by the case's slug, against the real daemon.
 *
 * cases.c holds the list of all slugs and says at the end how many pass; a case that is neither in a test nor
 * named as open there fails the program. */
#ifndef TESTS_CASES_CASES_H
#define TESTS_CASES_CASES_H

#include "tests/support/daemon.h"
#include "tests/support/fixtures.h"
#include "tests/support/http.h"
#include "tests/support/json_check.h"
#include "tests/support/suites.h"

#include <stdbool.h>

/* Adds the test of a case. With `serves` a daemon with all fixture models runs around it. */
void case_add(Suite *suite, const char *slug, const TTest *test, bool serves);

/* The daemon of a case that serves: id1, id1_biased, id2, sel, sel10, asym1, asym2. */
extern test_daemon case_daemon;

/* Posts an attention request. The answer as JSON, which must be a 200; the caller decrefs. */
json_t *case_ask(const char *body);
/* Posts a request that must be refused with this status and code; its problem document. */
json_t *case_refused(const char *body, long status, const char *code);

#endif
