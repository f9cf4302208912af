/* How numbers are compared: |got − want| <= tolerance · max(1, max|want|) over a whole tensor. −Infinity
 * equals −Infinity; any other value that is not finite differs. */
#ifndef TESTS_SUPPORT_COMPARE_H
#define TESTS_SUPPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

enum { COMPARE_TEXT_SIZE = 256 };

/* Whether all agree; else `text` (COMPARE_TEXT_SIZE, may be NULL) says "NAME[index]: got …, want …" of the
 * worst. */
bool compare_floats(const char *name, const float *got, const double *want, size_t count, double tolerance,
                    char *text);
bool compare_doubles(const char *name, const double *got, const double *want, size_t count, double tolerance,
                     char *text);

#endif
