/* One tensor of a finished run → NPY, version 1.0. Reads the run and the ask, changes neither. */
#include "npy.h"

#include "ask_storage.h"
#include "results.h"
#include "server/jobs/cost.h"

#include <stdio.h>
#include <string.h>

const char *const srv_npy_parameters[] = {"tensor", NULL};

/* What `?tensor=` may name. */
static const struct choice {
    const char *name;
    unsigned want;
} choices[] = {
    {"outputs", ATTN_WANT_OUTPUTS},
    {"attention", ATTN_WANT_MAPS},
    {"scores", ATTN_WANT_SCORES},
    {"projections.q", ATTN_WANT_PROJECTIONS},
    {"projections.k", ATTN_WANT_PROJECTIONS},
    {"projections.v", ATTN_WANT_PROJECTIONS},
};

static const char *chosen(const srv_ask *ask) {
    const char *name = srv_ask_option(ask, "tensor");
    return name == NULL ? choices[0].name : name;
}

/* Outputs and maps are there unless they are taken out, the others where they are named. */
static bool check_choice(srv_ask *ask, const struct choice *choice, srv_problem *problem) {
    static const unsigned unasked = ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS;
    if ((choice->want & unasked & ~ask->request.want) != 0)
        return srv_problem_set(problem, SRV_CONFLICT, SRV_WHERE_PARAMETER, "tensor",
                               "the tensor is '%s', which the request leaves out; one array is the answer",
                               choice->name);
    if (choice->want == ATTN_WANT_MAPS && ask->request.top_k > 0)
        return srv_problem_set(
            problem, SRV_CONFLICT, SRV_WHERE_PARAMETER, "tensor",
            "'%s' with top_k has several tensors and NPY holds one; application/x-safetensors has "
            "them all",
            choice->name);
    ask->request.want = choice->want;
    ask->request.statistics = 0;
    ask->request.top_k = 0;
    return true;
}

static attn_result result_of(const char *name) {
    srv_result results[SRV_RESULTS];
    const attn_request all = {.want = ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS | ATTN_WANT_SCORES |
                                      ATTN_WANT_PROJECTIONS};
    size_t count = srv_results_list(&all, results), i = 0;
    while (i + 1 < count && strcmp(results[i].name, name) != 0)
        i++;
    return results[i].what;
}

bool srv_npy_settle(srv_ask *ask, srv_problem *problem) {
    const char *name = chosen(ask);
    size_t i = 0, count = sizeof choices / sizeof *choices;
    while (i < count && strcmp(choices[i].name, name) != 0)
        i++;
    if (i == count)
        return srv_problem_set(
            problem, SRV_OUT_OF_RANGE, SRV_WHERE_PARAMETER, "tensor",
            "no tensor '%.64s'; there are outputs, attention, scores, projections.q, projections.k and "
            "projections.v",
            name);
    if (!check_choice(ask, choices + i, problem)) return false;
    if (srv_results_layout(ask, &ask->request, result_of(name)) == SRV_LAYOUT_SEPARATE)
        return srv_problem_set(problem, SRV_CONFLICT, SRV_WHERE_PARAMETER, "tensor",
                               "'%s' differs in shape among the sequences and NPY holds one array; "
                               "application/x-safetensors holds one for each",
                               name);
    srv_results_hint(ask);
    return true;
}

/* "(2, 3, 4)" with the axis for the batch, if there is one. */
static void put_shape(const srv_layout layout, const attn_request *request, const attn_view *first,
                      size_t total_queries, srv_text *out) {
    size_t skipped = layout == SRV_LAYOUT_PACKED ? 1 : 0;
    srv_text_append_string(out, "(");
    if (layout == SRV_LAYOUT_STACKED) {
        srv_text_append_size(out, request->sequence_count);
        srv_text_append_string(out, ", ");
    }
    if (skipped > 0) {
        srv_text_append_size(out, total_queries);
        srv_text_append_string(out, ", ");
    }
    for (size_t i = skipped; i < first->rank; i++) {
        if (i > skipped) srv_text_append_string(out, ", ");
        srv_text_append_size(out, first->shape[i]);
    }
    srv_text_append_string(out, ")");
}

/* Magic, version, length, and a dictionary that is padded so that the data begins at a multiple of 64. */
static void put_header(const srv_ask *ask, const attn_plan *plan, srv_layout layout, const attn_view *first,
                       srv_text *out) {
    enum { BEFORE = 10, ALIGNMENT = 64 };
    static const char start[] = "\x93NUMPY\x01";
    size_t begin = out->size;
    srv_text_append(out, start, sizeof start); /* the minor version is the 0 behind it */
    srv_text_append(out, "\0\0", 2);           /* the length, known below */
    srv_text_append_string(out, ask->half ? "{'descr': '<f2'" : "{'descr': '<f4'");
    srv_text_append_string(out, ", 'fortran_order': False, 'shape': ");
    put_shape(layout, &plan->request, first, plan->total_queries, out);
    srv_text_append_string(out, ", }");
    while ((out->size - begin + 1) % ALIGNMENT != 0 && !out->failed)
        srv_text_append(out, " ", 1);
    srv_text_append(out, "\n", 1);
    if (out->failed) return;
    size_t length = out->size - begin - BEFORE;
    out->data[begin + BEFORE - 2] = (char)(length & 0xff);
    out->data[begin + BEFORE - 1] = (char)(length >> 8 & 0xff);
}

bool srv_npy_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    (void)problem;
    const attn_plan *plan = attn_run_plan(outcome->run);
    const srv_result result = {.name = chosen(outcome->ask), .what = result_of(chosen(outcome->ask))};
    attn_view first = attn_run_view(outcome->run, result.what, 0);
    put_header(outcome->ask, plan, srv_results_layout(outcome->ask, &plan->request, result.what), &first,
               srv_parts_text(parts));
    for (size_t i = 0; i < plan->request.sequence_count; i++)
        srv_results_add(outcome, &result, i, parts);
    return true;
}

size_t srv_npy_size_of_outputs(const srv_ask *ask, const attn_plan *plan) {
    srv_text header = {0};
    const attn_view first = {.rank = 2, .shape = {plan->request.sequences[0].queries, plan->d_out}};
    put_header(ask, plan, srv_results_layout(ask, &plan->request, ATTN_OUTPUTS), &first, &header);
    size_t size = header.size + plan->total_queries * plan->d_out * (ask->half ? 2 : 4);
    srv_text_done(&header);
    return size;
}
