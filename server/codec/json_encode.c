/* A finished run, or a plan, → JSON as parts: the small members as text, the tensors to be written when they are
 * sent. No tree, no spaces, small members first. Reads the run and the ask, changes neither. Runs on workers. */
#include "json.h"

#include "json_result.h"
#include "json_stats.h"
#include "npy.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
    const srv_ask *ask;
    const attn_run *run; /* NULL: the request was only planned */
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
    if ((request->want & (ATTN_WANT_MAPS | ATTN_WANT_SCORES | ATTN_WANT_STATISTICS)) == 0) return;
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

static void put_labels_of_ask(writer *to) {
    if (to->ask->tokens != NULL) {
        put_name(to, "tokens");
        put_labels(to, to->ask->tokens);
    }
    if (to->ask->context_tokens != NULL) {
        put_name(to, "context_tokens");
        put_labels(to, to->ask->context_tokens);
    }
}

static void put_lengths(writer *to) {
    const attn_request *request = &to->plan->request;
    if (!to->ask->packed) return;
    put_name(to, "lengths");
    for (size_t i = 0; i < request->sequence_count; i++) {
        put(to, i == 0 ? "[" : ",");
        srv_text_append_size(to->out, request->sequences[i].queries);
    }
    put(to, "]");
}

static void put_notes(writer *to) {
    size_t extra = to->plan->request.layer->extra_keys;
    size_t without = to->run == NULL ? 0 : attn_run_rows_without_keys(to->run);
    if (extra > 0) put_size_member(to, "extra_keys", extra);
    if (without > 0) put_size_member(to, "rows_without_keys", without);
    put(to, ",\"warnings\":[");
    for (size_t i = 0; i < to->ask->warning_count; i++) {
        if (i > 0) put(to, ",");
        srv_text_append_json_string(to->out, to->ask->warnings[i], strlen(to->ask->warnings[i]));
    }
    put(to, "]");
}

static void put_result(const srv_result_writer *to, const attn_run *run, attn_result what, size_t sequence) {
    attn_view view = attn_run_view(run, what, sequence);
    srv_json_put_view(to, &view);
}

static void put_projections(const srv_result_writer *to, const attn_run *run, size_t sequence) {
    srv_text *out = srv_parts_text(to->parts);
    srv_text_append_string(out, "{\"q\":");
    put_result(to, run, ATTN_Q, sequence);
    srv_text_append_string(out, ",\"k\":");
    put_result(to, run, ATTN_K, sequence);
    srv_text_append_string(out, ",\"v\":");
    put_result(to, run, ATTN_V, sequence);
    srv_text_append_string(out, "}");
}

/* A map, or of each of its rows the k largest weights with what belongs to them. */
static void put_map(const srv_result_writer *to, const attn_run *run, size_t sequence) {
    const attn_request *request = &attn_run_plan(run)->request;
    if (request->top_k == 0) {
        put_result(to, run, ATTN_MAPS, sequence);
        return;
    }
    srv_text *out = srv_parts_text(to->parts);
    attn_view weights = attn_run_view(run, ATTN_MAPS, sequence);
    srv_text_append_string(out, "{\"index\":");
    srv_json_put_indices(to, &weights, attn_run_top_keys(run, sequence));
    srv_text_append_string(out, ",\"weight\":");
    srv_json_put_view(to, &weights);
    if ((request->want & ATTN_WANT_SCORES) != 0) {
        srv_text_append_string(out, ",\"score\":");
        put_result(to, run, ATTN_SCORES, sequence);
    }
    srv_text_append_string(out, ",\"rest\":");
    put_result(to, run, ATTN_REST, sequence);
    srv_text_append_string(out, "}");
}

static void put_one(const srv_result_writer *to, const attn_run *run, unsigned want, size_t sequence) {
    switch (want) {
    case ATTN_WANT_OUTPUTS: put_result(to, run, ATTN_OUTPUTS, sequence); break;
    case ATTN_WANT_MAPS: put_map(to, run, sequence); break;
    case ATTN_WANT_SCORES: put_result(to, run, ATTN_SCORES, sequence); break;
    default: put_projections(to, run, sequence); break;
    }
}

/* The tensor members in the contract's order. */
static const struct tensor {
    unsigned want;
    const char *name;
} tensors[] = {
    {ATTN_WANT_OUTPUTS, "outputs"},
    {ATTN_WANT_MAPS, "attention"},
    {ATTN_WANT_SCORES, "scores"},
    {ATTN_WANT_PROJECTIONS, "projections"},
};

static void put_tensor(writer *to, const struct tensor *tensor, srv_parts *parts) {
    const attn_request *request = &to->plan->request;
    bool within_map = tensor->want == ATTN_WANT_SCORES && request->top_k > 0;
    if ((request->want & tensor->want) == 0 || within_map) return;
    srv_result_writer result = {to->ask, parts, tensor->name};
    put_name(to, tensor->name);
    if (!to->ask->single) put(to, "[");
    for (size_t i = 0; i < request->sequence_count; i++) {
        if (i > 0) put(to, ",");
        put_one(&result, to->run, tensor->want, i);
    }
    if (!to->ask->single) put(to, "]");
}

/* The members before the tensors. */
static void put_small_members(writer *to, const char *model, size_t layer_index) {
    put(to, "{\"model\":");
    srv_text_append_json_string(to->out, model, strlen(model));
    put_size_member(to, "layer", layer_index);
    put_shape(to);
    put_selections(to);
    put_labels_of_ask(to);
    put_lengths(to);
    put_notes(to);
}

static void put_stats(writer *to) {
    const attn_request *request = &to->plan->request;
    if ((request->want & ATTN_WANT_STATISTICS) == 0) return;
    put_name(to, "stats");
    if (!to->ask->single) put(to, "[");
    for (size_t i = 0; i < request->sequence_count; i++) {
        if (i > 0) put(to, ",");
        srv_json_put_stats(to->run, i, to->ask->precision, to->out);
    }
    if (!to->ask->single) put(to, "]");
}

void srv_json_append_small(const srv_outcome *outcome, srv_text *out) {
    writer to = {outcome->ask, outcome->run, attn_run_plan(outcome->run), out};
    put_small_members(&to, outcome->model, outcome->layer_index);
    put_stats(&to);
    put(&to, "}");
}

bool srv_json_settle(srv_ask *ask, srv_problem *problem) {
    if (!ask->half || ask->base64) return true;
    return srv_problem_set(problem, SRV_CONFLICT, SRV_WHERE_POINTER, "/return/dtype",
                           "dtype \"f16\" without encoding \"base64\"; decimal numbers are float32, which "
                           "precision shortens");
}

bool srv_json_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    (void)problem;
    writer to = {outcome->ask, outcome->run, attn_run_plan(outcome->run), srv_parts_text(parts)};
    put_small_members(&to, outcome->model, outcome->layer_index);
    put_stats(&to);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        put_tensor(&to, tensors + i, parts);
    put(&to, "}\n");
    return true;
}

static void put_answer_bytes(writer *to, size_t json) {
    const attn_plan *plan = to->plan;
    put(to, ",\"answer_bytes\":{\"application/json\":");
    srv_text_append_size(to->out, json);
    put_name(to, "application/x-npy");
    if ((plan->request.want & ATTN_WANT_OUTPUTS) != 0) {
        srv_text_append_size(to->out, srv_npy_size_of_outputs(to->ask, plan));
    } else {
        put(to, "null");
    }
    size_t indices = plan->request.top_k > 0 ? plan->map_floats : 0; /* four bytes whatever the dtype */
    size_t numbers = plan->result_floats - indices;
    put_size_member(to, "application/x-safetensors", numbers * (to->ask->half ? 2 : 4) + indices * 4);
    put(to, "}");
}

void srv_json_plan(const srv_ask *ask, const char *model, size_t layer_index, const attn_plan *plan,
                   const srv_plan_figures *figures, srv_parts *parts) {
    srv_text *out = srv_parts_text(parts);
    writer to = {ask, NULL, plan, out};
    char flops[64];
    put_small_members(&to, model, layer_index);
    put(&to, ",\"plan\":{\"bytes\":");
    srv_text_append_size(out, figures->bytes);
    snprintf(flops, sizeof flops, "%.0f", plan->flops);
    put_name(&to, "flops");
    put(&to, flops);
    put_answer_bytes(&to, figures->answer);
    put_name(&to, "verdict");
    put(&to, figures->bytes <= figures->limit ? "\"fits\"" : "\"too_large\"");
    put_size_member(&to, "limit", figures->limit);
    put(&to, ",\"setting\":\"limits.memory\"}}\n");
}
