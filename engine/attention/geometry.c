/* Row blocks and key ranges (geometry.h). */
#include "geometry.h"

#include "few.h"

bool attn_plan_is_online(const attn_plan *plan) {
    return (plan->request.want & (ATTN_WANT_MAPS | ATTN_WANT_SCORES | ATTN_WANT_STATISTICS)) == 0;
}

static size_t rows_of_block(const attn_plan *plan) {
    return attn_plan_is_online(plan) ? ATTN_ONLINE_ROWS : ATTN_TILE_ROWS;
}

size_t attn_row_blocks(const attn_plan *plan, size_t queries) {
    size_t rows = rows_of_block(plan);
    return queries / rows + (queries % rows != 0);
}

attn_span attn_row_block(const attn_plan *plan, size_t queries, size_t block) {
    size_t rows = rows_of_block(plan), begin = block * rows, rest = queries - begin;
    return (attn_span){begin, begin + (rest < rows ? rest : rows)};
}

/* min(S, position + ahead), where position may lie before the first key. */
static size_t clamp_end(size_t keys, size_t row, size_t forward, size_t backward) {
    /* row + forward - backward without wrapping: forward and row are below PTRDIFF_MAX each. */
    size_t reached = row + forward;
    size_t end = reached > backward ? reached - backward : 0;
    return end < keys ? end : keys;
}

attn_span attn_row_keys(const attn_plan *plan, const attn_sequence *sequence, size_t row) {
    const attn_request *r = &plan->request;
    size_t keys = sequence->keys, queries = sequence->queries;
    bool bottom_right = r->causal == ATTN_CAUSAL_BOTTOM_RIGHT, causal = r->causal != ATTN_CAUSAL_OFF;
    /* The query's own key is p = row + forward - backward. */
    size_t forward = bottom_right ? keys : 0, backward = bottom_right ? queries : 0;
    attn_span span = {0, keys};
    if (causal) span.end = clamp_end(keys, row, forward + 1, backward);
    /* A window of at least all positions leaves every key; that also keeps the sums below from wrapping. */
    if (r->window == 0 || r->window >= keys + queries) return span;
    span.begin = clamp_end(keys, row, forward + 1, backward + r->window);
    if (!causal) span.end = clamp_end(keys, row, forward + r->window, backward);
    if (span.begin > span.end) span.begin = span.end;
    return span;
}

attn_span attn_block_keys(const attn_plan *plan, const attn_sequence *sequence, attn_span rows) {
    attn_span first = attn_row_keys(plan, sequence, rows.begin);
    attn_span last = attn_row_keys(plan, sequence, rows.end - 1);
    return (attn_span){first.begin, last.end};
}

size_t attn_key_splits(const attn_plan *plan, const attn_sequence *sequence) {
    if (!attn_plan_is_online(plan) || sequence->queries > ATTN_FEW_QUERIES) return 1;
    attn_span keys = attn_block_keys(plan, sequence, (attn_span){0, sequence->queries});
    size_t count = keys.end - keys.begin;
    return count == 0 ? 1 : (count - 1) / ATTN_SPLIT_KEYS + 1;
}

attn_span attn_key_split(attn_span keys, size_t split, size_t splits) {
    size_t begin = keys.begin + split * ATTN_SPLIT_KEYS;
    return (attn_span){begin, split + 1 < splits ? begin + ATTN_SPLIT_KEYS : keys.end};
}

size_t attn_block_tiles(const attn_plan *plan) {
    return plan->request.average_heads && !attn_plan_is_online(plan) ? 1 : plan->request.layer->heads;
}

size_t attn_map_rows(const attn_plan *plan, const attn_sequence *sequence) {
    return plan->request.queries ? plan->request.query_count : sequence->queries;
}

size_t attn_map_width(const attn_plan *plan, const attn_sequence *sequence) {
    return plan->request.top_k ? plan->request.top_k : sequence->keys + plan->request.layer->extra_keys;
}
