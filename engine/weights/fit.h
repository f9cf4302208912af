/* How a block's tensors become a layer's arrays: widths checked against each other, and where each array's
 * numbers are. Nothing is read and nothing allocated here. */
#ifndef ATTN_WEIGHTS_FIT_H
#define ATTN_WEIGHTS_FIT_H

#include "arrays.h"
#include "blocks.h"
#include "heads.h"

/* One array's numbers in the file. */
typedef struct attn_piece {
    const attn_file_tensor *tensor; /* NULL: the array is absent */
    size_t first;                   /* element of the tensor */
    size_t rows, columns;           /* of the array, [out,in]; a bias: rows × 1 */
} attn_piece;

typedef struct attn_fit {
    attn_layer layer; /* no arrays yet */
    attn_layer_parts parts;
    bool in_by_out; /* weights stand [in,out] in the file */
    attn_piece wq, wk, wv, bq, bk, bv, wo, bo, extra_k, extra_v;
} attn_fit;

/* add_zero_attn: a last extra key of zeros. Error: ATTN_BAD_MODEL naming tensor, shape and what is
 * expected. */
attn_code attn_block_fit(const attn_block *block, const attn_head_counts *counts, bool add_zero_attn,
                         const char *file, attn_fit *out, attn_error *error);

#endif
