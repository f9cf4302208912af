/* Blocks of query rows (block.h). */
#include "block.h"

#include "../blas/blas.h"
#include "few.h"
#include "mask.h"
#include "panel.h"

#include <string.h>

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

/* What both hold; empty, at an end of `a`, where that is nothing. */
static attn_span both(attn_span a, attn_span b) {
    attn_span common = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
    return common.begin < common.end ? common : (attn_span){a.begin, a.begin};
}

/* What all blocks of a sequence have in common. */
static attn_block block_in(attn_run *run, size_t sequence, size_t worker) {
    const attn_plan *plan = &run->plan;
    const attn_request *r = &plan->request;
    return (attn_block){.run = run,
                        .plan = plan,
                        .request = r,
                        .layer = r->layer,
                        .sequence = &r->sequences[sequence],
                        .place = &run->places[sequence],
                        .splits = attn_key_splits(plan, &r->sequences[sequence]),
                        .scratch = attn_run_floats(run, plan->at_scratch) + worker * plan->scratch_floats};
}

attn_block attn_block_of(attn_run *run, size_t tile, size_t worker) {
    const attn_plan *plan = &run->plan;
    attn_block b = block_in(run, sequence_of(run, tile), worker);
    size_t parts = attn_row_blocks(plan, b.sequence->queries) * b.splits, local = tile - b.place->tile;
    b.first_head = local / parts;
    b.end_head = attn_block_tiles(plan) == 1 ? b.layer->heads : b.first_head + 1;
    b.rows = attn_row_block(plan, b.sequence->queries, local % parts / b.splits);
    b.split = local % b.splits;
    b.has_extra = b.split + 1 == b.splits;
    attn_span keys = attn_block_keys(plan, b.sequence, b.rows);
    b.keys = both(attn_key_split(keys, b.split, b.splits), b.place->unpadded);
    return b;
}

attn_block attn_block_unsplit(attn_run *run, size_t sequence, size_t head, size_t worker) {
    attn_block b = block_in(run, sequence, worker);
    b.first_head = head;
    b.end_head = head + 1;
    b.rows = (attn_span){0, b.sequence->queries};
    b.has_extra = true;
    b.keys = both(attn_block_keys(&run->plan, b.sequence, b.rows), b.place->unpadded);
    return b;
}

attn_span attn_block_row_keys(const attn_block *block, size_t row) {
    return both(both(attn_row_keys(block->plan, block->sequence, row), block->place->unpadded), block->keys);
}

static size_t kv_head(const attn_block *block, size_t head) {
    return head / (block->layer->heads / block->layer->kv_heads);
}

/* `matrix` from a row and a column on; where no values are wanted there is none. */
static attn_matrix from(attn_matrix matrix, size_t row, size_t column) {
    if (!matrix.data) return matrix;
    return (attn_matrix){matrix.data + row * matrix.stride + column, matrix.stride};
}

attn_matrix attn_block_q(const attn_block *block, size_t head) {
    return from(attn_run_q(block->run), block->place->query_row + block->rows.begin,
                head * block->plan->head_dim);
}

static attn_matrix own_k(const attn_block *block, size_t head) {
    return from(attn_run_k(block->run), block->place->key_row, kv_head(block, head) * block->plan->head_dim);
}

static attn_matrix own_v(const attn_block *block, size_t head) {
    return from(attn_run_v(block->run), block->place->key_row, kv_head(block, head) * block->plan->value_dim);
}

static attn_matrix extra_k(const attn_block *block, size_t head) {
    size_t dim = block->plan->head_dim;
    return (attn_matrix){block->layer->extra_k + kv_head(block, head) * dim, block->layer->kv_heads * dim};
}

static attn_matrix extra_v(const attn_block *block, size_t head) {
    size_t dim = block->plan->value_dim;
    return (attn_matrix){block->layer->extra_v + kv_head(block, head) * dim, block->layer->kv_heads * dim};
}

attn_key_tile attn_block_key_tile(const attn_block *block, size_t head, attn_span keys, bool is_extra) {
    attn_matrix k = is_extra ? extra_k(block, head) : own_k(block, head);
    attn_matrix v = is_extra ? extra_v(block, head) : own_v(block, head);
    return (attn_key_tile){keys, is_extra, from(k, keys.begin, 0), from(v, keys.begin, 0)};
}

float *attn_block_context(const attn_block *block, size_t head, size_t *stride) {
    size_t dim = block->plan->value_dim;
    *stride = block->layer->heads * dim;
    return attn_run_floats(block->run, block->plan->at_context) +
           (block->place->query_row + block->rows.begin) * *stride + head * dim;
}

static size_t count_of(attn_span span) {
    return span.end - span.begin;
}

/* The rows of the block that causal order and window let see any of some keys. Both ends of what a row sees grow with the
 * row. */
static attn_span rows_that_see(const attn_block *block, attn_span keys) {
    attn_span rows = block->rows;
    while (rows.begin < rows.end && attn_row_keys(block->plan, block->sequence, rows.begin).end <= keys.begin)
        rows.begin++;
    while (rows.begin < rows.end &&
           attn_row_keys(block->plan, block->sequence, rows.end - 1).begin >= keys.end)
        rows.end--;
    return rows;
}

/* Some numbers of every query of a block, side by side: rows that are a power of two apart crowd into few cache sets. */
typedef struct query_part {
    size_t at, depth; /* of the head's numbers */
    float *q;         /* rows × depth */
} query_part;

enum { QUERY_DEPTH = 128 };

static void pack_queries(const attn_block *block, attn_matrix q, const query_part *part) {
    for (size_t i = 0; i < count_of(block->rows); i++)
        memcpy(part->q + i * part->depth, q.data + i * q.stride + part->at, part->depth * sizeof *q.data);
}

/* What a part of the queries adds to the scores of at most ATTN_PANEL_ROWS keys, or what those begin with: of the rows that
 * see any. */
static void score_keys(const attn_block *block, const query_part *part, const attn_key_tile *tile,
                       attn_span keys, float *scores, size_t scores_stride) {
    size_t first = tile->keys.begin + keys.begin;
    attn_span rows =
        tile->is_extra ? block->rows : rows_that_see(block, (attn_span){first, first + count_of(keys)});
    if (count_of(rows) == 0) return;
    const attn_panel_kernels *kernels = attn_panel_kernels_in_use();
    size_t skipped = rows.begin - block->rows.begin;
    attn_panel panel;
    const float *k[ATTN_PANEL_ROWS];
    for (size_t i = 0; i < count_of(keys); i++)
        k[i] = tile->k.data + (keys.begin + i) * tile->k.stride;
    kernels->pack(count_of(keys), part->at, part->depth, k, &panel);
    kernels->rows(&panel, count_of(rows), part->q + skipped * part->depth, part->depth, block->request->scale,
                  NULL, part->at > 0, scores + skipped * scores_stride + keys.begin, scores_stride);
}

/* Scores of many rows. */
static void packed_scores(const attn_block *block, attn_matrix q, const attn_key_tile *tile, float *scores,
                          size_t scores_stride) {
    _Alignas(64) float queries[ATTN_ONLINE_ROWS * QUERY_DEPTH];
    size_t dim = block->plan->head_dim, count = count_of(tile->keys);
    for (size_t t = 0; t < dim; t += QUERY_DEPTH) {
        const query_part part = {t, dim - t < QUERY_DEPTH ? dim - t : QUERY_DEPTH, queries};
        pack_queries(block, q, &part);
        for (size_t j = 0; j < count; j += ATTN_PANEL_ROWS)
            score_keys(block, &part, tile,
                       (attn_span){j, count - j < ATTN_PANEL_ROWS ? count : j + ATTN_PANEL_ROWS}, scores,
                       scores_stride);
    }
}

static void few_scores(const attn_block *block, attn_matrix q, const attn_key_tile *tile, float *scores,
                       size_t scores_stride) {
    size_t rows = count_of(block->rows);
    const float *x[ATTN_FEW_QUERIES];
    float *y[ATTN_FEW_QUERIES];
    for (size_t i = 0; i < rows; i++) {
        x[i] = q.data + i * q.stride;
        y[i] = scores + i * scores_stride;
    }
    attn_few_kernels_in_use()->dots(rows, count_of(tile->keys), block->plan->head_dim, block->request->scale,
                                    x, tile->k.data, tile->k.stride, y);
}

void attn_block_scores(const attn_block *block, attn_matrix q, const attn_key_tile *tile, float *scores,
                       size_t scores_stride) {
    if (count_of(block->rows) <= ATTN_FEW_QUERIES)
        few_scores(block, q, tile, scores, scores_stride);
    else if (attn_panel_kernels_in_use())
        packed_scores(block, q, tile, scores, scores_stride);
    else
        attn_gemm(true, count_of(block->rows), count_of(tile->keys), block->plan->head_dim,
                  block->request->scale, q.data, q.stride, tile->k.data, tile->k.stride, 0, scores,
                  scores_stride);
}

bool attn_block_hides(const attn_block *block, size_t head, attn_span keys) {
    const attn_sequence *s = block->sequence;
    if (!s->padding && !s->mask.allow && !s->bias.values) return false;
    bool rows_are_alike =
        (!s->mask.allow || s->mask.query_stride == 0) && (!s->bias.values || s->bias.query_stride == 0);
    if (rows_are_alike) return !attn_mask_sees_any(s, head, block->rows.begin, keys);
    for (size_t row = block->rows.begin; row < block->rows.end; row++)
        if (attn_mask_sees_any(s, head, row, both(attn_block_row_keys(block, row), keys))) return false;
    return true;
}

/* Rows that are blended at a time where they do not all see the same keys. */
static size_t rows_at_once(const attn_block *block, const attn_key_tile *tile) {
    enum { SOME_ROWS = 48 };
    bool all_see =
        tile->is_extra || (block->request->causal == ATTN_CAUSAL_OFF && block->request->window == 0);
    return all_see ? count_of(block->rows) : SOME_ROWS;
}

/* The keys of a tile that causal order and window leave to some rows, counted from the tile's first. */
static attn_span keys_of_rows(const attn_block *block, const attn_key_tile *tile, attn_span rows) {
    attn_span keys = tile->keys;
    if (!tile->is_extra) keys = both(keys, attn_block_keys(block->plan, block->sequence, rows));
    return (attn_span){keys.begin - tile->keys.begin, keys.end - tile->keys.begin};
}

/* Some columns of the values of some keys of a tile, which many rows are blended from. */
typedef struct value_part {
    attn_span keys; /* counted from the tile's first */
    size_t column, width;
    attn_matrix v;  /* from the first of these keys and the first of these columns */
    bool is_packed; /* side by side, and so in cache */
} value_part;

enum {
    VALUE_COLUMNS = 64,
    KEYS_AHEAD = 16, /* whose values are fetched while others are copied */
};

/* Fetches the values of one key. */
static void fetch_value(const value_part *part, size_t key) {
    const float *v = part->v.data + key * part->v.stride;
    for (size_t c = 0; c < part->width; c += ATTN_ALIGN_FLOATS)
        __builtin_prefetch(v + c);
}

/* Copies them side by side: rows that are a power of two apart crowd into few cache sets, and these are read once for every
 * few rows of weights. */
static void pack_values(value_part *part, float *packed) {
    size_t count = count_of(part->keys);
    for (size_t j = 0; j < count; j++) {
        if (j + KEYS_AHEAD < count) fetch_value(part, j + KEYS_AHEAD);
        memcpy(packed + j * VALUE_COLUMNS, part->v.data + j * part->v.stride, part->width * sizeof *packed);
    }
    part->v = (attn_matrix){packed, VALUE_COLUMNS};
    part->is_packed = true;
}

/* What a part adds to the context, or what the context begins with. */
static void blend_part(const attn_block *block, attn_matrix weights, const attn_key_tile *tile,
                       const value_part *part, bool adds, float *context, size_t context_stride) {
    size_t rows = count_of(block->rows), step = rows_at_once(block, tile);
    for (size_t i = 0, some; i < rows; i += some) {
        some = rows - i < step ? rows - i : step;
        size_t first = block->rows.begin + i;
        attn_span keys = both(part->keys, keys_of_rows(block, tile, (attn_span){first, first + some}));
        if (count_of(keys) == 0 && adds) continue;
        const attn_blend blend = {.count = count_of(keys),
                                  .width = part->width,
                                  .weights = weights.data + i * weights.stride + keys.begin,
                                  .weights_stride = weights.stride,
                                  .v = part->v.data + (keys.begin - part->keys.begin) * part->v.stride,
                                  .v_stride = part->v.stride,
                                  .y = context + i * context_stride + part->column,
                                  .y_stride = context_stride,
                                  .is_far = !part->is_packed};
        attn_few_kernels_in_use()->blend(some, &blend, adds);
    }
}

/* Some values at a time, which stay in cache from one row to the next. */
static void blend_parts(const attn_block *block, attn_matrix weights, const attn_key_tile *tile, bool adds,
                        float *context, size_t context_stride) {
    _Alignas(64) float packed[ATTN_ONLINE_KEYS * VALUE_COLUMNS];
    size_t dim = block->plan->value_dim, count = count_of(tile->keys);
    bool packs = count_of(block->rows) > ATTN_FEW_QUERIES;
    for (size_t column = 0; column < dim; column += VALUE_COLUMNS)
        for (size_t j = 0; j < count || (j == 0 && !adds); j += ATTN_ONLINE_KEYS) {
            value_part part = {.keys = {j, count - j < ATTN_ONLINE_KEYS ? count : j + ATTN_ONLINE_KEYS},
                               .column = column,
                               .width = dim - column < VALUE_COLUMNS ? dim - column : VALUE_COLUMNS,
                               .v = from(tile->v, j, column)};
            if (packs) pack_values(&part, packed);
            blend_part(block, weights, tile, &part, adds || j > 0, context, context_stride);
        }
}

void attn_block_blend(const attn_block *block, attn_matrix weights, const attn_key_tile *tile, bool adds,
                      float *context, size_t context_stride) {
    size_t rows = count_of(block->rows);
    if (rows <= attn_few_kernels_in_use()->blend_rows)
        blend_parts(block, weights, tile, adds, context, context_stride);
    else
        attn_gemm(false, rows, block->plan->value_dim, count_of(tile->keys), 1, weights.data, weights.stride,
                  tile->v.data, tile->v.stride, adds ? 1 : 0, context, context_stride);
}

void attn_block_add_values(const attn_block *block, const float *weights, size_t count, attn_matrix v,
                           float *context) {
    enum { COLUMNS = 16 };
    size_t dim = block->plan->value_dim;
    for (size_t at = 0; at < dim; at += COLUMNS) {
        size_t width = dim - at < COLUMNS ? dim - at : COLUMNS;
        double sums[COLUMNS] = {0}; /* many equal values would each lose the same digits in float32 */
        for (size_t j = 0; j < count; j++)
            for (size_t c = 0; weights[j] != 0 && c < width; c++)
                sums[c] += (double)weights[j] * (double)v.data[j * v.stride + at + c];
        for (size_t c = 0; c < width; c++)
            context[at + c] += (float)sums[c];
    }
}

void attn_block_end(const attn_block *block, bool finite, size_t rows_without_keys) {
    attn_run *run = block->run;
    if (!finite) atomic_store_explicit(&run->result_not_finite, true, memory_order_relaxed);
    if (rows_without_keys > 0)
        atomic_fetch_add_explicit(&run->rows_without_keys, rows_without_keys, memory_order_relaxed);
}
