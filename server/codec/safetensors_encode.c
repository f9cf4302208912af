/* A finished run → safetensors: all that JSON has, its small members as strings in `__metadata__`. Reads the run and the
 * ask, changes neither. */
#include "safetensors.h"

#include "ask_storage.h"
#include "json.h"
#include "results.h"
#include "server/jobs/cost.h"

#include <string.h>

enum { ALIGNMENT = 8 };

typedef struct writer {
    const srv_outcome *outcome;
    const attn_request *request;
    srv_text header;
    srv_result results[SRV_RESULTS];
    size_t result_count;
    bool has_lengths;
    size_t at; /* in the data, of the next tensor */
} writer;

bool srv_safetensors_settle(srv_ask *ask, srv_problem *problem) {
    (void)problem;
    srv_results_hint(ask);
    return true;
}

/* The end of the JSON value at `at`, at the level of the object that it stands in. */
static const char *end_of_value(const char *at, const char *end) {
    size_t depth = 0;
    bool inside = false; /* a string */
    for (; at < end; at++) {
        if (inside) {
            if (*at == '\\')
                at++;
            else
                inside = *at != '"';
        } else if (*at == '"') {
            inside = true;
        } else if (*at == '[' || *at == '{') {
            depth++;
        } else if (depth == 0 && (*at == ',' || *at == '}')) {
            break;
        } else if (*at == ']' || *at == '}') {
            depth--;
        }
    }
    return at;
}

/* Members of an object of ours, compact as they are written, as strings: a string as it is, anything else as its JSON
 * text. */
static void put_strings(const srv_text *object, srv_text *out) {
    const char *at = object->data + 1, *end = object->data + object->size;
    srv_text_append_string(out, "{");
    while (at < end && *at == '"') {
        const char *colon = memchr(at, ':', (size_t)(end - at)), *next = end_of_value(colon + 1, end);
        srv_text_append(out, at, (size_t)(colon + 1 - at));
        if (colon[1] == '"') {
            srv_text_append(out, colon + 1, (size_t)(next - colon - 1));
        } else {
            srv_text_append_json_string(out, colon + 1, (size_t)(next - colon - 1));
        }
        at = next < end && *next == ',' ? next + 1 : end;
        if (at < end) srv_text_append_string(out, ",");
    }
    srv_text_append_string(out, "}");
}

/* "name":{"dtype":…,"shape":[…],"data_offsets":[…]} of the next `bytes` bytes, behind a comma. `index`: of a sequence,
 * SIZE_MAX: none. */
static void put_entry(writer *to, const char *name, size_t index, const char *dtype, const size_t *shape,
                      size_t rank, size_t bytes) {
    srv_text *out = &to->header;
    srv_text_append_string(out, ",\"");
    srv_text_append_string(out, name);
    if (index != SIZE_MAX) {
        srv_text_append_string(out, ".");
        srv_text_append_size(out, index);
    }
    srv_text_append_string(out, "\":{\"dtype\":\"");
    srv_text_append_string(out, dtype);
    srv_text_append_string(out, "\",\"shape\":[");
    for (size_t i = 0; i < rank; i++) {
        if (i > 0) srv_text_append_string(out, ",");
        srv_text_append_size(out, shape[i]);
    }
    srv_text_append_string(out, "],\"data_offsets\":[");
    srv_text_append_size(out, to->at);
    srv_text_append_string(out, ",");
    to->at += bytes;
    srv_text_append_size(out, to->at);
    srv_text_append_string(out, "]}");
}

static size_t width_of(const writer *to, const srv_result *result) {
    return to->outcome->ask->half && !result->is_index ? 2 : 4;
}

static void put_result(writer *to, const srv_result *result) {
    const attn_run *run = to->outcome->run;
    size_t width = width_of(to, result), count = to->request->sequence_count;
    const char *dtype = result->is_index ? "I32" : width == 2 ? "F16" : "F32";
    srv_layout layout = srv_results_layout(to->outcome->ask, to->request, result->what);
    attn_view view = attn_run_view(run, result->what, 0);
    size_t shape[ATTN_MAX_RANK + 1] = {count};
    memcpy(shape + 1, view.shape, view.rank * sizeof *shape);
    if (layout == SRV_LAYOUT_STACKED) {
        put_entry(to, result->name, SIZE_MAX, dtype, shape, view.rank + 1,
                  count * attn_view_count(&view) * width);
        return;
    }
    if (layout == SRV_LAYOUT_PACKED) shape[1] = attn_run_plan(run)->total_queries;
    if (layout != SRV_LAYOUT_SEPARATE) {
        size_t elements = layout == SRV_LAYOUT_PACKED ? shape[1] * shape[2] : attn_view_count(&view);
        put_entry(to, result->name, SIZE_MAX, dtype, shape + 1, view.rank, elements * width);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        view = attn_run_view(run, result->what, i);
        put_entry(to, result->name, i, dtype, view.shape, view.rank, attn_view_count(&view) * width);
    }
}

/* Whether sequences differ in length somewhere, so that their lengths must be told. */
static bool is_ragged(const writer *to) {
    for (size_t i = 0; i < to->result_count; i++)
        if (srv_results_layout(to->outcome->ask, to->request, to->results[i].what) > SRV_LAYOUT_STACKED)
            return true;
    return false;
}

/* Wide elements first, so that each tensor begins at a multiple of its elements' size. */
static void sort_by_width(writer *to) {
    srv_result sorted[SRV_RESULTS];
    size_t count = 0;
    for (size_t width = 4; width >= 2; width -= 2)
        for (size_t i = 0; i < to->result_count; i++)
            if (width_of(to, to->results + i) == width) sorted[count++] = to->results[i];
    memcpy(to->results, sorted, sizeof sorted);
}

static void put_header(writer *to) {
    srv_text members = {0};
    srv_json_append_small(to->outcome, &members);
    srv_text_append_string(&to->header, "{\"__metadata__\":");
    if (!members.failed) put_strings(&members, &to->header);
    to->header.failed = to->header.failed || members.failed;
    srv_text_done(&members);
    if (to->has_lengths) {
        size_t count = to->request->sequence_count;
        put_entry(to, "lengths", SIZE_MAX, "I64", &count, 1, count * sizeof(int64_t));
    }
    for (size_t i = 0; i < to->result_count; i++)
        put_result(to, to->results + i);
    srv_text_append_string(&to->header, "}");
    while (to->header.size % ALIGNMENT != 0 && !to->header.failed)
        srv_text_append_string(&to->header, " ");
}

/* A 64-bit number, little-endian. */
static void put_number(srv_text *out, uint64_t number) {
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(number >> (8 * i) & 0xff);
    srv_text_append(out, bytes, sizeof bytes);
}

bool srv_safetensors_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    writer to = {.outcome = outcome, .request = &attn_run_plan(outcome->run)->request};
    srv_text *out = srv_parts_text(parts);
    to.result_count = srv_results_list(to.request, to.results);
    to.has_lengths = is_ragged(&to);
    sort_by_width(&to);
    put_header(&to);
    if (to.header.failed) {
        srv_text_done(&to.header);
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for the answer's header at this moment");
    }
    put_number(out, to.header.size);
    srv_text_append(out, to.header.data, to.header.size);
    srv_text_done(&to.header);
    for (size_t i = 0; i < to.request->sequence_count && to.has_lengths; i++)
        put_number(out, to.request->sequences[i].queries);
    for (size_t r = 0; r < to.result_count; r++)
        for (size_t i = 0; i < to.request->sequence_count; i++)
            srv_results_add(outcome, to.results + r, i, parts);
    return true;
}

size_t srv_safetensors_cost(const srv_ask *ask, const attn_plan *plan) {
    enum { BYTES_OF_ENTRIES = SRV_RESULTS * 256 }; /* of the header, for one sequence */
    size_t sending = srv_cost_of_sending(ask, plan), text = srv_cost_of_small_text(ask, plan), entries, total;
    /* The members as text, as strings whose quotes are escaped, and that text among the parts. */
    if (!attn_size_mul(text, 5, &text) ||
        !attn_size_mul(plan->request.sequence_count, 2 * BYTES_OF_ENTRIES, &entries) ||
        !attn_size_add(sending, text, &total) || !attn_size_add(total, entries, &total))
        return SIZE_MAX;
    return total;
}
