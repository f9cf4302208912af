/* A finished run → JSON text, written number by number into the answer's buffer: no tree, no spaces, small
 * members first. Reads the run and the ask, changes neither. Runs on workers. */
#include "json.h"

#include <math.h>
#include <string.h>

typedef struct writer {
    const srv_ask *ask;
    const attn_run *run;
    const attn_plan *plan;
    srv_text *out;
} writer;

static void put(writer *to, const char *text) {
    srv_text_append_string(to->out, text);
}

/* A member after the first one. */
static void put_name(writer *to, const char *name) {
    put(to, ",\"");
    put(to, name);
    put(to, "\":");
}

static void put_size_member(writer *to, const char *name, size_t number) {
    put_name(to, name);
    srv_text_append_size(to->out, number);
}

static void put_shape(writer *to) {
    const attn_request *request = &to->plan->request;
    put(to, ",\"shape\":{\"batch\":");
    srv_text_append_size(to->out, request->sequence_count);
    put_name(to, "queries");
    for (size_t i = 0; i < request->sequence_count; i++) {
        put(to, i == 0 ? "[" : ",");
        srv_text_append_size(to->out, request->sequences[i].queries);
    }
    put(to, "]");
    put_name(to, "keys");
    for (size_t i = 0; i < request->sequence_count; i++) {
        put(to, i == 0 ? "[" : ",");
        srv_text_append_size(to->out, request->sequences[i].keys);
    }
    put(to, "]");
    put_size_member(to, "heads", request->layer->heads);
    put_size_member(to, "kv_heads", request->layer->kv_heads);
    put_size_member(to, "d_out", to->plan->d_out);
    put(to, "}");
}

/* A selection as given, or 0 … count − 1 where there is none. */
static void put_selection(writer *to, const char *name, const size_t *chosen, size_t count) {
    put_name(to, name);
    for (size_t i = 0; i < count; i++) {
        put(to, i == 0 ? "[" : ",");
        srv_text_append_size(to->out, chosen == NULL ? i : chosen[i]);
    }
    put(to, "]");
}

static void put_selections(writer *to) {
    const attn_request *request = &to->plan->request;
    if ((request->want & (ATTN_WANT_MAPS | ATTN_WANT_SCORES)) == 0) return;
    size_t heads = request->heads == NULL ? request->layer->heads : request->head_count;
    put_selection(to, "heads", request->heads, heads);
    if (request->queries != NULL) put_selection(to, "queries", request->queries, request->query_count);
}

/* Strings, or lists of strings: what decoding let through. */
static void put_labels(writer *to, const json_t *labels) {
    if (json_is_string(labels)) {
        srv_text_append_json_string(to->out, json_string_value(labels), json_string_length(labels));
        return;
    }
    put(to, "[");
    for (size_t i = 0; i < json_array_size(labels); i++) {
        if (i > 0) put(to, ",");
        put_labels(to, json_array_get(labels, i));
    }
    put(to, "]");
}

static void put_notes(writer *to) {
    if (to->ask->tokens != NULL) {
        put_name(to, "tokens");
        put_labels(to, to->ask->tokens);
    }
    if (to->ask->context_tokens != NULL) {
        put_name(to, "context_tokens");
        put_labels(to, to->ask->context_tokens);
    }
    size_t extra = to->plan->request.layer->extra_keys, without = attn_run_rows_without_keys(to->run);
    if (extra > 0) put_size_member(to, "extra_keys", extra);
    if (without > 0) put_size_member(to, "rows_without_keys", without);
    put(to, ",\"warnings\":[");
    for (size_t i = 0; i < to->ask->warning_count; i++) {
        if (i > 0) put(to, ",");
        srv_text_append_json_string(to->out, to->ask->warnings[i], strlen(to->ask->warnings[i]));
    }
    put(to, "]");
}

/* The run was checked: what is not finite here is the −Infinity of a masked score. */
static void put_number(writer *to, float number) {
    if (isfinite(number)) {
        srv_text_append_float(to->out, number, to->ask->precision);
    } else {
        put(to, "null");
    }
}

/* `rank` axes, the outermost first, as nested lists. */
static void put_axes(writer *to, const size_t *shape, const size_t *stride, size_t rank, const float *at) {
    put(to, "[");
    for (size_t i = 0; i < *shape && !to->out->failed; i++, at += *stride) {
        if (i > 0) put(to, ",");
        if (rank > 1) {
            put_axes(to, shape + 1, stride + 1, rank - 1, at);
        } else {
            put_number(to, *at);
        }
    }
    put(to, "]");
}

static void put_result(writer *to, attn_result what, size_t sequence) {
    attn_view view = attn_run_view(to->run, what, sequence);
    put_axes(to, view.shape, view.stride, view.rank, view.data);
}

static void put_projections(writer *to, size_t sequence) {
    put(to, "{\"q\":");
    put_result(to, ATTN_Q, sequence);
    put(to, ",\"k\":");
    put_result(to, ATTN_K, sequence);
    put(to, ",\"v\":");
    put_result(to, ATTN_V, sequence);
    put(to, "}");
}

/* The tensor members in the contract's order. */
static const struct tensor {
    unsigned want;
    const char *name;
    attn_result what; /* of projections: the first of three */
} tensors[] = {
    {ATTN_WANT_OUTPUTS, "outputs", ATTN_OUTPUTS},
    {ATTN_WANT_MAPS, "attention", ATTN_MAPS},
    {ATTN_WANT_SCORES, "scores", ATTN_SCORES},
    {ATTN_WANT_PROJECTIONS, "projections", ATTN_Q},
};

static void put_tensor(writer *to, const struct tensor *tensor) {
    if ((to->plan->request.want & tensor->want) == 0) return;
    put_name(to, tensor->name);
    if (!to->ask->single) put(to, "[");
    for (size_t i = 0; i < to->plan->request.sequence_count; i++) {
        if (i > 0) put(to, ",");
        if (tensor->want == ATTN_WANT_PROJECTIONS) {
            put_projections(to, i);
        } else {
            put_result(to, tensor->what, i);
        }
    }
    if (!to->ask->single) put(to, "]");
}

bool srv_json_encode(const srv_ask *ask, const char *model, size_t layer_index, const attn_run *run,
                     srv_text *out) {
    writer to = {ask, run, attn_run_plan(run), out};
    put(&to, "{\"model\":");
    srv_text_append_json_string(out, model, strlen(model));
    put_size_member(&to, "layer", layer_index);
    put_shape(&to);
    put_selections(&to);
    put_notes(&to);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        put_tensor(&to, tensors + i);
    put(&to, "}");
    return !out->failed;
}
