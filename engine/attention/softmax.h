/* The softmax of one row. */
#ifndef ATTN_ATTENTION_SOFTMAX_H
#define ATTN_ATTENTION_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

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
