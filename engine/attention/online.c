/* One attention tile whose scores nobody wants to see: softmax and weighted sum in one walk over tiles of
 * keys that stay in cache, so that memory does not grow with the row. Each row keeps its maximum and its sum
 * so far; where a tile raises the maximum, what was summed before shrinks by the same factor (Milakov &
 * Gimelshein 2018; the tiling of Dao et al. 2022).
 *
 * Few queries over many keys would leave one tile to a head, and so one worker to a request with few heads. There each
 * split of the keys is a tile of its own, which leaves its rows' maxima, sums and undivided contexts; once all are there
 * they are merged in the order of the keys (Dao et al. 2023, "Flash-Decoding").
 *
 * The context is divided by the sum only at the end, so it may leave float32's range where weights would not,
 * and values that are not finite could be met by a weight that later turns out to be 0. Where anything is not
 * finite the block is done again carefully: first every row's maximum and sum, then its final weights. */
#include "block.h"
#include "mask.h"
#include "rows.h"
#include "softmax.h"

#include "../base/size.h"
#include "../blas/blas.h"
#include "../tensor/finite.h"

#include <math.h>
#include <string.h>

/* One block of rows and one head. */
typedef struct online {
    attn_block block;
    const attn_row_kernels *kernels;
    size_t head, rows;
    attn_matrix q;
    float *context; /* rows × dv: sums so far, at the end the result */
    size_t context_stride;
    float *scores; /* rows × a tile's keys: scores, then weights that are not yet divided */
    size_t scores_stride;
    float max[ATTN_ONLINE_ROWS];      /* of the scores so far */
    double sum[ATTN_ONLINE_ROWS];     /* of exp(score − max) so far */
    size_t allowed[ATTN_ONLINE_ROWS]; /* keys seen so far */
} online;

/* What a split of the keys leaves of a row, beside its context. They stand before the contexts (rows × dv). */
typedef struct split_row {
    double sum;
    size_t allowed;
    float max;
} split_row;

enum { SPLIT_ROW_FLOATS = sizeof(split_row) / sizeof(float) };

static size_t min_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* One cache line more than a tile's keys: rows a power of two apart would crowd into few cache sets. */
static size_t stride_of(size_t widest) {
    size_t keys = min_of(widest, ATTN_ONLINE_KEYS) + ATTN_ALIGN_FLOATS;
    return (keys + ATTN_ALIGN_FLOATS - 1) & ~(size_t)(ATTN_ALIGN_FLOATS - 1);
}

size_t attn_online_scratch(size_t rows, size_t widest) {
    return min_of(rows, ATTN_ONLINE_ROWS) * stride_of(widest);
}

/* Floats that one split leaves: whole cache lines. */
static size_t floats_of_split(size_t rows, size_t dim) {
    size_t floats = rows * (SPLIT_ROW_FLOATS + dim);
    return (floats + ATTN_ALIGN_FLOATS - 1) & ~(size_t)(ATTN_ALIGN_FLOATS - 1);
}

size_t attn_split_floats(const attn_plan *plan, const attn_sequence *sequence, bool *overflow) {
    size_t splits = attn_key_splits(plan, sequence), floats = 0;
    if (splits == 1) return 0;
    bool fits = attn_size_mul(splits, plan->request.layer->heads, &floats) &&
                attn_size_mul(floats, floats_of_split(sequence->queries, plan->value_dim), &floats);
    if (!fits) *overflow = true;
    return floats;
}

static size_t tiles_of(size_t keys) {
    return keys / ATTN_ONLINE_KEYS + (keys % ATTN_ONLINE_KEYS != 0);
}

static size_t count_tiles(const online *o) {
    const attn_block *b = &o->block;
    return tiles_of(b->keys.end - b->keys.begin) + (b->has_extra ? tiles_of(b->layer->extra_keys) : 0);
}

static attn_key_tile tile_at(const online *o, size_t index) {
    const attn_block *b = &o->block;
    size_t own = tiles_of(b->keys.end - b->keys.begin);
    bool is_extra = index >= own;
    size_t end = is_extra ? b->layer->extra_keys : b->keys.end;
    attn_span keys = {.begin = is_extra ? (index - own) * ATTN_ONLINE_KEYS
                                        : b->keys.begin + index * ATTN_ONLINE_KEYS};
    keys.end = min_of(end, keys.begin + ATTN_ONLINE_KEYS);
    return attn_block_key_tile(b, o->head, keys, is_extra);
}

/* Whether nothing of a tile needs to be computed. */
static bool is_hidden(const online *o, const attn_key_tile *t) {
    return !t->is_extra && attn_block_hides(&o->block, o->head, t->keys);
}

/* The keys of a tile in a row's reach, counted from the tile's first. */
static attn_span reach(const online *o, const attn_key_tile *t, size_t i) {
    size_t count = t->keys.end - t->keys.begin;
    if (t->is_extra) return (attn_span){0, count};
    attn_span keys = attn_block_row_keys(&o->block, o->block.rows.begin + i);
    if (keys.begin >= t->keys.end || keys.end <= t->keys.begin) return (attn_span){0, 0};
    size_t begin = keys.begin > t->keys.begin ? keys.begin - t->keys.begin : 0;
    return (attn_span){begin, min_of(keys.end - t->keys.begin, count)};
}

/* Masks the scores in a row's reach and makes the others weights of 0. Returns how many keys the row sees. */
static size_t mask_row(const online *o, const attn_key_tile *t, size_t i, attn_span seen) {
    float *scores = o->scores + i * o->scores_stride;
    size_t count = t->keys.end - t->keys.begin;
    memset(scores, 0, seen.begin * sizeof *scores);
    memset(scores + seen.end, 0, (count - seen.end) * sizeof *scores);
    if (t->is_extra || seen.begin == seen.end) return seen.end - seen.begin;
    attn_span keys = {t->keys.begin + seen.begin, t->keys.begin + seen.end};
    return attn_mask_row(o->block.sequence, o->head, o->block.rows.begin + i, keys, scores + seen.begin);
}

/* Takes a row's scores into its maximum and sum and turns them into weights under that maximum. Returns what
 * earlier weights are to be multiplied by. */
static float learn_row(online *o, size_t i, float *scores, size_t count) {
    float before = o->max[i], max = fmaxf(before, o->kernels->max(scores, count));
    if (max == -INFINITY) { /* nothing visible yet, unless a NaN is among it */
        if (!attn_row_is_masked(scores, count)) o->sum[i] = NAN;
        memset(scores, 0, count * sizeof *scores);
        return 1;
    }
    float factor = 1;
    if (max > before && o->sum[i] != 0) {
        factor = before - max;
        o->kernels->exp(&factor, 1, 0);
        o->sum[i] *= (double)factor;
    }
    o->max[i] = max;
    o->sum[i] += o->kernels->exp(scores, count, max);
    return factor;
}

static void begin_pass(online *o) {
    for (size_t i = 0; i < o->rows; i++) {
        o->max[i] = -INFINITY;
        o->sum[i] = 0;
        o->allowed[i] = 0;
    }
}

/* Scores of one tile, masked and learnt; the context so far shrinks where it must. */
static void learn_tile(online *o, const attn_key_tile *t) {
    attn_block_scores(&o->block, o->q, t, o->scores, o->scores_stride);
    for (size_t i = 0; i < o->rows; i++) {
        attn_span seen = reach(o, t, i);
        o->allowed[i] += mask_row(o, t, i, seen);
        float factor = learn_row(o, i, o->scores + i * o->scores_stride + seen.begin, seen.end - seen.begin);
        if (factor != 1)
            o->kernels->scale(o->context + i * o->context_stride, o->block.plan->value_dim, factor);
    }
}

static void clear_context(const online *o) {
    for (size_t i = 0; i < o->rows; i++)
        memset(o->context + i * o->context_stride, 0, o->block.plan->value_dim * sizeof *o->context);
}

/* False where some row is not finite. */
static bool divide_rows(const online *o) {
    size_t not_finite = 0, dim = o->block.plan->value_dim;
    for (size_t i = 0; i < o->rows; i++) {
        float *context = o->context + i * o->context_stride;
        if (o->sum[i] != 0) o->kernels->scale(context, dim, (float)(1.0 / o->sum[i]));
        not_finite += (isfinite(o->sum[i]) ? 0 : 1) + attn_count_not_finite(context, dim);
    }
    return not_finite == 0;
}

/* Each row's maximum, sum and undivided context over the keys of the block. */
static void sum_up(online *o) {
    begin_pass(o);
    bool adds = false; /* the context holds something */
    for (size_t index = 0; index < count_tiles(o); index++) {
        attn_key_tile tile = tile_at(o, index);
        if (is_hidden(o, &tile)) continue;
        learn_tile(o, &tile);
        attn_block_blend(&o->block, (attn_matrix){o->scores, o->scores_stride}, &tile, adds, o->context,
                         o->context_stride);
        adds = true;
    }
    if (!adds) clear_context(o);
}

static bool run_fast(online *o) {
    sum_up(o);
    return divide_rows(o);
}

static float *split_at(const online *o, size_t split) {
    const attn_block *b = &o->block;
    return attn_run_floats(b->run, b->plan->at_splits) + b->place->splits +
           (o->head * b->splits + split) * floats_of_split(o->rows, b->plan->value_dim);
}

/* One split of the keys: what it leaves takes the place of the context. */
static void run_split(online *o) {
    float *floats = split_at(o, o->block.split);
    split_row *left = (split_row *)(void *)floats;
    o->context = floats + o->rows * SPLIT_ROW_FLOATS;
    o->context_stride = o->block.plan->value_dim;
    sum_up(o);
    for (size_t i = 0; i < o->rows; i++)
        left[i] = (split_row){.sum = o->sum[i], .allowed = o->allowed[i], .max = o->max[i]};
}

/* Adds what a split left of row `i`, whose maximum over all splits is known. */
static void add_split_row(online *o, size_t i, const split_row *left, const float *context) {
    if (left->max == -INFINITY && left->sum == 0) return; /* saw nothing; beside a NaN the sum is one */
    float factor = left->max - o->max[i], *to = o->context + i * o->context_stride;
    o->kernels->exp(&factor, 1, 0);
    o->sum[i] += (double)factor * left->sum;
    for (size_t c = 0; c < o->block.plan->value_dim; c++)
        to[c] += factor * context[c];
}

/* False where some row is not finite. */
static bool merge_splits(online *o) {
    begin_pass(o);
    clear_context(o);
    for (size_t split = 0; split < o->block.splits; split++) {
        const split_row *left = (const split_row *)(const void *)split_at(o, split);
        for (size_t i = 0; i < o->rows; i++) {
            o->max[i] = fmaxf(o->max[i], left[i].max);
            o->allowed[i] += left[i].allowed;
        }
    }
    for (size_t split = 0; split < o->block.splits; split++) {
        const float *floats = split_at(o, split), *context = floats + o->rows * SPLIT_ROW_FLOATS;
        const split_row *left = (const split_row *)(const void *)floats;
        for (size_t i = 0; i < o->rows; i++)
            add_split_row(o, i, &left[i], context + i * o->block.plan->value_dim);
    }
    return divide_rows(o);
}

/* The final weights of one tile, and what they add to the context. */
static void weigh_tile(const online *o, const attn_key_tile *t) {
    attn_block_scores(&o->block, o->q, t, o->scores, o->scores_stride);
    for (size_t i = 0; i < o->rows; i++) {
        attn_span seen = reach(o, t, i);
        if (mask_row(o, t, i, seen) == 0) continue;
        float *weights = o->scores + i * o->scores_stride;
        o->kernels->exp(weights + seen.begin, seen.end - seen.begin, o->max[i]);
        o->kernels->scale(weights + seen.begin, seen.end - seen.begin, (float)(1.0 / o->sum[i]));
        attn_block_add_values(&o->block, weights, t->keys.end - t->keys.begin, t->v,
                              o->context + i * o->context_stride);
    }
}

static void run_carefully(online *o) {
    begin_pass(o);
    for (size_t index = 0; index < count_tiles(o); index++) {
        attn_key_tile tile = tile_at(o, index);
        if (!is_hidden(o, &tile)) learn_tile(o, &tile);
    }
    clear_context(o);
    for (size_t index = 0; index < count_tiles(o); index++) {
        attn_key_tile tile = tile_at(o, index);
        if (!is_hidden(o, &tile)) weigh_tile(o, &tile);
    }
}

/* Rows that see no key, and whether the others have weights and, where it is the result, a finite context. */
static void end_block(const online *o) {
    size_t without_keys = 0, not_finite = 0;
    for (size_t i = 0; i < o->rows; i++) {
        without_keys += o->allowed[i] == 0;
        /* A row whose every visible score fell below float32's range has a maximum that float32 cannot
         * tell. */
        bool is_lost = o->allowed[i] > 0 && o->sum[i] == 0;
        not_finite += is_lost || !isfinite(o->sum[i]);
        if (!o->block.layer->wo) /* else the output projection looks at what comes of it */
            not_finite += attn_count_not_finite(o->context + i * o->context_stride, o->block.plan->value_dim);
    }
    attn_block_end(&o->block, not_finite == 0, without_keys);
}

static void begin_block(online *o) {
    o->kernels = attn_row_kernels_in_use();
    o->head = o->block.first_head;
    o->rows = o->block.rows.end - o->block.rows.begin;
    o->q = attn_block_q(&o->block, o->head);
    o->context = attn_block_context(&o->block, o->head, &o->context_stride);
    o->scores = o->block.scratch;
    o->scores_stride = stride_of(o->block.sequence->keys + o->block.layer->extra_keys);
}

/* Whether what masked keys hold could spoil the sums: known before the first tile. */
static bool must_be_careful(const attn_run *run) {
    return atomic_load_explicit(&run->values_not_finite, memory_order_relaxed);
}

void attn_online_run(attn_run *run, size_t tile, size_t worker) {
    online o = {.block = attn_block_of(run, tile, worker)};
    begin_block(&o);
    if (o.block.splits > 1) {
        if (!must_be_careful(run)) run_split(&o);
        return;
    }
    if (must_be_careful(run) || !run_fast(&o)) run_carefully(&o);
    end_block(&o);
}

void attn_online_merge(attn_run *run, size_t tile, size_t worker) {
    size_t heads = run->plan.request.layer->heads;
    online o = {.block = attn_block_unsplit(run, tile / heads, tile % heads, worker)};
    if (o.block.splits == 1) return;
    begin_block(&o);
    if (must_be_careful(run) || !merge_splits(&o)) run_carefully(&o);
    end_block(&o);
}
