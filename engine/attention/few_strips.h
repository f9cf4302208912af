/* How a blend (few.h) is cut into strips, whichever vectors compute them: some rows by as many columns as stay in registers
 * while the rows of v are walked once. Internal to few_*.c; any thread. */
#ifndef ATTN_ATTENTION_FEW_STRIPS_H
#define ATTN_ATTENTION_FEW_STRIPS_H

#include "few.h"

/* What one strip works on. */
typedef struct attn_strip {
    size_t count;
    const float *weights; /* from the strip's first row */
    size_t weights_stride;
    const float *v; /* from the strip's first column */
    size_t v_stride;
    float *y; /* from its first row and column */
    size_t y_stride;
    bool adds;   /* to what y holds */
    bool is_far; /* of the blend */
    size_t width;
} attn_strip;

/* How one kind of vectors cuts: at most so many rows, and of those, where so many columns are left, the width of the next
 * strip; and what computes one. */
typedef struct attn_strips {
    size_t rows;
    size_t (*width)(size_t left, size_t rows);
    void (*run)(size_t rows, const attn_strip *strip);
} attn_strips;

void attn_blend_by_strips(const attn_strips *strips, size_t rows, const attn_blend *b, bool adds);

#endif
