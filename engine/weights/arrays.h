/* The float32 arrays of one layer while they are being filled. */
#ifndef ATTN_WEIGHTS_ARRAYS_H
#define ATTN_WEIGHTS_ARRAYS_H

#include "layer.h"
#include "storage.h"

/* Which optional arrays a layer has, besides wq, wk and wv. */
typedef struct attn_layer_parts {
    bool q_bias, k_bias, v_bias, output, output_bias;
} attn_layer_parts;

/* Writable views of what attn_layer shows as const; shapes as there. NULL: absent. */
typedef struct attn_layer_arrays {
    float *wq, *wk, *wv, *bq, *bk, *bv, *wo, *bo, *extra_k, *extra_v;
    size_t floats; /* of all arrays together */
} attn_layer_arrays;

/* Reserves zeroed arrays for a layer whose widths are set, in one block, and makes the layer point to them.
 * Each begins at a multiple of 64 bytes, in the order above: wq, wk and wv stand without a gap wherever their
 * sizes are multiples of 16 floats. False without memory. */
bool attn_layer_arrays_take(attn_layer *layer, const attn_layer_parts *parts, attn_storage *storage,
                            attn_layer_arrays *out);

#endif
