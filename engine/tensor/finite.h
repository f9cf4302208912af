/* Whether floats are finite: neither NaN nor infinite. */
#ifndef ATTN_TENSOR_FINITE_H
#define ATTN_TENSOR_FINITE_H

#include <stddef.h>

/* How many of `count` values are not finite. */
size_t attn_count_not_finite(const float *values, size_t count);

#endif
