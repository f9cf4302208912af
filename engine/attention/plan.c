/* From a request to a plan: every size is checked and every byte counted here, before anything is allocated.
 * Reads sizes and selections only. Any thread. */
#include "geometry.h"
#include "row_statistics.h"

#include "../base/size.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The workspace so far, in floats, each region on its own cache lines; sticky on overflow. */
typedef struct workspace {
    size_t floats;
    bool overflow;
} workspace;

static size_t product(workspace *space, size_t a, size_t b) {
    size_t result = 0;
    if (!attn_size_mul(a, b, &result)) space->overflow = true;
    return result;
}

static size_t sum(workspace *space, size_t a, size_t b) {
    size_t result = 0;
    if (!attn_size_add(a, b, &result)) space->overflow = true;
    return result;
}

/* Reserves `floats` and returns where they begin. */
static size_t reserve(workspace *space, size_t floats) {
    size_t at = space->floats;
    size_t padded = sum(space, floats, ATTN_ALIGN_FLOATS - 1) & ~(size_t)(ATTN_ALIGN_FLOATS - 1);
    space->floats = sum(space, at, padded);
    return at;
}

static attn_code check_width(const char *where, size_t found, size_t taken, const char *what,
                             attn_error *error) {
    if (found == 0)
        return attn_error_set(error, ATTN_SHAPE, where, "%s of width 0; at least 1 is needed", what);
    if (taken != 0 && found != taken)
        return attn_error_set(error, ATTN_SHAPE, where, "%s has width %zu; the layer takes %zu", what, found,
                              taken);
    return ATTN_OK;
}

/* The widths of the three tensors, those of absent ones taken from where they come from. */
static attn_code resolve_widths(attn_plan *plan, attn_error *error) {
    attn_request *r = &plan->request;
    const attn_layer *layer = r->layer;
    if (r->values && !r->context)
        return attn_error_set(
            error, ATTN_CONFLICT, "/values",
            "`values` without `context`; keys come from `context`, which may repeat `inputs`");
    if (layer->is_cross && !r->context)
        return attn_error_set(error, ATTN_CONFLICT, "/context",
                              "layer %s is a cross-attention block; its keys need `context`", layer->name);
    if (!r->context) r->d_key = r->d_model;
    if (!r->values) r->d_value = r->d_key;
    if (check_width("/inputs", r->d_model, layer->d_model, "a row of `inputs`", error) != ATTN_OK)
        return ATTN_SHAPE;
    bool keys_fit = layer->d_key == 0 ? r->d_key == r->d_model : r->d_key == layer->d_key;
    if (!keys_fit && !r->context)
        return attn_error_set(
            error, ATTN_SHAPE, "/context",
            "the layer takes keys of width %zu and `inputs` has width %zu; `context` is needed", layer->d_key,
            r->d_model);
    if (!keys_fit)
        return attn_error_set(error, ATTN_SHAPE, "/context",
                              "a row of `context` has width %zu; the layer takes %zu", r->d_key,
                              layer->d_key == 0 ? r->d_model : layer->d_key);
    if (layer->d_value != 0 && r->d_value != layer->d_value && !r->values)
        return attn_error_set(
            error, ATTN_SHAPE, "/values",
            "the layer takes values of width %zu and `%s` has width %zu; `values` is needed", layer->d_value,
            r->context ? "context" : "inputs", r->d_value);
    return check_width("/values", r->d_value, layer->d_value, "a row of `values`", error);
}

static attn_code check_lengths(attn_plan *plan, workspace *space, attn_error *error) {
    const attn_request *r = &plan->request;
    if (r->sequence_count == 0)
        return attn_error_set(error, ATTN_RANGE, "/inputs",
                              "an empty batch; at least one sequence is needed");
    for (size_t n = 0; n < r->sequence_count; n++) {
        const attn_sequence *s = &r->sequences[n];
        if (s->queries == 0 || s->keys == 0)
            return attn_error_set(error, ATTN_RANGE, s->queries == 0 ? "/inputs" : "/context",
                                  "sequence %zu is empty; at least one position is needed", n);
        if (!r->context && s->keys != s->queries)
            return attn_error_set(error, ATTN_SHAPE, "/context",
                                  "sequence %zu has %zu %s and %zu key%s without `context`", n, s->queries,
                                  attn_queries(s->queries), s->keys, attn_plural(s->keys));
        plan->total_queries = sum(space, plan->total_queries, s->queries);
        plan->total_keys = sum(space, plan->total_keys, s->keys);
    }
    return ATTN_OK;
}

/* The first sequence whose L differs from its S; sequence_count: none. */
static size_t first_rectangular(const attn_request *r) {
    for (size_t n = 0; n < r->sequence_count; n++)
        if (r->sequences[n].queries != r->sequences[n].keys) return n;
    return r->sequence_count;
}

static attn_code refuse_rectangular(const attn_request *r, size_t n, attn_error *error) {
    size_t queries = r->sequences[n].queries, keys = r->sequences[n].keys;
    return attn_error_set(error, ATTN_AMBIGUOUS_CAUSAL, "/causal",
                          "sequence %zu has %zu %s and %zu key%s, so %s needs an alignment: \"top_left\" "
                          "(query i sees keys j <= i) or \"bottom_right\" (keys j <= i + keys - queries)",
                          n, queries, attn_queries(queries), keys, attn_plural(keys),
                          r->causal == ATTN_CAUSAL_OFF ? "a window" : "`causal`");
}

/* Causal and window become what the request or else the layer says, with an alignment. */
static attn_code resolve_causal(attn_plan *plan, attn_error *error) {
    attn_request *r = &plan->request;
    if (!r->window_given) r->window = r->layer->window;
    if (r->causal == ATTN_CAUSAL_LAYER) r->causal = r->layer->causal;
    if (r->causal == ATTN_CAUSAL_LAYER) r->causal = ATTN_CAUSAL_OFF;
    bool needs_alignment = r->causal == ATTN_CAUSAL_SQUARE || (r->causal == ATTN_CAUSAL_OFF && r->window > 0);
    size_t rectangular = first_rectangular(r);
    if (needs_alignment && rectangular < r->sequence_count) return refuse_rectangular(r, rectangular, error);
    if (r->causal == ATTN_CAUSAL_SQUARE) r->causal = ATTN_CAUSAL_TOP_LEFT;
    return ATTN_OK;
}

static attn_code resolve_scale(attn_plan *plan, attn_error *error) {
    attn_request *r = &plan->request;
    if (!r->scale_given) {
        r->scale = r->layer->scale != 0 ? r->layer->scale : (float)(1.0 / sqrt((double)plan->head_dim));
        r->scale_given = true;
    }
    if (!isfinite(r->scale)) return attn_error_set(error, ATTN_RANGE, "/scale", "a scale that is not finite");
    return ATTN_OK;
}

/* What maps can be given as. */
static attn_code check_forms(const attn_request *r, attn_error *error) {
    if (r->average_heads && (r->want & ATTN_WANT_SCORES))
        return attn_error_set(error, ATTN_CONFLICT, "/return/average_heads",
                              "scores have no mean over heads; one of the two is accepted");
    if (r->top_k > 0 && !(r->want & ATTN_WANT_MAPS))
        return attn_error_set(error, ATTN_CONFLICT, "/return/top_k",
                              "the largest weights of maps that are not asked for");
    return ATTN_OK;
}

/* A selection must name existing places, each once. */
static attn_code check_selection(const size_t *chosen, size_t count, size_t limit, const char *where,
                                 const char *what, attn_error *error) {
    if (!chosen) return ATTN_OK;
    if (count == 0)
        return attn_error_set(error, ATTN_RANGE, where, "an empty selection; leave it out for all %s", what);
    bool *seen = calloc(limit, sizeof *seen);
    if (!seen)
        return attn_error_set(error, ATTN_NO_MEMORY, where, "no memory to check a selection of %zu", count);
    attn_code code = ATTN_OK;
    for (size_t i = 0; i < count && code == ATTN_OK; i++) {
        char place[ATTN_WHERE_SIZE];
        snprintf(place, sizeof place, "%s/%zu", where, i);
        if (chosen[i] >= limit)
            code = attn_error_set(error, ATTN_RANGE, place, "%zu is not one of the %s: 0 to %zu", chosen[i],
                                  what, limit - 1);
        else if (seen[chosen[i]])
            code = attn_error_set(error, ATTN_RANGE, place, "%zu is chosen twice", chosen[i]);
        else
            seen[chosen[i]] = true;
    }
    free(seen);
    return code;
}

static attn_code check_selections(const attn_plan *plan, attn_error *error) {
    const attn_request *r = &plan->request;
    size_t shortest = SIZE_MAX;
    for (size_t n = 0; n < r->sequence_count; n++)
        if (r->sequences[n].queries < shortest) shortest = r->sequences[n].queries;
    attn_code code =
        check_selection(r->heads, r->head_count, r->layer->heads, "/return/heads", "heads", error);
    if (code != ATTN_OK) return code;
    return check_selection(r->queries, r->query_count, shortest, "/return/queries",
                           "query positions that every sequence has", error);
}

static size_t max_of(size_t a, size_t b) {
    return a > b ? a : b;
}

/* One BLAS call indexes with int. The bound on lengths also bounds the walk over their blocks. */
static attn_code check_blas_sizes(const attn_plan *plan, attn_error *error) {
    const attn_layer *layer = plan->request.layer;
    const attn_request *r = &plan->request;
    size_t longest = 0;
    for (size_t n = 0; n < r->sequence_count; n++)
        longest = max_of(longest, max_of(r->sequences[n].queries, r->sequences[n].keys));
    const size_t sides[] = {
        r->d_model,  r->d_key, r->d_value, layer->heads * plan->head_dim, layer->heads * plan->value_dim,
        plan->d_out, longest};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        if (sides[i] > INT_MAX - layer->extra_keys)
            return attn_error_set(error, ATTN_TOO_LARGE, "/inputs",
                                  "a side of %zu; one matrix side may be %d at most", sides[i], INT_MAX);
    return ATTN_OK;
}

/* The part of the workspace that holds the results asked for. */
static void lay_out_results(attn_plan *plan, workspace *space, size_t q, size_t k, size_t v) {
    const attn_request *r = &plan->request;
    if (r->want & ATTN_WANT_OUTPUTS) {
        plan->result_floats = product(space, plan->total_queries, plan->d_out);
        plan->at_outputs = reserve(space, plan->result_floats);
    }
    if (r->want & ATTN_WANT_MAPS) {
        plan->at_maps = reserve(space, plan->map_floats);
        plan->result_floats = sum(space, plan->result_floats, plan->map_floats);
    }
    if (r->want & ATTN_WANT_SCORES) {
        plan->at_scores = reserve(space, plan->map_floats);
        plan->result_floats = sum(space, plan->result_floats, plan->map_floats);
    }
    if (r->top_k > 0) {
        plan->at_top_keys = reserve(space, plan->map_floats);
        plan->at_top_rest = reserve(space, plan->map_rows);
        plan->result_floats = sum(space, plan->result_floats, sum(space, plan->map_floats, plan->map_rows));
    }
    if (r->want & ATTN_WANT_PROJECTIONS)
        plan->result_floats = sum(space, plan->result_floats, sum(space, q, sum(space, k, v)));
}

static void lay_out_projections(attn_plan *plan, workspace *space, size_t q, size_t k, size_t v) {
    plan->at_q = reserve(space, q);
    plan->at_k = reserve(space, k);
    if (plan->request.want & (ATTN_WANT_OUTPUTS | ATTN_WANT_PROJECTIONS)) plan->at_v = reserve(space, v);
}

/* Lays out the workspace: first the results, so that the rest can go when they are there. */
static void lay_out(attn_plan *plan, workspace *space) {
    const attn_request *r = &plan->request;
    const attn_layer *layer = r->layer;
    bool projected = !attn_layer_is_parameter_free(layer), wants_them = r->want & ATTN_WANT_PROJECTIONS;
    plan->at_q = plan->at_k = plan->at_v = plan->at_context = plan->at_outputs = plan->at_maps =
        plan->at_scores = plan->at_top_keys = plan->at_top_rest = plan->at_scratch = plan->at_sums =
            plan->at_mass = plan->at_seen = plan->at_splits = SIZE_MAX;
    size_t q = product(space, plan->total_queries, layer->heads * plan->head_dim);
    size_t k = product(space, plan->total_keys, layer->kv_heads * plan->head_dim);
    size_t v = product(space, plan->total_keys, layer->kv_heads * plan->value_dim);
    lay_out_results(plan, space, q, k, v);
    if (projected && wants_them) lay_out_projections(plan, space, q, k, v);
    plan->kept_floats = space->floats;

    if (projected && !wants_them) lay_out_projections(plan, space, q, k, v);
    if (r->want & ATTN_WANT_OUTPUTS)
        plan->at_context =
            layer->wo ? reserve(space, product(space, plan->total_queries, layer->heads * plan->value_dim))
                      : plan->at_outputs;
    if (r->want & ATTN_WANT_STATISTICS) {
        size_t sums = sizeof(attn_statistic_sums) / sizeof(float);
        plan->at_sums = reserve(space, product(space, plan->statistic_sums, sums));
        plan->at_mass =
            reserve(space, product(space, plan->statistic_columns, sizeof(uint64_t) / sizeof(float)));
        plan->at_seen = reserve(space, plan->statistic_columns);
    }
    if (plan->merge_tiles > 0) plan->at_splits = reserve(space, plan->split_floats);
    if (plan->attention_tiles > 0)
        plan->at_scratch = reserve(space, product(space, plan->workers, plan->scratch_floats));
}

/* The attention tiles of a sequence, and what they leave where its keys are split. */
static void measure_tiles(attn_plan *plan, workspace *space, const attn_sequence *s) {
    size_t splits = attn_key_splits(plan, s), heads = plan->request.layer->heads;
    size_t blocks = product(space, attn_row_blocks(plan, s->queries), splits);
    plan->attention_tiles = sum(space, plan->attention_tiles, product(space, blocks, attn_block_tiles(plan)));
    if (splits == 1) return;
    plan->split_floats = sum(space, plan->split_floats, attn_split_floats(plan, s, &space->overflow));
    plan->merge_tiles = product(space, plan->request.sequence_count, heads);
}

/* Walks the sequences: tiles, map sizes, the widest row of scores, and the products' multiplications and
 * additions (causal and window counted as they are cut, padding not). */
static void measure_attention(attn_plan *plan, workspace *space) {
    const attn_request *r = &plan->request;
    const attn_layer *layer = r->layer;
    size_t widest = 0, longest = 0;
    plan->map_heads = r->average_heads ? 1 : r->heads ? r->head_count : layer->heads;
    size_t chosen = r->heads ? r->head_count : layer->heads;
    plan->statistic_heads = r->want & ATTN_WANT_STATISTICS ? chosen : 0;
    bool attends = r->want & (ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS | ATTN_WANT_SCORES | ATTN_WANT_STATISTICS);
    double per_score =
        2.0 * (double)plan->head_dim + (r->want & ATTN_WANT_OUTPUTS ? 2.0 * (double)plan->value_dim : 0);
    for (size_t n = 0; n < r->sequence_count; n++) {
        const attn_sequence *s = &r->sequences[n];
        size_t width = sum(space, s->keys, layer->extra_keys);
        size_t rows = product(space, plan->map_heads, attn_map_rows(plan, s));
        plan->map_rows = sum(space, plan->map_rows, rows);
        plan->map_floats = sum(space, plan->map_floats, product(space, rows, attn_map_width(plan, s)));
        widest = max_of(widest, width);
        longest = max_of(longest, s->queries);
        size_t blocks = attn_row_blocks(plan, s->queries);
        plan->statistic_sums =
            sum(space, plan->statistic_sums, product(space, blocks, plan->statistic_heads));
        plan->statistic_columns =
            sum(space, plan->statistic_columns, product(space, width, plan->statistic_heads));
        if (attends) measure_tiles(plan, space, s);
        for (size_t block = 0; attends && block < blocks; block++) {
            attn_span rows_of = attn_row_block(plan, s->queries, block);
            attn_span keys = attn_block_keys(plan, s, rows_of);
            double scores =
                (double)(rows_of.end - rows_of.begin) * (double)(keys.end - keys.begin + layer->extra_keys);
            plan->flops += scores * per_score * (double)layer->heads;
        }
    }
    plan->scratch_floats = attn_plan_is_online(plan)
                               ? attn_online_scratch(longest, widest)
                               : attn_tile_scratch(plan, longest, widest, &space->overflow);
    if (!(r->want & (ATTN_WANT_MAPS | ATTN_WANT_SCORES))) plan->map_floats = 0;
}

/* Counts the tiles and flops of the projections that this request needs. */
static void measure_projections(attn_plan *plan) {
    attn_linear linears[ATTN_PROJECTIONS];
    size_t count = attn_plan_projections(plan, NULL, linears);
    for (size_t i = 0; i < count; i++) {
        plan->projection_tiles += attn_linear_tiles(&linears[i]);
        plan->flops += 2.0 * (double)linears[i].rows * (double)linears[i].in * (double)linears[i].out;
    }
    attn_linear output;
    if (attn_plan_output(plan, NULL, &output)) {
        plan->output_tiles = attn_linear_tiles(&output);
        plan->flops += 2.0 * (double)output.rows * (double)output.in * (double)output.out;
    }
}

attn_code attn_plan_make(const attn_request *request, size_t workers, attn_plan *out, attn_error *error) {
    const attn_layer *layer = request->layer;
    attn_plan plan = {.request = *request, .workers = workers};
    workspace space = {0};
    attn_code code;
    if (request->want == 0)
        return attn_error_set(error, ATTN_RANGE, "/return",
                              "nothing asked for; choose outputs, attention, scores, "
                              "projections or stats");
    if ((code = resolve_widths(&plan, error)) != ATTN_OK) return code;
    plan.head_dim = layer->head_dim ? layer->head_dim : plan.request.d_model;
    plan.value_dim = layer->value_dim ? layer->value_dim : plan.request.d_value;
    plan.d_out = layer->d_out ? layer->d_out : plan.value_dim;
    if ((code = check_lengths(&plan, &space, error)) != ATTN_OK) return code;
    if ((code = resolve_causal(&plan, error)) != ATTN_OK) return code;
    if ((code = resolve_scale(&plan, error)) != ATTN_OK) return code;
    if ((code = check_blas_sizes(&plan, error)) != ATTN_OK) return code;
    if ((code = check_forms(&plan.request, error)) != ATTN_OK) return code;
    if ((code = check_selections(&plan, error)) != ATTN_OK) return code;
    measure_attention(&plan, &space);
    lay_out(&plan, &space);
    measure_projections(&plan);
    plan.bytes = sum(&space, attn_run_header_bytes(&plan, &space.overflow),
                     product(&space, space.floats, sizeof(float)));
    if (space.overflow || plan.bytes > PTRDIFF_MAX)
        return attn_error_set(error, ATTN_TOO_LARGE, "/inputs",
                              "the request's sizes overflow what memory can address");
    *out = plan;
    return ATTN_OK;
}
