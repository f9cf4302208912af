/* The k largest weights of a row. */
#ifndef ATTN_ATTENTION_TOP_K_H
#define ATTN_ATTENTION_TOP_K_H

#include <stddef.h>
#include <stdint.h>

/* keys[0..k), weights[0..k) = the k largest non-zero entries of row[0..count), falling, ties to the lower
 * key; where there are fewer, −1 and 0. Returns the sum of the entries that are not among them. count <
 * 2³¹. */
float attn_top_k(const float *row, size_t count, size_t k, int32_t *keys, float *weights);

#endif
