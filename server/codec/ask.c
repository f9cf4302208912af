/* Brings an ask and a layer together: widths, which tensors the layer needs, the masks' head axis. What
 * depends on sizes alone (causal against L and S, selections) is left to attn_plan_make. */
#include "ask_storage.h"

#include "oip_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

srv_ask *srv_ask_new(void) {
    srv_ask *ask = calloc(1, sizeof *ask);
    if (ask == NULL) return NULL;
    ask->storage = calloc(1, sizeof *ask->storage);
    if (ask->storage == NULL) {
        free(ask);
        return NULL;
    }
    ask->request.want = ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS;
    return ask;
}

bool srv_ask_take(srv_ask *ask, size_t bytes) {
    srv_share *share = ask->storage->share;
    return share == NULL || srv_share_take(share, bytes, &ask->problem);
}

void srv_ask_warn(srv_ask *ask, const char *hint) {
    if (ask->warning_count < SRV_MAX_WARNINGS) ask->warnings[ask->warning_count++] = hint;
}

/* What the checks share: whose widths they are and where to complain. */
typedef struct binding {
    srv_ask *ask;
    const attn_layer *layer;
    const char *model;
    size_t index;
    srv_problem *problem;
} binding;

/* The pointer of one row of a tensor, or of the shape that says how wide it is. */
static void row_place(const binding *to, const char *name, const srv_rows *rows, size_t sequence, size_t row,
                      char where[ATTN_WHERE_SIZE]) {
    if (rows->list) {
        snprintf(where, ATTN_WHERE_SIZE, "/%s/%zu/shape", name, sequence);
    } else if (rows->binary) {
        snprintf(where, ATTN_WHERE_SIZE, "/%s/shape", name);
    } else if (to->ask->single || to->ask->packed) {
        snprintf(where, ATTN_WHERE_SIZE, "/%s/%zu", name, row);
    } else {
        snprintf(where, ATTN_WHERE_SIZE, "/%s/%zu/%zu", name, sequence, row);
    }
}

/* Rows of one tensor against the width that the layer takes; 0: any, but all the same. */
static bool check_width(const binding *to, const char *name, const srv_rows *rows, size_t width) {
    char where[ATTN_WHERE_SIZE];
    if (rows->width == 0) return true; /* not read: absent, or behind the problem that decoding found */
    if (width != 0 && rows->width != width) {
        row_place(to, name, rows, 0, 0, where);
        return srv_problem_set(to->problem, SRV_SHAPE_MISMATCH, SRV_WHERE_POINTER, where,
                               "row has %zu number%s; layer %zu of model '%s' takes %zu", rows->width,
                               attn_plural(rows->width), to->index, to->model, width);
    }
    if (rows->odd_width == 0) return true;
    row_place(to, name, rows, rows->odd_sequence, rows->odd_row, where);
    if (width == 0)
        return srv_problem_set(to->problem, SRV_SHAPE_MISMATCH, SRV_WHERE_POINTER, where,
                               "row has %zu number%s; the first row has %zu", rows->odd_width,
                               attn_plural(rows->odd_width), rows->width);
    return srv_problem_set(to->problem, SRV_SHAPE_MISMATCH, SRV_WHERE_POINTER, where,
                           "row has %zu number%s; layer %zu of model '%s' takes %zu", rows->odd_width,
                           attn_plural(rows->odd_width), to->index, to->model, width);
}

static bool check_widths(const binding *to) {
    const struct srv_ask_storage *given = to->ask->storage;
    const attn_layer *layer = to->layer;
    if (!check_width(to, "inputs", &given->inputs, layer->d_model)) return false;
    if (!check_width(to, "context", &given->context, layer->d_key)) return false;
    if (!check_width(to, "values", &given->values, layer->d_value)) return false;
    size_t width = given->context.width;
    if (!attn_layer_is_parameter_free(layer) || width == 0 || width == given->inputs.width) return true;
    char where[ATTN_WHERE_SIZE];
    row_place(to, "context", &given->context, 0, 0, where);
    return srv_problem_set(
        to->problem, SRV_SHAPE_MISMATCH, SRV_WHERE_POINTER, where,
        "row has %zu number%s; inputs has %zu, which layer %zu of model '%s' compares them with", width,
        attn_plural(width), given->inputs.width, to->index, to->model);
}

static bool missing(const binding *to, const char *where, const char *what, size_t takes, size_t found) {
    return srv_problem_set(to->problem, SRV_MISSING_FIELD, SRV_WHERE_POINTER, where,
                           "layer %zu of model '%s' takes %s of %zu numbers, found %zu; '%s' is required",
                           to->index, to->model, what, takes, found, where + 1);
}

/* Where a tensor is absent another stands in for it, if the layer takes its width. */
static bool check_sources(const binding *to) {
    const attn_request *request = &to->ask->request;
    const attn_layer *layer = to->layer;
    if (layer->is_cross && request->context == NULL)
        return srv_problem_set(to->problem, SRV_MISSING_FIELD, SRV_WHERE_POINTER, "/context",
                               "layer %zu of model '%s' is cross-attention; 'context' is required", to->index,
                               to->model);
    if (attn_layer_is_parameter_free(layer)) return true;
    if (request->context == NULL && layer->d_key != layer->d_model)
        return missing(to, "/context", "keys", layer->d_key, layer->d_model);
    if (request->values == NULL && layer->d_value != layer->d_key)
        return missing(to, request->context == NULL ? "/context" : "/values", "values", layer->d_value,
                       layer->d_key);
    return true;
}

static bool check_heads(const binding *to, const char *name, const srv_grid *grid) {
    if (grid->blocks == NULL) return true;
    for (size_t i = 0; i < to->ask->request.sequence_count; i++) {
        size_t heads = grid->blocks[i].heads;
        if (heads == 1 || heads == to->layer->heads) continue;
        const char *shape = grid->binary ? "/shape" : "";
        char where[ATTN_WHERE_SIZE];
        if (to->ask->single || (grid->binary && !grid->list)) {
            snprintf(where, sizeof where, "/%s%s", name, shape);
        } else {
            snprintf(where, sizeof where, "/%s/%zu%s", name, i, shape);
        }
        return srv_problem_set(to->problem, SRV_SHAPE_MISMATCH, SRV_WHERE_POINTER, where,
                               "found %zu heads; layer %zu of model '%s' has %zu, so many or 1 are expected",
                               heads, to->index, to->model, to->layer->heads);
    }
    return true;
}

/* Strides of one sequence's block: an axis of 1 broadcasts with a stride of 0. */
static size_t query_stride(const srv_block *block, size_t keys) {
    return block->queries == 1 ? 0 : keys;
}

static size_t head_stride(const srv_block *block, size_t keys) {
    return block->heads == 1 ? 0 : block->queries * keys;
}

static void place_masks(srv_ask *ask) {
    struct srv_ask_storage *storage = ask->storage;
    for (size_t i = 0; i < ask->request.sequence_count; i++) {
        attn_sequence *sequence = storage->sequences + i;
        size_t keys = sequence->keys;
        if (storage->padding.flags != NULL)
            sequence->padding = storage->padding.flags + storage->padding.blocks[i].offset;
        if (storage->mask.flags != NULL) {
            const srv_block *block = storage->mask.blocks + i;
            sequence->mask = (attn_mask){storage->mask.flags + block->offset, head_stride(block, keys),
                                         query_stride(block, keys)};
        }
        if (storage->bias.numbers != NULL) {
            const srv_block *block = storage->bias.blocks + i;
            sequence->bias = (attn_bias){storage->bias.numbers + block->offset, head_stride(block, keys),
                                         query_stride(block, keys)};
        }
    }
}

/* No layer's attention depends on position yet. */
static bool check_positions(const binding *to) {
    const struct srv_ask_storage *given = to->ask->storage;
    if (!given->positions && !given->context_positions) return true;
    const char *where = given->positions ? "/positions" : "/context_positions";
    return srv_problem_set(
        to->problem, SRV_CONFLICT, SRV_WHERE_POINTER, where,
        "layer %zu of model '%s' does not depend on position; '%s' is expected only where attention does",
        to->index, to->model, where + 1);
}

static bool bind(const binding *to) {
    srv_ask *ask = to->ask;
    if (!check_widths(to)) return false;
    if (ask->problem.id != SRV_NO_PROBLEM) {
        if (to->problem->id == SRV_NO_PROBLEM) *to->problem = ask->problem;
        return false;
    }
    return check_sources(to) && check_positions(to) &&
           check_heads(to, "attention_mask", &ask->storage->mask) &&
           check_heads(to, "bias", &ask->storage->bias);
}

/* Whether `options` has one that is named by the first `size` bytes. */
static bool has_option(const json_t *options, const char *name, size_t size) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)options, key, value) {
        if (strlen(key) == size && memcmp(key, name, size) == 0) return true;
    }
    return false;
}

/* `place`: where the client wrote it (NULL: in its place), with a '/' at the end where `rest`, the pointer's steps within
 * it, stays as it is. */
static void point_elsewhere(const char *place, const char *rest, srv_problem *problem) {
    char steps[ATTN_WHERE_SIZE];
    if (place == NULL) return;
    size_t size = strlen(place);
    bool is_tensor = place[size - 1] == '/';
    snprintf(steps, sizeof steps, "%s", is_tensor ? rest : "");
    snprintf(problem->where, sizeof problem->where, "%.*s%.80s", (int)(is_tensor ? size - 1 : size), place,
             steps);
}

void srv_ask_point(const srv_ask *ask, srv_problem *problem) {
    static const char above[] = "/return/";
    if (problem->where_kind != SRV_WHERE_POINTER || problem->where[0] != '/') return;
    char name[ATTN_WHERE_SIZE];
    size_t skipped = strncmp(problem->where, above, sizeof above - 1) == 0 ? sizeof above - 1 : 1;
    size_t size = strcspn(problem->where + skipped, "/");
    memcpy(name, problem->where + skipped, size);
    name[size] = '\0';
    if (has_option(ask->storage->query, name, size)) {
        problem->where_kind = SRV_WHERE_PARAMETER;
        memcpy(problem->where, name, size + 1);
    } else {
        point_elsewhere(json_string_value(json_object_get(ask->storage->places, name)),
                        problem->where + skipped + size, problem);
    }
}

bool srv_ask_compresses(const srv_ask *ask) {
    return json_is_true(json_object_get(ask->storage->query, "compress"));
}

const char *srv_ask_option(const srv_ask *ask, const char *name) {
    return json_string_value(json_object_get(ask->storage->query, name));
}

bool srv_ask_bind(srv_ask *ask, const attn_layer *layer, const char *model, size_t layer_index,
                  srv_problem *problem) {
    binding to = {ask, layer, model, layer_index, problem};
    if (!bind(&to)) {
        srv_ask_point(ask, problem);
        return false;
    }
    place_masks(ask);
    ask->request.layer = layer;
    return srv_ask_number_tokens(ask, problem);
}

static void rows_done(srv_rows *rows) {
    if (!rows->is_borrowed) free(rows->data);
    free(rows->lengths);
}

static void grid_done(srv_grid *grid) {
    if (!grid->is_borrowed) {
        free(grid->flags);
        free(grid->numbers);
    }
    free(grid->blocks);
}

void srv_ask_free(srv_ask *ask) {
    if (ask == NULL) return;
    struct srv_ask_storage *storage = ask->storage;
    rows_done(&storage->inputs);
    rows_done(&storage->context);
    rows_done(&storage->values);
    grid_done(&storage->padding);
    grid_done(&storage->mask);
    grid_done(&storage->bias);
    for (size_t i = 0; i < SRV_KEPT_BUFFERS; i++)
        srv_buffer_done(storage->kept + i, NULL);
    free(storage->sequences);
    free(storage->lengths.list);
    free(storage->context_lengths.list);
    free(storage->heads);
    free(storage->queries);
    free(storage->token_numbers);
    json_decref(storage->query);
    json_decref(storage->places);
    if (storage->inference != NULL) json_decref(storage->inference->id);
    free(storage->inference);
    free(storage->arranged);
    free(storage);
    json_decref(ask->tokens);
    json_decref(ask->context_tokens);
    free(ask->model);
    free(ask->layer_name);
    free(ask);
}
