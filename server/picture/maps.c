/* Maps, row by row (maps.h). */
#include "maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t srv_maps_query(const srv_maps *maps, size_t row) {
    const attn_request *r = &maps->plan->request;
    return r->queries ? r->queries[row] : row;
}

const float *srv_maps_row(const srv_maps *maps, size_t panel, size_t row) {
    const attn_view *w = &maps->weights;
    return w->data + (w->rank == 3 ? panel * w->stride[0] : 0) + row * w->stride[w->rank - 2];
}

static size_t chosen_heads(const attn_request *r) {
    return r->heads ? r->head_count : r->layer->heads;
}

static size_t head_at(const attn_request *r, size_t slot) {
    return r->heads ? r->heads[slot] : slot;
}

/* Whether every head sees the same: then one look is enough. */
static bool heads_see_the_same(const attn_sequence *s) {
    return s->mask.head_stride == 0 && s->bias.head_stride == 0;
}

const uint8_t *srv_maps_visible(const srv_maps *maps, size_t panel, size_t row, bool *any) {
    const attn_request *r = &maps->plan->request;
    size_t width = maps->keys + maps->extra, query = srv_maps_query(maps, row);
    uint8_t *visible = maps->visible, *other = maps->visible + width;
    bool is_mean = r->average_heads && !heads_see_the_same(&r->sequences[maps->sequence]);
    attn_plan_visible(maps->plan, maps->sequence, head_at(r, panel), query, visible);
    for (size_t slot = 1; is_mean && slot < chosen_heads(r); slot++) {
        attn_plan_visible(maps->plan, maps->sequence, head_at(r, slot), query, other);
        for (size_t key = 0; key < width; key++)
            visible[key] |= other[key];
    }
    *any = memchr(visible, 1, width) != NULL;
    return visible;
}

static size_t count_ones(const uint8_t *flags, size_t count) {
    size_t ones = 0;
    for (size_t i = 0; i < count; i++)
        ones += flags[i];
    return ones;
}

/* One look at everything: the largest weight and what may not be seen, which is asked once for all panels where they
 * see the same. */
static bool survey(srv_maps *maps) {
    const attn_request *r = &maps->plan->request;
    size_t width = maps->keys + maps->extra, seen = 0;
    bool is_same = heads_see_the_same(&r->sequences[maps->sequence]);
    for (size_t row = 0; row < maps->rows; row++) {
        size_t without = maps->keyless;
        if (srv_outcome_is_unwanted(maps->outcome)) return false;
        for (size_t panel = 0; panel < maps->panels; panel++) {
            bool any;
            const float *weights = srv_maps_row(maps, panel, row);
            if (panel == 0 || !is_same) seen = count_ones(srv_maps_visible(maps, panel, row, &any), width);
            maps->keyless += seen == 0;
            maps->masked += width - seen;
            for (size_t key = 0; key < width; key++)
                maps->max = weights[key] > maps->max ? weights[key] : maps->max;
        }
        maps->keyless_queries += maps->keyless > without;
    }
    return true;
}

bool srv_maps_make(const srv_outcome *outcome, size_t sequence, srv_maps *out) {
    const attn_plan *plan = attn_run_plan(outcome->run);
    const attn_request *r = &plan->request;
    *out = (srv_maps){.outcome = outcome,
                      .plan = plan,
                      .sequence = sequence,
                      .panels = plan->map_heads,
                      .keys = r->sequences[sequence].keys,
                      .extra = r->layer->extra_keys,
                      .weights = attn_run_view(outcome->run, ATTN_MAPS, sequence)};
    out->rows = out->weights.shape[out->weights.rank - 2];
    out->visible = calloc(2, out->keys + out->extra);
    return out->visible && survey(out);
}

void srv_maps_done(srv_maps *maps) {
    free(maps->visible);
}

void srv_maps_panel_title(const srv_maps *maps, size_t panel, char out[SRV_PANEL_TITLE_SIZE]) {
    const attn_request *r = &maps->plan->request;
    size_t head = head_at(r, panel), heads = r->layer->heads, kv_heads = r->layer->kv_heads;
    if (r->average_heads) {
        snprintf(out, SRV_PANEL_TITLE_SIZE, "mean of %zu head%s", chosen_heads(r),
                 chosen_heads(r) == 1 ? "" : "s");
    } else if (kv_heads != heads) {
        snprintf(out, SRV_PANEL_TITLE_SIZE, "head %zu (kv %zu)", head, head / (heads / kv_heads));
    } else {
        snprintf(out, SRV_PANEL_TITLE_SIZE, "head %zu", head);
    }
}

/* The label at a position of this sequence, whichever way labels came. */
static const json_t *token_at(const srv_maps *maps, const json_t *labels, size_t position, bool of_keys) {
    const srv_ask *ask = maps->outcome->ask;
    if (!labels) return NULL;
    if (!ask->single && !ask->packed) return json_array_get(json_array_get(labels, maps->sequence), position);
    size_t first = 0;
    for (size_t n = 0; n < maps->sequence; n++)
        first += of_keys ? maps->plan->request.sequences[n].keys : maps->plan->request.sequences[n].queries;
    return json_array_get(labels, first + position);
}

const json_t *srv_maps_query_token(const srv_maps *maps, size_t query) {
    return token_at(maps, maps->outcome->ask->tokens, query, false);
}

const json_t *srv_maps_key_token(const srv_maps *maps, size_t key) {
    const srv_ask *ask = maps->outcome->ask;
    if (key >= maps->keys) return NULL;
    return token_at(maps, maps->plan->request.context ? ask->context_tokens : ask->tokens, key, true);
}

static void put_label(const json_t *token, size_t index, const char *before, char out[SRV_LABEL_SIZE]) {
    if (token) {
        srv_label_clean(json_string_value(token), json_string_length(token), SRV_LABEL_CHARACTERS, out);
    } else {
        snprintf(out, SRV_LABEL_SIZE, "%s%zu", before, index);
    }
}

void srv_maps_query_label(const srv_maps *maps, size_t row, char out[SRV_LABEL_SIZE]) {
    size_t query = srv_maps_query(maps, row);
    put_label(srv_maps_query_token(maps, query), query, "", out);
}

void srv_maps_key_label(const srv_maps *maps, size_t key, char out[SRV_LABEL_SIZE]) {
    if (key >= maps->keys) {
        put_label(NULL, key - maps->keys, "+", out);
    } else {
        put_label(srv_maps_key_token(maps, key), key, "", out);
    }
}
