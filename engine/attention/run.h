/* The inside of a run: memory that begins with this struct, then the tables, then the tensors of the result; and memory
 * for what is needed until those are there. */
#ifndef ATTN_ATTENTION_RUN_H
#define ATTN_ATTENTION_RUN_H

#include "geometry.h"

#include "../sched/workspaces.h"
#include "row_statistics.h"

#include <stdatomic.h>

/* Where one sequence's parts begin. */
typedef struct attn_place {
    size_t query_row;   /* its first row among all queries */
    size_t key_row;     /* its first row among all keys */
    size_t map_row;     /* its first row among the maps' (and the scores') */
    size_t map;         /* its first float among the maps (and among the scores) */
    size_t tile;        /* its first attention tile */
    size_t sums;        /* its first row block's sums among the statistics' */
    size_t column;      /* its first column among theirs */
    size_t splits;      /* its first float among what splits of keys leave */
    attn_span unpadded; /* its keys without those that padding hides at either end: they cost nothing */
} attn_place;

struct attn_run {
    attn_plan plan;
    attn_workspace workspace; /* which this struct lies in */
    attn_workspace scratch;   /* until the tensors of the result are there */
    attn_job job;
    attn_run_done *done;
    void *done_context;

    attn_linear projections[ATTN_PROJECTIONS];
    size_t projection_count;
    attn_linear output; /* where plan.output_tiles > 0 */

    attn_place *places;    /* N + 1: the last one holds the totals */
    size_t *head_slots;    /* H: where a head stands in the selection, or SIZE_MAX */
    size_t *query_slots;   /* longest L, likewise; NULL: all queries, in order */
    float *kept, *passing; /* the floats of both: the plan's first kept_floats, and those behind them */

    atomic_bool result_not_finite; /* something asked for is not finite */
    atomic_bool values_not_finite; /* V holds such a value: masked keys must not touch the sums */
    atomic_size_t rows_without_keys;
};

/* The floats at one of the plan's places. */
static inline float *attn_run_floats(const attn_run *run, size_t at) {
    return at < run->plan.kept_floats ? run->kept + at : run->passing + (at - run->plan.kept_floats);
}

/* Runs attention tile `tile`: one block of query rows for one head, or for all heads where their mean is
 * wanted. The first keeps whole rows of scores, the second is for plans that are online: there it may be one split of the
 * keys, and what the splits leave is merged by the third, with a tile for each head of each sequence, once all have
 * ended. */
void attn_tile_run(attn_run *run, size_t tile, size_t worker);
void attn_online_run(attn_run *run, size_t tile, size_t worker);
void attn_online_merge(attn_run *run, size_t tile, size_t worker);

/* What the row block of the head at `slot` adds to its statistics: written by its tile, read when all have ended. */
attn_statistic_sums *attn_run_statistic_sums(const attn_run *run, size_t sequence, size_t slot, size_t block);
/* Adds to a head's columns. In whole units of 2⁻³², so that the order in which tiles do so changes nothing. */
void attn_run_add_columns(attn_run *run, size_t sequence, size_t slot, const double *mass,
                          const uint32_t *seen);

/* Row-major matrices as the tile sees them: the first row and head, and the floats from row to row. */
typedef struct attn_matrix {
    const float *data;
    size_t stride;
} attn_matrix;

/* The queries, keys and values that attention reads: projected, or the request's own tensors for a
 * parameter-free layer. Rows count over all sequences; heads stand side by side in a row. */
attn_matrix attn_run_q(const attn_run *run);
attn_matrix attn_run_k(const attn_run *run);
attn_matrix attn_run_v(const attn_run *run);

#endif
