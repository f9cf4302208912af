/* The softmax of one row, and the exponential it stands on. */
#ifndef ATTN_ATTENTION_SOFTMAX_H
#define ATTN_ATTENTION_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

/* values[i] = exp(values[i] − shift) for values <= shift; −Infinity gives exactly 0. Relative error <= 2e-7
 * where the result is a normal float32. */
void attn_exp_row(float *values, size_t count, float shift);

/* Replaces scores by weights exp(s − max) / Σ exp(s − max); −Infinity becomes exactly 0. A row of nothing but
 * −Infinity becomes all zeros. False where a weight is not finite (a NaN or +Infinity among the scores). */
bool attn_softmax_row(float *row, size_t count);

#endif
