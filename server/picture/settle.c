/* What pictures make of a request before it is planned, and what they cost (picture.h). */
#include "picture.h"

#include "layout.h"
#include "png.h"

#include <stdint.h>

static bool keep_maps(srv_ask *ask, srv_problem *problem) {
    attn_request *r = &ask->request;
    if ((r->want & ATTN_WANT_MAPS) == 0)
        return srv_problem_set(problem, SRV_CONFLICT, SRV_WHERE_POINTER, "/return/attention",
                               "a picture shows the attention, which is switched off");
    if (r->top_k > 0)
        return srv_problem_set(problem, SRV_CONFLICT, SRV_WHERE_POINTER, "/return/top_k",
                               "a picture shows whole rows; 'top_k' is for JSON and safetensors");
    r->want = ATTN_WANT_MAPS;
    r->statistics = 0;
    return true;
}

/* Those of one number a head that need no sorted rows. */
static bool add_statistics(srv_ask *ask, srv_problem *problem) {
    const uint64_t sorted = ATTN_STATISTIC(ATTN_COVERAGE_90) | ATTN_STATISTIC(ATTN_GINI);
    ask->request.want |= ATTN_WANT_STATISTICS;
    ask->request.statistics = (ATTN_STATISTIC(ATTN_STATISTICS_OF_HEADS) - 1) & ~sorted;
    return srv_ask_number_tokens(ask, problem);
}

static bool settle(srv_ask *ask, srv_picture_options *options, srv_problem *problem) {
    if (!srv_picture_options_read(ask, options, problem)) return false;
    if (!keep_maps(ask, problem)) {
        srv_ask_point(ask, problem);
        return false;
    }
    return !options->caption_is_stats || add_statistics(ask, problem);
}

bool srv_table_settle(srv_ask *ask, srv_problem *problem) {
    srv_picture_options options;
    return settle(ask, &options, problem);
}

/* Of one sequence's maps. */
static srv_panel_size panel_of(const srv_ask *ask, const srv_picture_options *options) {
    const attn_request *r = &ask->request;
    const attn_sequence *s = &r->sequences[options->sequence];
    size_t heads = r->average_heads ? 1 : r->heads ? r->head_count : r->layer->heads;
    return srv_panel_measure(heads, r->queries ? r->query_count : s->queries, s->keys, r->layer->extra_keys,
                             options->cell);
}

bool srv_picture_settle(srv_ask *ask, srv_problem *problem) {
    srv_picture_options options;
    if (!settle(ask, &options, problem)) return false;
    srv_panel_size panel = panel_of(ask, &options);
    if (srv_panel_pixels(&panel) <= SRV_MAX_PIXELS) return true;
    const char *smaller = options.cell > 1 ? "a smaller 'cell', " : options.cell == 1 ? "no 'cell', " : "";
    return srv_problem_set(
        problem, SRV_PICTURE_TOO_LARGE, SRV_WHERE_NONE, NULL,
        "%zu×%zu panels of %zu×%zu pixels are more than %d in all; %sfewer 'heads', fewer 'queries' or "
        "'average_heads' make a smaller picture",
        panel.across, panel.down, panel.width, panel.height, SRV_MAX_PIXELS, smaller);
}

/* Upper bound for the pixels of a settled request's picture. */
static size_t pixels_of(const srv_ask *ask) {
    srv_picture_options options;
    srv_problem none = {0};
    if (!srv_picture_options_read(ask, &options, &none)) return SIZE_MAX;
    srv_panel_size panel = panel_of(ask, &options);
    return srv_panel_pixels(&panel);
}

/* The pixels, the ink on them, and what the answer's text may have doubled to. */
static size_t cost(const srv_ask *ask, size_t copies) {
    size_t pixels = pixels_of(ask), total;
    if (pixels > SRV_MAX_PIXELS || !attn_size_mul(srv_png_size(pixels), copies, &total)) return SIZE_MAX;
    size_t parts = srv_parts_cost(0, total, 0);
    return attn_size_add(parts, 2 * pixels, &total) ? total : SIZE_MAX;
}

size_t srv_png_cost(const srv_ask *ask, const attn_plan *plan) {
    (void)plan;
    return cost(ask, 2);
}

/* A PNG of each panel, and it again in base64; labels are few beside it. */
size_t srv_svg_cost(const srv_ask *ask, const attn_plan *plan) {
    (void)plan;
    return cost(ask, 5);
}
