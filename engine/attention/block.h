/* What one attention tile works on: a block of query rows of one sequence, the keys that any of them can see,
 * and where the queries, keys, values and context of a head lie. */
#ifndef ATTN_ATTENTION_BLOCK_H
#define ATTN_ATTENTION_BLOCK_H

#include "run.h"

typedef struct attn_block {
    attn_run *run;
    const attn_plan *plan;
    const attn_request *request;
    const attn_layer *layer;
    const attn_sequence *sequence;
    const attn_place *place;
    size_t first_head, end_head;
    attn_span rows;       /* of the sequence's queries */
    size_t split, splits; /* which of its keys, of how many (geometry.h) */
    bool has_extra;       /* the layer's own keys come with the last of them */
    attn_span keys;       /* that any of the rows can see, in this split */
    float *scratch;       /* of the worker: plan->scratch_floats */
} attn_block;

attn_block attn_block_of(attn_run *run, size_t tile, size_t worker);
/* The only row block of a sequence whose keys are split, with all of them. */
attn_block attn_block_unsplit(attn_run *run, size_t sequence, size_t head, size_t worker);

/* The keys that causal order, window and the padding at both ends leave to a query. */
attn_span attn_block_row_keys(const attn_block *block, size_t row);

/* Some keys of the sequence, or of the layer's own, which every row sees; k and v begin at the first of them. */
typedef struct attn_key_tile {
    attn_span keys;
    bool is_extra;
    attn_matrix k, v;
} attn_key_tile;

attn_key_tile attn_block_key_tile(const attn_block *block, size_t head, attn_span keys, bool is_extra);

/* A head's queries from the block's first row, and the block's context, which the caller writes. */
attn_matrix attn_block_q(const attn_block *block, size_t head);
float *attn_block_context(const attn_block *block, size_t head, size_t *stride);

/* scores (rows × keys) = scale · q (rows × dk) · kᵀ, for the rows of the block. What causal order or the window hides
 * from a row may be left as it is. */
void attn_block_scores(const attn_block *block, attn_matrix q, const attn_key_tile *tile, float *scores,
                       size_t scores_stride);

/* Whether no row of the block can see any of these keys of the sequence: they need not be computed. */
bool attn_block_hides(const attn_block *block, size_t head, attn_span keys);

/* context (rows × dv) (+)= weights (rows × keys) · v, for the rows of the block. Weights of what causal order or the
 * window hides from a row must be 0. */
void attn_block_blend(const attn_block *block, attn_matrix weights, const attn_key_tile *tile, bool adds,
                      float *context, size_t context_stride);

/* context[0..dv) += weights · v over weights that are not 0: what masked keys hold, infinities too, takes no
 * part. `v` begins at the first weight's row. */
void attn_block_add_values(const attn_block *block, const float *weights, size_t count, attn_matrix v,
                           float *context);

/* Tells the run what came of a tile. */
void attn_block_end(const attn_block *block, bool finite, size_t rows_without_keys);

#endif
