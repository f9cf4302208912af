/* One attention tile: scores = q·kᵀ·scale, masks, softmax, context = weights·v, for one head of one block of
 * rows.
 *
 * Keys that causal order and window hide from every row of the block are not computed. Where the caller wants
 * the whole map of this head, scores are written straight into the answer's memory and normalised there; else
 * they live in the worker's scratch memory. */
#include "mask.h"
#include "run.h"
#include "softmax.h"

#include "../blas/blas.h"
#include "../tensor/finite.h"

#include <stdint.h>
#include <string.h>

/* What one tile works on. r = rows, w = S + E. */
typedef struct head_tile {
    attn_run *run;
    const attn_layer *layer;
    const attn_sequence *sequence;
    const attn_place *place;
    size_t head, kv_head;
    size_t slot;    /* of the head in the selection, or SIZE_MAX */
    attn_span rows; /* of the sequence's queries */
    attn_span keys; /* that any of the rows can see */
    size_t width;   /* w */
    float *weights; /* r × w: scores, then weights */
} head_tile;

/* The place of the sequence that a tile belongs to. */
static size_t sequence_of(const attn_run *run, size_t tile) {
    size_t low = 0, high = run->plan.request.sequence_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (run->places[middle].tile <= tile)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where selected row `row` of the tile's head goes in the maps (or scores) that begin at `at`; NULL: not
 * selected. */
static float *result_row(const head_tile *t, size_t at, size_t row) {
    const attn_run *run = t->run;
    if (at == SIZE_MAX || t->slot == SIZE_MAX) return NULL;
    size_t rows = run->query_slots ? run->plan.request.query_count : t->sequence->queries;
    size_t index = run->query_slots ? run->query_slots[row] : row;
    if (index == SIZE_MAX) return NULL;
    return run->floats + at + t->place->map + (t->slot * rows + index) * t->width;
}

static head_tile make_tile(attn_run *run, size_t index, size_t worker) {
    const attn_plan *plan = &run->plan;
    head_tile t = {.run = run, .layer = plan->request.layer};
    size_t n = sequence_of(run, index);
    t.sequence = &plan->request.sequences[n];
    t.place = &run->places[n];
    size_t blocks = attn_row_blocks(t.sequence->queries), local = index - t.place->tile;
    t.head = local / blocks;
    t.kv_head = t.head / (t.layer->heads / t.layer->kv_heads);
    t.slot = run->head_slots[t.head];
    t.rows = attn_row_block(t.sequence->queries, local % blocks);
    t.keys = attn_block_keys(plan, t.sequence, t.rows);
    t.width = t.sequence->keys + t.layer->extra_keys;
    float *direct = run->query_slots ? NULL : result_row(&t, plan->at_maps, t.rows.begin);
    t.weights = direct ? direct : run->floats + plan->at_scratch + worker * plan->scratch_floats;
    return t;
}

/* scores (r × w) = scale · q (r × dk) · kᵀ, for the keys in reach and the layer's own. */
static void compute_scores(const head_tile *t) {
    const attn_plan *plan = &t->run->plan;
    size_t rows = t->rows.end - t->rows.begin, dim = plan->head_dim;
    attn_matrix q = attn_run_q(t->run), k = attn_run_k(t->run);
    const float *queries = q.data + (t->place->query_row + t->rows.begin) * q.stride + t->head * dim;
    const float *keys = k.data + (t->place->key_row + t->keys.begin) * k.stride + t->kv_head * dim;
    attn_gemm(true, rows, t->keys.end - t->keys.begin, dim, plan->request.scale, queries, q.stride, keys,
              k.stride, 0, t->weights + t->keys.begin, t->width);
    if (t->layer->extra_keys > 0)
        attn_gemm(true, rows, t->layer->extra_keys, dim, plan->request.scale, queries, q.stride,
                  t->layer->extra_k + t->kv_head * dim, t->layer->kv_heads * dim, 0,
                  t->weights + t->sequence->keys, t->width);
}

/* Masks one row, hands out its scores, and turns it into weights. False where what was asked for is not
 * finite. */
static bool finish_row(const head_tile *t, size_t row, size_t *without_keys) {
    const attn_plan *plan = &t->run->plan;
    float *weights = t->weights + (row - t->rows.begin) * t->width;
    size_t allowed =
        attn_mask_row(t->sequence, t->head, row, attn_row_keys(plan, t->sequence, row), weights) +
        t->layer->extra_keys;
    *without_keys += allowed == 0;
    bool finite = true;
    float *scores = result_row(t, plan->at_scores, row);
    if (scores) {
        memcpy(scores, weights, t->width * sizeof *scores);
        /* Each masked score is −Infinity; one more value that is not finite is an overflow. */
        finite = attn_count_not_finite(scores, t->width) == t->width - allowed;
    }
    if (!(plan->request.want & (ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS))) return finite;
    /* A row whose every visible score fell below float32's range has a maximum that float32 cannot tell. */
    bool lost = allowed > 0 && attn_count_not_finite(weights, t->width) == t->width;
    finite = attn_softmax_row(weights, t->width) && !lost && finite;
    float *map = result_row(t, plan->at_maps, row);
    if (map && map != weights) memcpy(map, weights, t->width * sizeof *map);
    return finite;
}

/* context = weights · v over weights that are not 0: what masked keys hold, infinities too, takes no part. */
static void sum_values_carefully(const head_tile *t, const float *weights, attn_matrix v, float *context) {
    size_t dim = t->run->plan.value_dim;
    memset(context, 0, dim * sizeof *context);
    for (size_t j = t->keys.begin; j < t->keys.end; j++)
        for (size_t c = 0; weights[j] != 0 && c < dim; c++)
            context[c] += weights[j] * v.data[j * v.stride + c];
}

/* context (r × dv) = weights (r × w) · v (w × dv), written to its head's columns. */
static bool compute_context(const head_tile *t) {
    const attn_plan *plan = &t->run->plan;
    size_t rows = t->rows.end - t->rows.begin, dim = plan->value_dim, stride = t->layer->heads * dim;
    attn_matrix v = attn_run_v(t->run);
    v.data += t->place->key_row * v.stride + t->kv_head * dim;
    float *context =
        t->run->floats + plan->at_context + (t->place->query_row + t->rows.begin) * stride + t->head * dim;
    if (atomic_load_explicit(&t->run->values_not_finite, memory_order_relaxed))
        for (size_t i = 0; i < rows; i++)
            sum_values_carefully(t, t->weights + i * t->width, v, context + i * stride);
    else
        attn_gemm(false, rows, dim, t->keys.end - t->keys.begin, 1, t->weights + t->keys.begin, t->width,
                  v.data + t->keys.begin * v.stride, v.stride, 0, context, stride);
    if (t->layer->extra_keys > 0)
        attn_gemm(false, rows, dim, t->layer->extra_keys, 1, t->weights + t->sequence->keys, t->width,
                  t->layer->extra_v + t->kv_head * dim, t->layer->kv_heads * dim, 1, context, stride);
    if (t->layer->wo) return true; /* the output projection looks at what comes of it */
    size_t not_finite = 0;
    for (size_t i = 0; i < rows; i++)
        not_finite += attn_count_not_finite(context + i * stride, dim);
    return not_finite == 0;
}

void attn_tile_run(attn_run *run, size_t index, size_t worker) {
    const attn_plan *plan = &run->plan;
    head_tile t = make_tile(run, index, worker);
    bool outputs = plan->request.want & ATTN_WANT_OUTPUTS, computed = outputs || t.slot != SIZE_MAX,
         finite = true;
    size_t without_keys = 0;
    if (computed) compute_scores(&t);
    for (size_t row = t.rows.begin; row < t.rows.end; row++) {
        if (computed)
            finite = finish_row(&t, row, &without_keys) && finite;
        else
            without_keys +=
                t.layer->extra_keys == 0 &&
                attn_mask_count(t.sequence, t.head, row, attn_row_keys(plan, t.sequence, row)) == 0;
    }
    if (outputs) finite = compute_context(&t) && finite;
    if (!finite) atomic_store_explicit(&run->result_not_finite, true, memory_order_relaxed);
    if (without_keys > 0)
        atomic_fetch_add_explicit(&run->rows_without_keys, without_keys, memory_order_relaxed);
}
