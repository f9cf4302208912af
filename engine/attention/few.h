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

#include <stdbool.h>
#include <stddef.h>

enum {
    ATTN_FEW_QUERIES = 8, /* query rows of a block whose keys and values are read this way, at most */
};

/* y[i·y_stride + c] (+)= Σ weights[i·weights_stride + j] · v[j·v_stride + c] for j < count, c < width. */
typedef struct attn_blend {
    size_t count, width;
    const float *weights;
    size_t weights_stride;
    const float *v;
    size_t v_stride;
    float *y;
    size_t y_stride;
    bool is_far; /* v is not expected in cache: its rows are better fetched ahead */
} attn_blend;

typedef struct attn_few_kernels {
    /* The most rows of one request whose projections are faster this way than packed (panel.h) or through OpenBLAS; at least
     * ATTN_FEW_QUERIES. */
    size_t linear_rows;
    /* The most rows of one tile whose values are faster blended this way; likewise. */
    size_t blend_rows;
    /* y[i][j] = alpha · Σ x[i][t] · w[j·ldw + t] for i < rows, j < columns, t < depth. */
    void (*dots)(size_t rows, size_t columns, size_t depth, float alpha, const float *const *x,
                 const float *w, size_t ldw, float *const *y);
    /* y (+)= weights · v. */
    void (*blend)(size_t rows, const attn_blend *b, bool adds);
} attn_few_kernels;

/* Plain C: what the others are measured against, and what runs where there is nothing better. */
extern const attn_few_kernels ATTN_FEW_PLAIN;
/* Double precision: what runs where nothing else is trusted. */
extern const attn_few_kernels ATTN_FEW_REFERENCE;
#ifdef __x86_64__
extern const attn_few_kernels ATTN_FEW_AVX2;
extern const attn_few_kernels ATTN_FEW_AVX512;
#endif

/* Those of one width, which this processor must be able to run, and those of the width in use. Any thread. */
const attn_few_kernels *attn_few_kernels_of(attn_vectors vectors);
const attn_few_kernels *attn_few_kernels_in_use(void);

#endif
