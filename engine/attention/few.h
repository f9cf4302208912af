/* Matrix products of few rows. A general product first copies its matrices into the order its kernels like, which pays
 * once many rows use the copy; with few, the copy is most of the time. These kernels read every number of the large
 * matrix once, from where it lies, at the speed of memory.
 *
 * Each result is summed by itself, in an order that depends on the depth alone: a row's bits are the same whatever
 * other rows are computed with it. That is what lets requests share a projection (run.h). One table is in use for
 * the whole life of the process, that of the vector width in use (vectors.h). */
#ifndef ATTN_ATTENTION_FEW_H
#define ATTN_ATTENTION_FEW_H

#include "../tensor/vectors.h"

#include <stddef.h>

enum {
    ATTN_FEW_QUERIES = 8,  /* query rows of a block whose keys and values are read this way, at most */
    ATTN_FEW_AT_ONCE = 64, /* rows of one call in projections, at most */
};

typedef struct attn_few_kernels {
    /* The most rows of one request whose projections are faster this way than through OpenBLAS; at least
     * ATTN_FEW_QUERIES. */
    size_t linear_rows;
    /* y[i][j] = alpha · Σ x[i][t] · w[j·ldw + t] for i < rows, j < columns, t < depth. */
    void (*dots)(size_t rows, size_t columns, size_t depth, float alpha, const float *const *x,
                 const float *w, size_t ldw, float *const *y);
    /* y[i][c] += Σ weights[i][j] · v[j·ldv + c] for i < rows, j < count, c < width. */
    void (*blend)(size_t rows, size_t count, size_t width, const float *const *weights, const float *v,
                  size_t ldv, float *const *y);
} attn_few_kernels;

/* Plain C: what the others are measured against, and what runs where there is nothing better. */
extern const attn_few_kernels ATTN_FEW_PLAIN;
#ifdef __x86_64__
extern const attn_few_kernels ATTN_FEW_AVX2;
extern const attn_few_kernels ATTN_FEW_AVX512;
#endif

/* Those of one width, which this processor must be able to run, and those of the width in use. Any thread. */
const attn_few_kernels *attn_few_kernels_of(attn_vectors vectors);
const attn_few_kernels *attn_few_kernels_in_use(void);

#endif
