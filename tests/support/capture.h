/* Catches what code under test prints. One capture at a time. */
#ifndef TESTS_SUPPORT_CAPTURE_H
#define TESTS_SUPPORT_CAPTURE_H

/* Redirects standard output and standard error until capture_end. */
void capture_begin(void);

/* What was printed since; both strings are malloc'ed. */
typedef struct captured {
    char *out, *err;
} captured;
captured capture_end(void);
void captured_free(captured *text);

#endif
