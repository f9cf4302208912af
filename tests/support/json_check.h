/* Comparing JSON answers. A failure names the place, what was there and what was wanted. */
#ifndef TESTS_SUPPORT_JSON_CHECK_H
#define TESTS_SUPPORT_JSON_CHECK_H

#include <jansson.h>

/* What a JSON Pointer leads to (borrowed); fails the test where it leads nowhere. */
json_t *json_at(const json_t *document, const char *pointer);

/* Compares what a pointer leads to with JSON text: numbers within 1e-5·max(1, |wanted|), all else exactly. */
void json_check(const json_t *document, const char *pointer, const char *wanted);
/* The same, but numbers must be equal as float32, bit by bit. */
void json_check_exact(const json_t *document, const char *pointer, const char *wanted);
/* The largest |got − wanted| / max(1, |wanted|) of two documents of one shape. */
double json_difference(const json_t *got, const json_t *wanted);

#endif
