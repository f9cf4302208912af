/* How one request is cut: blocks of query rows, the keys each block can see, and the matrix products of the
 * projections. Plan and run both ask here, so that what is counted is what is done.
 *
 * Everything depends on the request's shape alone, never on the number of workers: that keeps results
 * bit-equal. */
#ifndef ATTN_ATTENTION_GEOMETRY_H
#define ATTN_ATTENTION_GEOMETRY_H

#include "request.h"

enum {
    ATTN_TILE_ROWS = 128,   /* query rows of one attention tile that keeps whole rows of scores */
    ATTN_ONLINE_ROWS = 256, /* query rows and keys of one tile of scores that does not */
    ATTN_ONLINE_KEYS = 768,
    ATTN_SPLIT_KEYS = 512, /* keys of one tile where few queries leave one tile to a head */
    /* Rows of one projection tile: of OpenBLAS, which packs the weights for each tile, and where rows are packed instead
     * (panel.h), all of them at once. And its columns. */
    ATTN_BLAS_TILE_ROWS = 1024,
    ATTN_PANEL_TILE_ROWS = 96,
    ATTN_LINEAR_COLUMNS = 384,
    ATTN_FEW_COLUMNS = 96, /* its columns where the rows are few: its weights stay in cache */
    /* From ATTN_TALL_ROWS rows on it is cheaper to pack weights: of ATTN_PANEL_ROWS columns for so many rows at most. */
    ATTN_TALL_ROWS = 256,
    ATTN_TALL_TILE_ROWS = 512,
    ATTN_ALIGN_FLOATS = 16, /* one cache line */
};

/* Half-open range of indices. */
typedef struct attn_span {
    size_t begin, end;
} attn_span;

/* Whether no row of scores or weights is wanted, so that none need be whole at any time (online.c). */
bool attn_plan_is_online(const attn_plan *plan);

/* How many row blocks a sequence of L queries has, and the rows of one. */
size_t attn_row_blocks(const attn_plan *plan, size_t queries);
attn_span attn_row_block(const attn_plan *plan, size_t queries, size_t block);

/* The keys that causal and window leave to query `row`; may be empty. Grows monotonically with the row at
 * both ends. */
attn_span attn_row_keys(const attn_plan *plan, const attn_sequence *sequence, size_t row);
/* The keys that any row of a block can see. */
attn_span attn_block_keys(const attn_plan *plan, const attn_sequence *sequence, attn_span rows);

/* Where the scores of few queries (few.h) need not be kept and keys are many, a head's keys are split over several tiles,
 * so that a single head takes more than one worker (online.c). How many splits a sequence's keys make, 1 where they stay
 * together, and the keys of one split. A sequence whose keys are split has one row block. */
size_t attn_key_splits(const attn_plan *plan, const attn_sequence *sequence);
attn_span attn_key_split(attn_span keys, size_t split, size_t splits);

/* How many tiles a block of rows and a split of the keys make: one a head, or one that walks all heads where their
 * mean is wanted, so that the mean is always summed in the same order. */
size_t attn_block_tiles(const attn_plan *plan);
/* Rows of one head's map of a sequence, and floats of one such row. */
size_t attn_map_rows(const attn_plan *plan, const attn_sequence *sequence);
size_t attn_map_width(const attn_plan *plan, const attn_sequence *sequence);

/* y (rows × out) = x (rows × in) · wᵀ (+ b). w is out × in. */
typedef struct attn_linear {
    size_t rows, in, out;
    const float *x, *w, *b;
    float *y;
} attn_linear;

enum { ATTN_PROJECT_Q, ATTN_PROJECT_K, ATTN_PROJECT_V, ATTN_PROJECTIONS };

size_t attn_linear_tiles(const attn_linear *linear);
/* Computes one tile. False when it holds a value that is not finite. */
bool attn_linear_run(const attn_linear *linear, size_t tile);
/* Whether its rows are so few that it can share its tiles. */
bool attn_linear_can_share(const attn_linear *linear);
/* One tile of `count` projections with the same weights that can share; finite[i] as attn_linear_run returns it. Each has
 * the bits that it has alone. */
void attn_linear_run_together(const attn_linear *const *linears, size_t count, size_t tile, bool *finite);

/* The projections to q, k and (where needed) v; none for a parameter-free layer. `run` may be NULL,
 * then x and y mean nothing. Returns how many there are. */
size_t attn_plan_projections(const attn_plan *plan, const attn_run *run, attn_linear out[ATTN_PROJECTIONS]);
/* The output projection; false where there is none to do. */
bool attn_plan_output(const attn_plan *plan, const attn_run *run, attn_linear *out);

/* Floats of one worker's scratch memory: for whole rows of scores, of which the longest has `widest`, in
 * blocks of at most `rows`, and for tiles of scores. Sets *overflow when they do not fit. */
size_t attn_tile_scratch(const attn_plan *plan, size_t rows, size_t widest, bool *overflow);
size_t attn_online_scratch(size_t rows, size_t widest);
/* Floats that the splits of a sequence's keys leave, all heads together; 0 where they are not split. Sets *overflow. */
size_t attn_split_floats(const attn_plan *plan, const attn_sequence *sequence, bool *overflow);
/* How much of the first is for statistics, at its end; 0 where none are wanted. */
size_t attn_statistics_scratch(const attn_plan *plan, size_t widest, bool *overflow);

/* Bytes of a run before its floats; sets *overflow when they do not fit. */
size_t attn_run_header_bytes(const attn_plan *plan, bool *overflow);

#endif
