/* A finished run → the answer of the Open Inference Protocol (oip.h). Reads the run and the ask, changes neither. */
#include "oip.h"

#include "ask_storage.h"
#include "oip_ask.h"
#include "server/jobs/cost.h"

enum {
    BYTES_A_NUMBER = 20, /* "-1.17549435e-38," and what a list's text may be longer than its numbers */
    LONGEST_ESCAPE = 6,
    AT_ONCE = 1024, /* elements */
};

/* How the outputs are sent. */
static void count_kinds(const srv_oip *inference, size_t *binary, size_t *lists) {
    *binary = *lists = 0;
    for (size_t i = 0; i < inference->output_count; i++)
        *(inference->outputs[i].is_binary ? binary : lists) += 1;
}

size_t srv_oip_cost(const srv_ask *ask, const attn_plan *plan) {
    const srv_oip *inference = ask->storage->inference;
    size_t total = srv_cost_of_sending(ask, plan), id = json_string_length(inference->id), text = 0;
    size_t binary, lists;
    count_kinds(inference, &binary, &lists);
    /* The text doubles as it grows. Where bytes follow, the lists are part of it. */
    if (!attn_size_mul(id, 3 * LONGEST_ESCAPE, &id) || !attn_size_add(total, id, &total)) return SIZE_MAX;
    if (binary > 0 && lists > 0 && !attn_size_mul(plan->result_floats, 3 * BYTES_A_NUMBER, &text))
        return SIZE_MAX;
    return attn_size_add(total, text, &total) ? total : SIZE_MAX;
}

/* The whole batch of one output: sequences of one length lie one behind the other. */
static attn_view view_of(const srv_outcome *outcome, size_t which, size_t *rank,
                         size_t shape[ATTN_MAX_RANK + 1]) {
    const attn_run *run = outcome->run;
    attn_view view = attn_run_view(run, which == 0 ? ATTN_OUTPUTS : ATTN_MAPS, 0);
    size_t count = attn_run_plan(run)->request.sequence_count;
    *rank = view.rank + 1;
    shape[0] = count;
    for (size_t i = 0; i < view.rank; i++)
        shape[i + 1] = view.shape[i];
    return (attn_view){
        .data = view.data, .rank = 1, .shape = {count * attn_view_count(&view)}, .stride = {1}};
}

static void put_shape(srv_text *out, const size_t *shape, size_t rank) {
    for (size_t i = 0; i < rank; i++) {
        srv_text_append_string(out, i == 0 ? "[" : ",");
        srv_text_append_size(out, shape[i]);
    }
    srv_text_append_string(out, "]");
}

/* A list as text at once: the length of JSON that bytes follow is told before the first of it is sent. */
static void write_list(const srv_outcome *outcome, const srv_part *part, srv_text *out) {
    char piece[AT_ONCE * BYTES_A_NUMBER + SRV_PART_SLACK];
    size_t count = attn_view_count(&part->view);
    for (size_t from = 0, to; from < count && !out->failed; from = to) {
        if (srv_outcome_is_unwanted(outcome)) out->failed = true;
        to = count - from < AT_ONCE ? count : from + AT_ONCE;
        srv_text_append(out, piece, (size_t)(srv_part_write(part, from, to, piece) - piece));
    }
}

static void put_output(const srv_outcome *outcome, const srv_oip_output *output, bool at_once,
                       srv_parts *parts) {
    size_t rank, shape[ATTN_MAX_RANK + 1];
    srv_text *out = srv_parts_text(parts);
    const char *name = srv_oip_outputs[output->which];
    srv_part part = {.view = view_of(outcome, output->which, &rank, shape), .member = name};
    srv_text_append_string(out, "{\"name\":\"");
    srv_text_append_string(out, name);
    srv_text_append_string(out, "\",\"datatype\":\"FP32\",\"shape\":");
    put_shape(out, shape, rank);
    if (output->is_binary) {
        srv_text_append_string(out, ",\"parameters\":{\"binary_data_size\":");
        srv_text_append_size(out, part.view.shape[0] * sizeof(float));
        srv_text_append_string(out, "}");
    } else {
        srv_text_append_string(out, ",\"data\":");
        if (at_once)
            write_list(outcome, &part, out);
        else
            srv_parts_add(parts, &part);
    }
    srv_text_append_string(out, "}");
}

static void put_bytes(const srv_outcome *outcome, srv_parts *parts) {
    const srv_oip *inference = outcome->ask->storage->inference;
    size_t rank, shape[ATTN_MAX_RANK + 1];
    srv_parts_end_head(parts);
    for (size_t i = 0; i < inference->output_count; i++) {
        const srv_oip_output *output = &inference->outputs[i];
        srv_part part = {.view = view_of(outcome, output->which, &rank, shape),
                         .form = SRV_FORM_BYTES,
                         .member = srv_oip_outputs[output->which]};
        if (output->is_binary) srv_parts_add(parts, &part);
    }
}

bool srv_oip_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    (void)problem;
    const srv_oip *inference = outcome->ask->storage->inference;
    srv_text *out = srv_parts_text(parts);
    size_t binary, lists;
    count_kinds(inference, &binary, &lists);
    srv_text_append_string(out, "{");
    if (inference->id != NULL) {
        srv_text_append_string(out, "\"id\":");
        srv_text_append_json_string(out, json_string_value(inference->id), json_string_length(inference->id));
        srv_text_append_string(out, ",");
    }
    srv_text_append_string(out, "\"model_name\":\"");
    srv_text_append_string(out, outcome->model);
    if (inference->has_maps) srv_text_append_string(out, SRV_OIP_MAPS);
    srv_text_append_string(out, "\",\"model_version\":\"" SRV_OIP_VERSION "\",\"outputs\":[");
    for (size_t i = 0; i < inference->output_count; i++) {
        if (i > 0) srv_text_append_string(out, ",");
        put_output(outcome, &inference->outputs[i], binary > 0, parts);
    }
    srv_text_append_string(out, "]}");
    if (binary > 0) put_bytes(outcome, parts);
    return !out->failed;
}
