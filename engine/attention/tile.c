/* One attention tile: scores = q·kᵀ·scale, masks, softmax, context = weights·v, for one block of query rows
 * and one head, or head after head where the mean of the maps is wanted.
 *
 * Keys that causal order and window hide from every row of the block are not computed. Where the caller wants
 * the whole map of a head, scores are written straight into the answer's memory and normalised there; else
 * they live in the worker's scratch memory and what was asked for is copied out. */
#include "mask.h"
#include "run.h"
#include "softmax.h"
#include "top_k.h"

#include "../base/size.h"
#include "../blas/blas.h"
#include "../tensor/finite.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* What one tile works on. r = rows, w = S + E. */
typedef struct row_block {
    attn_run *run;
    const attn_plan *plan;
    const attn_request *request;
    const attn_layer *layer;
    const attn_sequence *sequence;
    const attn_place *place;
    size_t first_head, end_head;
    attn_span rows; /* of the sequence's queries */
    attn_span keys; /* that any of the rows can see */
    size_t width;   /* w */
    float *scratch; /* r × w */
    float *mean;    /* r × w: the sum over heads so far; NULL: no mean wanted */
    float *scores;  /* w: one row's scores, kept for top_k; NULL: not wanted */
    size_t rows_without_keys;
    bool finite; /* everything asked for so far */
} row_block;

/* One head of the block. */
typedef struct head_rows {
    size_t head, kv_head;
    size_t slot;    /* of the head among the maps, or SIZE_MAX */
    float *weights; /* r × w: scores, then weights */
} head_rows;

size_t attn_scratch_floats(const attn_plan *plan, size_t widest, bool *overflow) {
    const attn_request *r = &plan->request;
    size_t copies = r->average_heads ? 2 : 1, block = 0, total = 0;
    bool fits = attn_size_mul(ATTN_TILE_ROWS * copies, widest, &block) &&
                attn_size_add(block, widest, &total) && attn_size_add(total, ATTN_ALIGN_FLOATS, &total);
    if (!fits) *overflow = true;
    return total & ~(size_t)(ATTN_ALIGN_FLOATS - 1);
}

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

static row_block make_block(attn_run *run, size_t tile, size_t worker) {
    const attn_plan *plan = &run->plan;
    const attn_request *r = &plan->request;
    row_block b = {.run = run, .plan = plan, .request = r, .layer = r->layer, .finite = true};
    size_t n = sequence_of(run, tile);
    b.sequence = &r->sequences[n];
    b.place = &run->places[n];
    size_t blocks = attn_row_blocks(b.sequence->queries), local = tile - b.place->tile;
    b.first_head = local / blocks;
    b.end_head = r->average_heads ? b.layer->heads : b.first_head + 1;
    b.rows = attn_row_block(b.sequence->queries, local % blocks);
    b.keys = attn_block_keys(plan, b.sequence, b.rows);
    b.width = b.sequence->keys + b.layer->extra_keys;
    b.scratch = run->floats + plan->at_scratch + worker * plan->scratch_floats;
    float *behind = b.scratch + ATTN_TILE_ROWS * b.width;
    if (r->average_heads) b.mean = behind;
    if (r->top_k > 0 && (r->want & ATTN_WANT_SCORES)) b.scores = behind;
    return b;
}

/* Which row of the maps query `row` of the head at `slot` is, counted from the sequence's first; SIZE_MAX:
 * none. */
static size_t map_row(const row_block *b, size_t slot, size_t row) {
    size_t index = b->run->query_slots ? b->run->query_slots[row] : row;
    if (slot == SIZE_MAX || index == SIZE_MAX) return SIZE_MAX;
    return slot * attn_map_rows(b->plan, b->sequence) + index;
}

/* That row's floats in the region at `at`. */
static float *map_floats(const row_block *b, size_t at, size_t row) {
    return b->run->floats + at + b->place->map + row * attn_map_width(b->plan, b->sequence);
}

static head_rows make_head(const row_block *b, size_t head) {
    const attn_request *r = b->request;
    head_rows h = {.head = head, .kv_head = head / (b->layer->heads / b->layer->kv_heads)};
    h.slot = b->run->head_slots[head];
    bool direct =
        (r->want & ATTN_WANT_MAPS) && !b->mean && r->top_k == 0 && !r->queries && h.slot != SIZE_MAX;
    h.weights = direct ? map_floats(b, b->plan->at_maps, map_row(b, h.slot, b->rows.begin)) : b->scratch;
    return h;
}

/* scores (r × w) = scale · q (r × dk) · kᵀ, for the keys in reach and the layer's own. */
static void compute_scores(const row_block *b, const head_rows *h) {
    size_t rows = b->rows.end - b->rows.begin, dim = b->plan->head_dim;
    attn_matrix q = attn_run_q(b->run), k = attn_run_k(b->run);
    const float *queries = q.data + (b->place->query_row + b->rows.begin) * q.stride + h->head * dim;
    const float *keys = k.data + (b->place->key_row + b->keys.begin) * k.stride + h->kv_head * dim;
    attn_gemm(true, rows, b->keys.end - b->keys.begin, dim, b->request->scale, queries, q.stride, keys,
              k.stride, 0, h->weights + b->keys.begin, b->width);
    if (b->layer->extra_keys > 0)
        attn_gemm(true, rows, b->layer->extra_keys, dim, b->request->scale, queries, q.stride,
                  b->layer->extra_k + h->kv_head * dim, b->layer->kv_heads * dim, 0,
                  h->weights + b->sequence->keys, b->width);
}

/* Gives out one row of scores, or keeps it for top_k. */
static void emit_scores(row_block *b, const head_rows *h, size_t row, const float *scores, size_t allowed) {
    size_t at = map_row(b, h->slot, row);
    if (!(b->request->want & ATTN_WANT_SCORES) || at == SIZE_MAX) return;
    memcpy(b->scores ? b->scores : map_floats(b, b->plan->at_scores, at), scores, b->width * sizeof *scores);
    /* Each masked score is −Infinity; one more value that is not finite is an overflow. */
    if (attn_count_not_finite(scores, b->width) != b->width - allowed) b->finite = false;
}

/* Gives out the k largest weights of a row, with their keys, their scores and what is left. */
static void emit_top(const row_block *b, size_t at, const float *weights) {
    const attn_plan *plan = b->plan;
    size_t k = b->request->top_k;
    int32_t *keys = (int32_t *)(void *)map_floats(b, plan->at_top_keys, at);
    b->run->floats[plan->at_top_rest + b->place->map_row + at] =
        attn_top_k(weights, b->width, k, keys, map_floats(b, plan->at_maps, at));
    if (!b->scores) return;
    float *scores = map_floats(b, plan->at_scores, at);
    for (size_t i = 0; i < k; i++)
        scores[i] = keys[i] < 0 ? -INFINITY : b->scores[keys[i]];
}

/* Gives out one row of weights: whole or its largest. */
static void emit_weights(const row_block *b, size_t slot, size_t row, const float *weights) {
    size_t at = map_row(b, slot, row);
    if (!(b->request->want & ATTN_WANT_MAPS) || at == SIZE_MAX) return;
    if (b->request->top_k > 0) {
        emit_top(b, at, weights);
        return;
    }
    float *map = map_floats(b, b->plan->at_maps, at);
    if (map != weights) memcpy(map, weights, b->width * sizeof *map);
}

static void add_to_mean(const row_block *b, size_t row, const float *weights) {
    float *mean = b->mean + (row - b->rows.begin) * b->width;
    for (size_t j = 0; j < b->width; j++)
        mean[j] += weights[j];
}

/* Masks one row, gives out its scores, turns it into weights and gives those out. */
static void finish_row(row_block *b, const head_rows *h, size_t row) {
    float *weights = h->weights + (row - b->rows.begin) * b->width;
    size_t allowed =
        attn_mask_row(b->sequence, h->head, row, attn_row_keys(b->plan, b->sequence, row), weights) +
        b->layer->extra_keys;
    b->rows_without_keys += allowed == 0;
    emit_scores(b, h, row, weights, allowed);
    if (!(b->request->want & (ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS))) return;
    /* A row whose every visible score fell below float32's range has a maximum that float32 cannot tell. */
    bool lost = allowed > 0 && attn_count_not_finite(weights, b->width) == b->width;
    if (!attn_softmax_row(weights, b->width) || lost) b->finite = false;
    if (!b->mean)
        emit_weights(b, h->slot, row, weights);
    else if (h->slot != SIZE_MAX)
        add_to_mean(b, row, weights);
}

/* context = weights · v over weights that are not 0: what masked keys hold, infinities too, takes no part. */
static void sum_values_carefully(const row_block *b, const float *weights, attn_matrix v, float *context) {
    size_t dim = b->plan->value_dim;
    memset(context, 0, dim * sizeof *context);
    for (size_t j = b->keys.begin; j < b->keys.end; j++)
        for (size_t c = 0; weights[j] != 0 && c < dim; c++)
            context[c] += weights[j] * v.data[j * v.stride + c];
}

/* context (r × dv) = weights (r × w) · v (w × dv), written to its head's columns. */
static void compute_context(row_block *b, const head_rows *h) {
    size_t rows = b->rows.end - b->rows.begin, dim = b->plan->value_dim, stride = b->layer->heads * dim;
    attn_matrix v = attn_run_v(b->run);
    v.data += b->place->key_row * v.stride + h->kv_head * dim;
    float *context =
        b->run->floats + b->plan->at_context + (b->place->query_row + b->rows.begin) * stride + h->head * dim;
    if (atomic_load_explicit(&b->run->values_not_finite, memory_order_relaxed))
        for (size_t i = 0; i < rows; i++)
            sum_values_carefully(b, h->weights + i * b->width, v, context + i * stride);
    else
        attn_gemm(false, rows, dim, b->keys.end - b->keys.begin, 1, h->weights + b->keys.begin, b->width,
                  v.data + b->keys.begin * v.stride, v.stride, 0, context, stride);
    if (b->layer->extra_keys > 0)
        attn_gemm(false, rows, dim, b->layer->extra_keys, 1, h->weights + b->sequence->keys, b->width,
                  b->layer->extra_v + h->kv_head * dim, b->layer->kv_heads * dim, 1, context, stride);
    if (b->layer->wo) return; /* the output projection looks at what comes of it */
    for (size_t i = 0; i < rows; i++)
        if (attn_count_not_finite(context + i * stride, dim) > 0) b->finite = false;
}

/* A head that nothing asked for: only its rows without keys count. */
static void count_rows_without_keys(row_block *b, size_t head) {
    for (size_t row = b->rows.begin; row < b->rows.end && b->layer->extra_keys == 0; row++)
        b->rows_without_keys +=
            attn_mask_count(b->sequence, head, row, attn_row_keys(b->plan, b->sequence, row)) == 0;
}

static void run_head(row_block *b, size_t head) {
    head_rows h = make_head(b, head);
    bool outputs = b->request->want & ATTN_WANT_OUTPUTS;
    if (!outputs && h.slot == SIZE_MAX) {
        count_rows_without_keys(b, head);
        return;
    }
    compute_scores(b, &h);
    for (size_t row = b->rows.begin; row < b->rows.end; row++)
        finish_row(b, &h, row);
    if (outputs) compute_context(b, &h);
}

/* mean = sum / H', given out row by row. */
static void finish_mean(const row_block *b) {
    const attn_request *r = b->request;
    float factor = 1.0f / (float)(r->heads ? r->head_count : b->layer->heads);
    for (size_t row = b->rows.begin; row < b->rows.end; row++) {
        float *mean = b->mean + (row - b->rows.begin) * b->width;
        for (size_t j = 0; j < b->width; j++)
            mean[j] *= factor;
        emit_weights(b, 0, row, mean);
    }
}

void attn_tile_run(attn_run *run, size_t tile, size_t worker) {
    row_block b = make_block(run, tile, worker);
    if (b.mean) memset(b.mean, 0, (b.rows.end - b.rows.begin) * b.width * sizeof *b.mean);
    for (size_t head = b.first_head; head < b.end_head; head++)
        run_head(&b, head);
    if (b.mean) finish_mean(&b);
    if (!b.finite) atomic_store_explicit(&run->result_not_finite, true, memory_order_relaxed);
    if (b.rows_without_keys > 0)
        atomic_fetch_add_explicit(&run->rows_without_keys, b.rows_without_keys, memory_order_relaxed);
}
