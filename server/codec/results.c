/* Names and layouts of tensors in binary answers (results.h). */
#include "results.h"

#include "ask_storage.h"

size_t srv_results_list(const attn_request *request, srv_result out[SRV_RESULTS]) {
    bool has_maps = (request->want & ATTN_WANT_MAPS) != 0,
         has_scores = (request->want & ATTN_WANT_SCORES) != 0;
    bool has_top = has_maps && request->top_k > 0;
    const struct {
        bool is_there;
        srv_result result;
    } rows[SRV_RESULTS] = {
        {(request->want & ATTN_WANT_OUTPUTS) != 0, {"outputs", ATTN_OUTPUTS, false}},
        {has_maps && !has_top, {"attention", ATTN_MAPS, false}},
        {has_top, {"attention.index", ATTN_MAPS, true}},
        {has_top, {"attention.weight", ATTN_MAPS, false}},
        {has_top && has_scores, {"attention.score", ATTN_SCORES, false}},
        {has_top, {"attention.rest", ATTN_REST, false}},
        {has_scores && !has_top, {"scores", ATTN_SCORES, false}},
        {(request->want & ATTN_WANT_PROJECTIONS) != 0, {"projections.q", ATTN_Q, false}},
        {(request->want & ATTN_WANT_PROJECTIONS) != 0, {"projections.k", ATTN_K, false}},
        {(request->want & ATTN_WANT_PROJECTIONS) != 0, {"projections.v", ATTN_V, false}},
    };
    size_t count = 0;
    for (size_t i = 0; i < SRV_RESULTS; i++)
        if (rows[i].is_there) out[count++] = rows[i].result;
    return count;
}

/* Whether that result has one shape in all sequences. */
static bool is_even(const attn_request *request, attn_result what) {
    bool has_queries = what != ATTN_K && what != ATTN_V, has_keys = what != ATTN_OUTPUTS && what != ATTN_Q;
    const attn_sequence *all = request->sequences;
    for (size_t i = 1; i < request->sequence_count; i++)
        if ((has_queries && all[i].queries != all[0].queries) || (has_keys && all[i].keys != all[0].keys))
            return false;
    return true;
}

srv_layout srv_results_layout(const srv_ask *ask, const attn_request *request, attn_result what) {
    if (ask->single) return SRV_LAYOUT_SINGLE;
    if (!ask->packed && is_even(request, what)) return SRV_LAYOUT_STACKED;
    return what == ATTN_OUTPUTS ? SRV_LAYOUT_PACKED : SRV_LAYOUT_SEPARATE;
}

void srv_results_add(const srv_outcome *outcome, const srv_result *result, size_t sequence,
                     srv_parts *parts) {
    srv_part part = {.view = attn_run_view(outcome->run, result->what, sequence),
                     .form = SRV_FORM_BYTES,
                     .half = outcome->ask->half && !result->is_index,
                     .member = result->name};
    if (result->is_index) part.integers = attn_run_top_keys(outcome->run, sequence);
    srv_parts_add(parts, &part);
}

void srv_results_hint(srv_ask *ask) {
    if (ask->precision > 0 && (ask->request.want & ATTN_WANT_STATISTICS) == 0)
        srv_ask_warn(ask, "precision is about decimal numbers; this answer holds all bits");
    if (ask->base64) srv_ask_warn(ask, "encoding is about answers in JSON");
}
