/* One attention tile: scores = q·kᵀ·scale, masks, softmax, context = weights·v, for one block of query rows
 * and one head, or head after head where the mean of the maps is wanted.
 *
 * Keys that causal order and window hide from every row of the block are not computed. Where the caller wants
 * the whole map of a head, scores are written straight into the answer's memory and normalised there; else
 * they live in the worker's scratch memory and what was asked for is copied out. */
#include "block.h"
#include "mask.h"
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
    attn_block at;
    size_t width;  /* w */
    float *mean;   /* r × w, behind the block's scratch: the sum over heads so far; NULL: no mean wanted */
    float *scores; /* w: one row's scores, kept for top_k; NULL: not wanted */
    float *statistics; /* scratch memory for them; NULL: not wanted */
    size_t rows_without_keys;
    bool finite; /* everything asked for so far */
} row_block;

/* One head of the block. */
typedef struct head_rows {
    size_t head;
    size_t slot;                     /* of the head among the maps, or SIZE_MAX */
    float *weights;                  /* r × w: scores, then weights */
    attn_row_statistics *statistics; /* NULL: not wanted */
} head_rows;

/* Rows of the largest block of a request. */
static size_t block_rows(size_t longest) {
    return longest < ATTN_TILE_ROWS ? longest : ATTN_TILE_ROWS;
}

size_t attn_tile_scratch(const attn_plan *plan, size_t rows, size_t widest, bool *overflow) {
    size_t copies = plan->request.average_heads ? 2 : 1, block = 0, total = 0;
    bool fits = attn_size_mul(block_rows(rows) * copies, widest, &block) &&
                attn_size_add(block, widest, &total) && attn_size_add(total, ATTN_ALIGN_FLOATS, &total);
    total &= ~(size_t)(ATTN_ALIGN_FLOATS - 1);
    fits = fits && attn_size_add(total, attn_statistics_scratch(plan, widest, overflow), &total);
    if (!fits) *overflow = true;
    return total;
}

size_t attn_statistics_scratch(const attn_plan *plan, size_t widest, bool *overflow) {
    return plan->request.want & ATTN_WANT_STATISTICS ? attn_row_statistics_scratch(widest, overflow) : 0;
}

static row_block make_block(attn_run *run, size_t tile, size_t worker) {
    row_block b = {.at = attn_block_of(run, tile, worker), .finite = true};
    const attn_request *r = b.at.request;
    b.width = b.at.sequence->keys + b.at.layer->extra_keys;
    float *behind = b.at.scratch + block_rows(b.at.sequence->queries) * b.width;
    if (r->average_heads) b.mean = behind;
    if (r->top_k > 0 && (r->want & ATTN_WANT_SCORES)) b.scores = behind;
    bool overflow = false; /* the plan has looked */
    if (r->want & ATTN_WANT_STATISTICS)
        b.statistics =
            b.at.scratch + b.at.plan->scratch_floats - attn_statistics_scratch(b.at.plan, b.width, &overflow);
    return b;
}

/* Which row of the maps query `row` of the head at `slot` is, counted from the sequence's first; SIZE_MAX:
 * none. */
static size_t map_row(const row_block *b, size_t slot, size_t row) {
    size_t index = b->at.run->query_slots ? b->at.run->query_slots[row] : row;
    if (slot == SIZE_MAX || index == SIZE_MAX) return SIZE_MAX;
    return slot * attn_map_rows(b->at.plan, b->at.sequence) + index;
}

/* That row's floats in the region at `at`. */
static float *map_floats(const row_block *b, size_t at, size_t row) {
    return attn_run_floats(b->at.run, at) + b->at.place->map +
           row * attn_map_width(b->at.plan, b->at.sequence);
}

static head_rows make_head(const row_block *b, size_t head) {
    const attn_request *r = b->at.request;
    head_rows h = {.head = head};
    h.slot = b->at.run->head_slots[head];
    bool direct =
        (r->want & ATTN_WANT_MAPS) && !b->mean && r->top_k == 0 && !r->queries && h.slot != SIZE_MAX;
    h.weights =
        direct ? map_floats(b, b->at.plan->at_maps, map_row(b, h.slot, b->at.rows.begin)) : b->at.scratch;
    return h;
}

/* The next keys in reach from `from` on that are computed as one: all where there are no masks; else up to
 * ATTN_ONLINE_KEYS, so that those which no row sees can be left out. Empty: there are no more. */
static attn_span next_keys(const row_block *b, size_t head, size_t from) {
    const attn_sequence *s = b->at.sequence;
    attn_span keys = {from, b->at.keys.end};
    if (!s->padding && !s->mask.allow && !s->bias.values) return keys;
    while (keys.begin < keys.end) {
        size_t rest = b->at.keys.end - keys.begin;
        keys.end = keys.begin + (rest < ATTN_ONLINE_KEYS ? rest : ATTN_ONLINE_KEYS);
        if (!attn_block_hides(&b->at, head, keys)) return keys;
        keys = (attn_span){keys.end, b->at.keys.end};
    }
    return keys;
}

static attn_span extra_keys(const row_block *b) {
    return (attn_span){0, b->at.layer->extra_keys};
}

/* scores (r × w) = scale · q (r × dk) · kᵀ, for the keys in reach and the layer's own. What no row sees stays as it is
 * and is masked later. */
static void compute_scores(const row_block *b, const head_rows *h) {
    attn_matrix q = attn_block_q(&b->at, h->head);
    for (attn_span keys = next_keys(b, h->head, b->at.keys.begin); keys.begin < keys.end;
         keys = next_keys(b, h->head, keys.end)) {
        attn_key_tile tile = attn_block_key_tile(&b->at, h->head, keys, false);
        attn_block_scores(&b->at, q, &tile, h->weights + keys.begin, b->width);
    }
    if (b->at.layer->extra_keys == 0) return;
    attn_key_tile extra = attn_block_key_tile(&b->at, h->head, extra_keys(b), true);
    attn_block_scores(&b->at, q, &extra, h->weights + b->at.sequence->keys, b->width);
}

static void fill(float *row, size_t begin, size_t end, float value) {
    for (size_t j = begin; j < end; j++)
        row[j] = value;
}

/* Makes what a row may not see −Infinity, adds the bias to the rest and returns how many keys that is. */
static size_t mask_row(const row_block *b, size_t head, size_t row, attn_span keys, float *scores) {
    fill(scores, 0, keys.begin, -INFINITY);
    fill(scores, keys.end, b->at.sequence->keys, -INFINITY);
    return attn_mask_row(b->at.sequence, head, row, keys, scores + keys.begin) + b->at.layer->extra_keys;
}

/* Scores become weights. Only keys in reach, and the layer's own behind them, take part. */
static attn_softmax weigh_row(const row_block *b, attn_span keys, float *row) {
    size_t end = b->at.layer->extra_keys > 0 ? b->width : keys.end;
    fill(row, 0, keys.begin, 0);
    fill(row, end, b->width, 0);
    return attn_softmax_row(row + keys.begin, end - keys.begin);
}

/* Gives out one row of scores, or keeps it for top_k. */
static void emit_scores(row_block *b, const head_rows *h, size_t row, const float *scores, size_t allowed) {
    size_t at = map_row(b, h->slot, row);
    if (!(b->at.request->want & ATTN_WANT_SCORES) || at == SIZE_MAX) return;
    memcpy(b->scores ? b->scores : map_floats(b, b->at.plan->at_scores, at), scores,
           b->width * sizeof *scores);
    /* Each masked score is −Infinity; one more value that is not finite is an overflow. */
    if (attn_count_not_finite(scores, b->width) != b->width - allowed) b->finite = false;
}

/* Gives out the k largest weights of a row, with their keys, their scores and what is left. */
static void emit_top(const row_block *b, size_t at, const float *weights) {
    const attn_plan *plan = b->at.plan;
    size_t k = b->at.request->top_k;
    int32_t *keys = (int32_t *)(void *)map_floats(b, plan->at_top_keys, at);
    attn_run_floats(b->at.run, plan->at_top_rest)[b->at.place->map_row + at] =
        attn_top_k(weights, b->width, k, keys, map_floats(b, plan->at_maps, at));
    if (!b->scores) return;
    float *scores = map_floats(b, plan->at_scores, at);
    for (size_t i = 0; i < k; i++)
        scores[i] = keys[i] < 0 ? -INFINITY : b->scores[keys[i]];
}

/* Gives out one row of weights: whole or its largest. */
static void emit_weights(const row_block *b, size_t slot, size_t row, const float *weights) {
    size_t at = map_row(b, slot, row);
    if (!(b->at.request->want & ATTN_WANT_MAPS) || at == SIZE_MAX) return;
    if (b->at.request->top_k > 0) {
        emit_top(b, at, weights);
        return;
    }
    float *map = map_floats(b, b->at.plan->at_maps, at);
    if (map != weights) memcpy(map, weights, b->width * sizeof *map);
}

static void add_to_mean(const row_block *b, size_t row, const float *weights) {
    float *mean = b->mean + (row - b->at.rows.begin) * b->width;
    for (size_t j = 0; j < b->width; j++)
        mean[j] += weights[j];
}

/* Masks one row, gives out its scores, turns it into weights and gives those out. */
static void finish_row(row_block *b, const head_rows *h, size_t row) {
    float *weights = h->weights + (row - b->at.rows.begin) * b->width;
    attn_span keys = attn_block_row_keys(&b->at, row);
    size_t allowed = mask_row(b, h->head, row, keys, weights);
    b->rows_without_keys += allowed == 0;
    emit_scores(b, h, row, weights, allowed);
    if (h->statistics) attn_row_statistics_scores(h->statistics, row, keys, allowed, weights);
    if (!(b->at.request->want & (ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS | ATTN_WANT_STATISTICS))) return;
    attn_softmax came = weigh_row(b, keys, weights);
    /* A row whose every visible score fell below float32's range has a maximum that float32 cannot tell. */
    bool is_lost = allowed > 0 && came == ATTN_SOFTMAX_EMPTY;
    if (came == ATTN_SOFTMAX_NOT_FINITE || is_lost) b->finite = false;
    if (h->statistics && came == ATTN_SOFTMAX_DONE)
        attn_row_statistics_weights(h->statistics, row, keys, allowed, weights);
    if (!b->mean)
        emit_weights(b, h->slot, row, weights);
    else if (h->slot != SIZE_MAX)
        add_to_mean(b, row, weights);
}

/* The part of some keys in the context. */
static void add_values(const row_block *b, const head_rows *h, attn_span keys, float *context, size_t stride,
                       bool adds) {
    size_t dim = b->at.plan->value_dim, rows = b->at.rows.end - b->at.rows.begin;
    attn_matrix weights = {h->weights + keys.begin, b->width};
    attn_key_tile tile = attn_block_key_tile(&b->at, h->head, keys, false);
    if (!atomic_load_explicit(&b->at.run->values_not_finite, memory_order_relaxed)) {
        attn_block_blend(&b->at, weights, &tile, adds, context, stride);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        if (!adds) memset(context + i * stride, 0, dim * sizeof *context);
        attn_block_add_values(&b->at, weights.data + i * b->width, keys.end - keys.begin, tile.v,
                              context + i * stride);
    }
}

/* context (r × dv) = weights (r × w) · v (w × dv), written to its head's columns. */
static void compute_context(row_block *b, const head_rows *h) {
    size_t dim = b->at.plan->value_dim, count = b->at.rows.end - b->at.rows.begin, stride;
    float *context = attn_block_context(&b->at, h->head, &stride);
    bool adds = false; /* the context holds something */
    for (attn_span keys = next_keys(b, h->head, b->at.keys.begin); keys.begin < keys.end || !adds;
         keys = next_keys(b, h->head, keys.end)) {
        add_values(b, h, keys, context, stride, adds);
        adds = true;
    }
    if (b->at.layer->extra_keys > 0) {
        attn_key_tile extra = attn_block_key_tile(&b->at, h->head, extra_keys(b), true);
        attn_block_blend(&b->at, (attn_matrix){h->weights + b->at.sequence->keys, b->width}, &extra, true,
                         context, stride);
    }
    if (b->at.layer->wo) return; /* the output projection looks at what comes of it */
    for (size_t i = 0; i < count; i++)
        if (attn_count_not_finite(context + i * stride, dim) > 0) b->finite = false;
}

/* A head that nothing asked for: only its rows without keys count. */
static void count_rows_without_keys(row_block *b, size_t head) {
    for (size_t row = b->at.rows.begin; row < b->at.rows.end && b->at.layer->extra_keys == 0; row++)
        b->rows_without_keys +=
            attn_mask_count(b->at.sequence, head, row, attn_block_row_keys(&b->at, row)) == 0;
}

static void give_statistics(const row_block *b, const head_rows *h) {
    attn_run *run = b->at.run;
    size_t sequence = (size_t)(b->at.sequence - b->at.request->sequences);
    *attn_run_statistic_sums(run, sequence, h->slot, b->at.rows.begin / ATTN_TILE_ROWS) = h->statistics->sums;
    attn_run_add_columns(run, sequence, h->slot, h->statistics->mass, h->statistics->seen);
}

static void run_head(row_block *b, size_t head) {
    head_rows h = make_head(b, head);
    bool outputs = b->at.request->want & ATTN_WANT_OUTPUTS;
    if (!outputs && h.slot == SIZE_MAX) {
        count_rows_without_keys(b, head);
        return;
    }
    attn_row_statistics statistics;
    if (b->statistics && h.slot != SIZE_MAX) {
        attn_row_statistics_begin(&statistics, b->at.request, b->at.sequence, head, b->statistics);
        h.statistics = &statistics;
    }
    compute_scores(b, &h);
    for (size_t row = b->at.rows.begin; row < b->at.rows.end; row++)
        finish_row(b, &h, row);
    if (h.statistics) give_statistics(b, &h);
    if (outputs) compute_context(b, &h);
}

/* mean = sum / H', given out row by row. */
static void finish_mean(const row_block *b) {
    const attn_request *r = b->at.request;
    float factor = 1.0f / (float)(r->heads ? r->head_count : b->at.layer->heads);
    for (size_t row = b->at.rows.begin; row < b->at.rows.end; row++) {
        float *mean = b->mean + (row - b->at.rows.begin) * b->width;
        for (size_t j = 0; j < b->width; j++)
            mean[j] *= factor;
        emit_weights(b, 0, row, mean);
    }
}

void attn_tile_run(attn_run *run, size_t tile, size_t worker) {
    row_block b = make_block(run, tile, worker);
    if (b.mean) memset(b.mean, 0, (b.at.rows.end - b.at.rows.begin) * b.width * sizeof *b.mean);
    for (size_t head = b.at.first_head; head < b.at.end_head; head++)
        run_head(&b, head);
    if (b.mean) finish_mean(&b);
    attn_block_end(&b.at, b.finite, b.rows_without_keys);
}
