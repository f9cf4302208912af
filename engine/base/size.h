/* Size arithmetic that cannot wrap: every byte count that depends on a file or a request goes through
 * here. */
#ifndef ATTN_BASE_SIZE_H
#define ATTN_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

/* *out = a + b; false (out untouched) when it does not fit. */
static inline bool attn_size_add(size_t a, size_t b, size_t *out) {
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

/* *out = a * b; false (out untouched) when it does not fit. */
static inline bool attn_size_mul(size_t a, size_t b, size_t *out) {
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

#endif
