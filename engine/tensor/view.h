/* A read-only look at floats that somebody else owns: shape and strides, no memory of its own. */
#ifndef ATTN_TENSOR_VIEW_H
#define ATTN_TENSOR_VIEW_H

#include <stddef.h>

enum { ATTN_MAX_RANK = 4 };

typedef struct attn_view {
    const float *data;
    size_t rank; /* 1 … ATTN_MAX_RANK */
    size_t shape[ATTN_MAX_RANK];
    size_t stride[ATTN_MAX_RANK]; /* in floats; the last is 1 in every view the engine returns */
} attn_view;

/* How many elements the view shows. The caller knows that the product fits (the plan checked it). */
static inline size_t attn_view_count(const attn_view *view) {
    size_t count = 1;
    for (size_t axis = 0; axis < view->rank; axis++)
        count *= view->shape[axis];
    return count;
}

#endif
