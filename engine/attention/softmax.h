/* The softmax of one row, and the passes over it that it is made of. */
#ifndef ATTN_ATTENTION_SOFTMAX_H
#define ATTN_ATTENTION_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

/* The largest value, NaN left aside; −Infinity where there is none. */
float attn_row_max(const float *row, size_t count);

/* row[i] = exp(row[i] − shift) for row[i] <= shift; −Infinity gives exactly 0. Relative error <= 2e-7 where
 * the result is a normal float32. Returns the sum of the results. */
double attn_row_exp(float *row, size_t count, float shift);

void attn_row_scale(float *row, size_t count, float factor);

/* Whether every value is −Infinity. */
bool attn_row_is_masked(const float *row, size_t count);

typedef enum attn_softmax {
    ATTN_SOFTMAX_DONE,
    ATTN_SOFTMAX_EMPTY,      /* nothing but −Infinity; made all zeros */
    ATTN_SOFTMAX_NOT_FINITE, /* a NaN or +Infinity among the scores */
} attn_softmax;

/* Replaces scores by weights exp(s − max) / Σ exp(s − max); −Infinity becomes exactly 0. */
attn_softmax attn_softmax_row(float *row, size_t count);

#endif
