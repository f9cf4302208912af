/* What is asked of one attention layer, and how it is answered.
 *
 * The life of a request:  attn_plan_make (exact bytes and flops; every size is checked here)
 *                      →  attn_run_new (the one allocation)  →  attn_run_submit (tiles on the pool)
 *                      →  done: attn_run_check, attn_run_view …  →  attn_run_free.
 * Letters: N sequences, L query positions, S key positions, H query heads, Hkv key/value heads, dk and dv
 * head widths, E the layer's own extra keys. Sequences may differ in length; all tensors are packed, no
 * padding between sequences: ΣL rows of inputs, ΣS rows of context and values. */
#ifndef ATTN_ATTENTION_REQUEST_H
#define ATTN_ATTENTION_REQUEST_H

#include "../base/error.h"
#include "../sched/pool.h"
#include "../tensor/view.h"
#include "../weights/layer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which keys each query may see: allow[h·head_stride + i·query_stride + j] != 0. A stride of 0 broadcasts.
 * `allow` NULL: no such mask. h counts all H heads, i < L, j < S. */
typedef struct attn_mask {
    const uint8_t *allow;
    size_t head_stride, query_stride;
} attn_mask;

/* Added to the scaled scores: values[h·head_stride + i·query_stride + j]; strides as above. −Infinity masks
 * that key (torch's additive mask); NaN and +Infinity must not occur. `values` NULL: none. */
typedef struct attn_bias {
    const float *values;
    size_t head_stride, query_stride;
} attn_bias;

/* One sequence of the batch. All its masks combine by AND. */
typedef struct attn_sequence {
    size_t queries;         /* L >= 1 */
    size_t keys;            /* S >= 1; equals queries without `context` */
    const uint8_t *padding; /* S booleans, non-zero = ignore this key; NULL: none */
    attn_mask mask;
    attn_bias bias;
    const uint32_t
        *tokens; /* S numbers below 2³² − 1, equal for equal tokens: for statistics; NULL: not known */
} attn_sequence;

/* What to return, or-ed. */
enum {
    ATTN_WANT_OUTPUTS = 1,
    ATTN_WANT_MAPS = 2,
    ATTN_WANT_SCORES = 4,
    ATTN_WANT_PROJECTIONS = 8,
    ATTN_WANT_STATISTICS = 16, /* of the chosen heads, over all queries */
};

/* All memory is borrowed and must stay unchanged until the run is freed. */
typedef struct attn_request {
    const attn_layer *layer;

    const attn_sequence *sequences;
    size_t sequence_count; /* N >= 1 */

    /* Finite numbers throughout. */
    const float *inputs;  /* ΣL × d_model */
    const float *context; /* ΣS × d_key: keys (and values) come from here; NULL: from inputs */
    const float *values;  /* ΣS × d_value: values come from here; NULL: from where the keys come from */
    size_t d_model, d_key, d_value; /* widths of the three as given; those of absent ones are ignored */

    attn_causal causal; /* ATTN_CAUSAL_LAYER: the layer's default */
    bool window_given;  /* false: the layer's default */
    size_t window;    /* W >= 1: p − j < W, and j − p < W where not causal, with p = i, or i + S − L in
                           bottom_right; 0: none */
    bool scale_given; /* false: the layer's own */
    float scale;      /* any finite factor on q·k */

    unsigned want;       /* ATTN_WANT_…, at least one */
    const size_t *heads; /* which maps and scores, in this order; NULL: all */
    size_t head_count;
    /* Which rows of them, in this order; each must exist in every sequence; NULL: all. */
    const size_t *queries;
    size_t query_count;
    bool average_heads; /* maps are the mean over the chosen heads, without the H axis; not with scores */
    size_t top_k; /* k >= 1: maps (and scores beside them) as the k largest weights of each row; 0: whole
                           rows */
    uint64_t statistics; /* with ATTN_WANT_STATISTICS: which, or-ed ATTN_STATISTIC(…) (statistics.h) */
} attn_request;

/* A checked request: what will be done, where in the workspace, and what it costs. A plain value: may be
 * copied. */
typedef struct attn_plan {
    /* As given, with causal (OFF, TOP_LEFT or BOTTOM_RIGHT), window, scale and widths resolved. */
    attn_request request;
    size_t head_dim; /* dk, dv and d_out of this request (a parameter-free layer has none of its own) */
    size_t value_dim, d_out;
    size_t workers;           /* for how many workers scratch memory is counted */
    size_t total_queries;     /* ΣL */
    size_t total_keys;        /* ΣS */
    size_t map_heads;         /* H' of the maps: how many are chosen, or 1 for their mean */
    size_t map_rows;          /* rows of the maps asked for, all sequences and heads together */
    size_t map_floats;        /* in those rows */
    size_t result_floats;     /* of everything asked for */
    size_t kept_floats;       /* the first of them: where the tensors of the result lie */
    size_t statistic_heads;   /* whose statistics are wanted */
    size_t statistic_sums;    /* row blocks of such heads, over all sequences */
    size_t statistic_columns; /* columns of such heads' maps, likewise */
    size_t split_floats;      /* what keys that are split leave to be merged, over all sequences */
    size_t bytes;             /* of the memory that attn_run_new takes, exactly */
    double flops;             /* multiplications and additions of the products that are computed */

    /* Where things lie, in floats; SIZE_MAX: not there. */
    size_t at_q, at_k, at_v, at_context, at_outputs, at_maps, at_scores, at_scratch;
    size_t at_top_keys, at_top_rest, at_splits;
    size_t at_sums, at_mass, at_seen; /* statistics: sums of each head's row blocks; columns */
    size_t scratch_floats;            /* of one worker */
    size_t attention_tiles, projection_tiles, output_tiles;
    size_t merge_tiles; /* one for each head of each sequence where keys are split anywhere, else 0 */
} attn_plan;

/* Checks a request and counts exactly what it takes. Touches only sizes and selections, never tensor values.
 * Errors, `where` being the field's JSON Pointer in the service's request ("/inputs", "/return/heads/1" …):
 *   ATTN_SHAPE             a width that the layer does not take, keys != queries without context …
 *   ATTN_RANGE             an empty batch or sequence, a scale that is not finite, a selection that is empty,
 *                          repeated or out of range
 *   ATTN_AMBIGUOUS_CAUSAL  causal (or a window) without an alignment where L != S
 *   ATTN_CONFLICT          context missing for a cross block, values without context, a mean of scores, the
 *                          largest weights of maps that are not wanted
 *   ATTN_TOO_LARGE         sizes that overflow, or beyond what one BLAS call can index */
attn_code attn_plan_make(const attn_request *request, size_t workers, attn_plan *out, attn_error *error);

/* Which keys one query may see: visible[0 … S + E) is 1 or 0, by all masks, causal order and window. */
void attn_plan_visible(const attn_plan *plan, size_t sequence, size_t head, size_t query, uint8_t *visible);

typedef struct attn_run attn_run;

/* Called once on a worker when the run has ended. code: ATTN_OK, ATTN_CANCELLED, or ATTN_NOT_FINITE where a
 * value that was asked for is not finite (masked scores excepted). */
typedef void attn_run_done(void *context, attn_run *run, attn_code code);

/* Reserves plan->bytes of memory, kept from runs before where there is some (workspaces.h). Nothing is
 * allocated from here to the end of the run. Error: ATTN_NO_MEMORY. */
attn_code attn_run_new(const attn_plan *plan, attn_run **out, attn_error *error);

/* Queues the run on a pool of at most plan->workers workers. `done` may free the run. Once per run. */
void attn_run_submit(attn_run *run, attn_pool *pool, attn_run_done *done, void *context);

/* Submits and waits; not from a worker of that pool. */
attn_code attn_run_wait(attn_run *run, attn_pool *pool);

/* No further tile starts; done is called with ATTN_CANCELLED unless the last tile had already started. Any
 * thread, between submit and the return of done. */
void attn_run_cancel(attn_run *run);

const attn_plan *attn_run_plan(const attn_run *run);

/* Query rows, counted over sequences and heads, that may see no key: weights 0, output the projection's bias.
 * 0 where nothing but projections was asked for: no row was looked at. */
size_t attn_run_rows_without_keys(const attn_run *run);

typedef enum attn_result {
    ATTN_OUTPUTS, /* L × d_out */
    ATTN_MAPS,    /* heads' × queries' × (S + E): the softmax's weights; masked ones exactly 0. With
                     average_heads queries' × (S + E). With top_k the last axis is k: weights falling, ties to
                     the lower key, 0 where a row has fewer keys of non-zero weight */
    ATTN_SCORES, /* heads' × queries' × (S + E): what entered the softmax; masked ones −Infinity. With top_k
                     those of the same keys, −Infinity where there is none */
    ATTN_REST,   /* with top_k: heads' × queries', the sum of the weights that are not among the k */
    ATTN_Q,      /* H   × L × dk, after the bias, unscaled */
    ATTN_K,      /* Hkv × S × dk, likewise, without the layer's extra keys */
    ATTN_V,      /* Hkv × S × dv */
} attn_result;

/* One sequence's part of a result that was asked for. Points into the run. */
attn_view attn_run_view(const attn_run *run, attn_result what, size_t sequence);

/* With top_k: which keys the weights of ATTN_MAPS belong to, in the same shape and packed; −1 where there is
 * none. */
const int32_t *attn_run_top_keys(const attn_run *run, size_t sequence);

/* Once done, and once statistics have been read: gives the memory of everything but the result's tensors back, for the
 * next run. They are all that may be read from then on. Returns the bytes that the run still takes. */
size_t attn_run_keep_tensors(attn_run *run);

/* NULL is fine; not while it is submitted. */
void attn_run_free(attn_run *run);

#endif
