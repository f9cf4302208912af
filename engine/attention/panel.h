/* Matrix products of which one side is packed: rows of a matrix are laid side by side, so that one step of the depth
 * lies together in as many vector registers as it takes, and the rows of the other matrix are read from where they lie,
 * one number at a time for all lanes. A general product packs both sides; here it is the one that is read again more
 * often, and the other is read as it is (K. Goto & R. van de Geijn, "Anatomy of high-performance matrix multiplication",
 * 2008, gives the order of the loops and the reason for it: what is read again stays in cache).
 *
 * Each result is summed by itself, step after step of the depth: a row's bits are the same whatever other rows are
 * computed with it. That is what lets requests share a projection (run.h).
 *
 * One table is in use for the whole life of the process, that of the vector width in use (vectors.h). Where there is
 * none, OpenBLAS computes. */
#ifndef ATTN_ATTENTION_PANEL_H
#define ATTN_ATTENTION_PANEL_H

#include "../tensor/vectors.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    ATTN_PANEL_ROWS = 96, /* rows packed at a time, at most */
    ATTN_PANEL_DEPTH =
        1024, /* numbers of a row packed at a time, at most: so many rows of them stay in cache */
};

/* Packed rows: `count` of at most ATTN_PANEL_ROWS, `depth` numbers of each. How they lie is the kernels' affair. 384
 * KiB, for the stack of a worker. */
typedef struct attn_panel {
    _Alignas(64) float numbers[ATTN_PANEL_ROWS * ATTN_PANEL_DEPTH];
    size_t count, depth;
} attn_panel;

typedef struct attn_panel_kernels {
    /* Packs x[i][at … at + depth) for i < count. */
    void (*pack)(size_t count, size_t at, size_t depth, const float *const *x, attn_panel *out);
    /* y[i][j] = start[j] + Σ x[i][t] · w[j·ldw + t] for j < columns, t < depth, where the x are packed. `start`: NULL
     * for zeros; `adds`: to what y holds, instead of `start`. False where a result is not finite. */
    bool (*columns)(const attn_panel *x, size_t columns, const float *w, size_t ldw, const float *start,
                    bool adds, float *const *y);
    /* y[i·ldy + j] = start[j] + alpha · Σ x[i·ldx + t] · w[j][t] for i < rows, where the w are packed; the rest as above. */
    bool (*rows)(const attn_panel *w, size_t rows, const float *x, size_t ldx, float alpha,
                 const float *start, bool adds, float *y, size_t ldy);
} attn_panel_kernels;

#ifdef __x86_64__
extern const attn_panel_kernels ATTN_PANEL_AVX512;
#endif

/* Those of one width, which this processor must be able to run, and those of the width in use; NULL where OpenBLAS is
 * to compute. Any thread. */
const attn_panel_kernels *attn_panel_kernels_of(attn_vectors vectors);
const attn_panel_kernels *attn_panel_kernels_in_use(void);

#endif
