/* Bodies as NumPy and safetensors write them (tests/golden/bodies.py). */
#ifndef TESTS_SUPPORT_GOLDEN_BODY_H
#define TESTS_SUPPORT_GOLDEN_BODY_H

#include <stddef.h>

typedef struct golden_body {
    char *bytes; /* malloc'ed */
    size_t size;
    const char *type; /* its media type */
} golden_body;

golden_body golden_body_read(const char *name);

#endif
