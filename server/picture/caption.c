/* Titles and captions (caption.h). */
#include "caption.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Heads whose statistics a caption has room for. */
enum { MOST_HEADS = 16, LINE_SIZE = 320 };

const char *srv_weight_text(double weight, char out[SRV_WEIGHT_SIZE]) {
    snprintf(out, SRV_WEIGHT_SIZE, "%.3g", weight);
    return out;
}

void srv_title(const srv_maps *maps, const srv_picture_options *options,
               char out[SRV_CLEAN_SIZE(SRV_TITLE_CHARACTERS)]) {
    const srv_outcome *outcome = maps->outcome;
    const attn_request *r = &maps->plan->request;
    if (options->title) {
        srv_label_clean(options->title, strlen(options->title), SRV_TITLE_CHARACTERS, out);
        return;
    }
    char of_batch[64] = "";
    if (!outcome->ask->single) snprintf(of_batch, sizeof of_batch, ", sequence %zu", maps->sequence);
    snprintf(out, SRV_CLEAN_SIZE(SRV_TITLE_CHARACTERS), "%s, layer %zu (%s)%s: attention", outcome->model,
             outcome->layer_index, r->layer->name, of_batch);
}

static void put_line(srv_text *out, const char *line) {
    srv_text_append_string(out, line);
    srv_text_append(out, "\n", 1);
}

static void put_number(char *line, const char *name, double number) {
    size_t used = strlen(line);
    if (!isnan(number)) snprintf(line + used, LINE_SIZE - used, "%s %.3g", name, number);
}

static void put_stats(const srv_maps *maps, srv_text *out) {
    size_t heads = maps->plan->statistic_heads, shown = heads < MOST_HEADS ? heads : MOST_HEADS;
    const attn_request *r = &maps->plan->request;
    for (size_t slot = 0; slot < shown; slot++) {
        double n[ATTN_STATISTICS_OF_HEADS];
        char line[LINE_SIZE];
        attn_run_statistics(maps->outcome->run, maps->sequence, slot, n);
        snprintf(line, sizeof line, "head %zu:", r->heads ? r->heads[slot] : slot);
        put_number(line, " entropy", n[ATTN_ENTROPY]);
        put_number(line, ", confidence", n[ATTN_CONFIDENCE]);
        put_number(line, ", distance", n[ATTN_MEAN_DISTANCE]);
        put_number(line, ", sink", n[ATTN_SINK_MASS]);
        put_number(line, ", previous", n[ATTN_PREVIOUS_TOKEN]);
        put_number(line, ", current", n[ATTN_CURRENT_TOKEN]);
        put_number(line, ", next", n[ATTN_NEXT_TOKEN]);
        put_number(line, ", induction", n[ATTN_INDUCTION]);
        put_line(out, line);
    }
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "and %zu more heads; return.stats has them all", heads - shown);
    if (shown < heads) put_line(out, line);
    put_line(out, "Attention is not an explanation by itself.");
}

void srv_caption(const srv_maps *maps, const srv_picture_options *options, const char *unit, size_t row_pool,
                 size_t pool, srv_text *out) {
    char line[LINE_SIZE], max[SRV_WEIGHT_SIZE];
    snprintf(line, sizeof line, "Weights after the softmax, %s from 0 to %s.",
             srv_color_scale_names[options->scale], srv_weight_text((double)maps->max, max));
    put_line(out, line);
    if (row_pool * pool > 1) {
        snprintf(line, sizeof line, "One %s is the largest of %zu×%zu weights.", unit, row_pool, pool);
        put_line(out, line);
    }
    if (maps->keyless_queries > 0) {
        snprintf(line, sizeof line, "%zu quer%s no key%s.", maps->keyless_queries,
                 maps->keyless_queries == 1 ? "y sees" : "ies see",
                 maps->keyless < maps->keyless_queries * maps->panels ? " in some head" : "");
        put_line(out, line);
    }
    if (options->caption_is_stats) {
        put_stats(maps, out);
    } else if (options->caption) {
        char *caption = malloc(SRV_CLEAN_SIZE(SRV_CAPTION_CHARACTERS));
        if (!caption) {
            out->failed = true;
            return;
        }
        srv_label_clean(options->caption, strlen(options->caption), SRV_CAPTION_CHARACTERS, caption);
        put_line(out, caption);
        free(caption);
    }
}
