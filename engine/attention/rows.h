/* The passes over a row of scores that a softmax is made of, once for each vector width. One table is in use for the
 * whole life of the process, so one machine always gives the same bits; another width may give others. */
#ifndef ATTN_ATTENTION_ROWS_H
#define ATTN_ATTENTION_ROWS_H

#include "../tensor/vectors.h"

#include <stddef.h>

typedef struct attn_row_kernels {
    /* The largest value, NaN left aside; −Infinity where there is none. */
    float (*max)(const float *row, size_t count);
    /* row[i] = exp(row[i] − shift) for row[i] <= shift; −Infinity gives exactly 0, NaN stays. Relative error <= 2e-7
     * where the result is a normal float32. Returns the sum of the results. */
    double (*exp)(float *row, size_t count, float shift);
    void (*scale)(float *row, size_t count, float factor);
} attn_row_kernels;

/* Plain C: what the others are measured against, and what runs where there is nothing better. */
extern const attn_row_kernels ATTN_ROWS_PLAIN;
/* Double precision: what runs where nothing else is trusted. */
extern const attn_row_kernels ATTN_ROWS_REFERENCE;
#ifdef __x86_64__
extern const attn_row_kernels ATTN_ROWS_AVX2;
extern const attn_row_kernels ATTN_ROWS_AVX512;
#endif

/* Those of one width, which this processor must be able to run, and those of the width in use. Any thread. */
const attn_row_kernels *attn_row_kernels_of(attn_vectors vectors);
const attn_row_kernels *attn_row_kernels_in_use(void);

#endif
