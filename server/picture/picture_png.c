/* The picture as one PNG (picture.h): panels and rules straight into the pixels, text on top where it is. */
#include "picture.h"

#include "png.h"

#include <stdlib.h>

/* Coverage becomes shades of ink, where there is any. */
static void add_ink(const srv_raster *to, const uint8_t *coverage, size_t stride) {
    for (size_t y = 0; y < to->height; y++)
        for (size_t x = 0; x < to->width; x++) {
            uint8_t shade = (uint8_t)((coverage[y * stride + x] * (SRV_INK_STEPS - 1) + 127) / 255);
            if (shade > 0) to->pixels[y * to->width + x] = (uint8_t)(SRV_INDEX_INK + shade);
        }
}

static bool draw(const srv_raster *to, const srv_layout *layout, const srv_maps *maps,
                 const srv_picture_options *options) {
    for (size_t i = 0; i < layout->rule_count; i++)
        srv_raster_fill(to, layout->rules[i], SRV_INDEX_RULE);
    for (size_t i = 0; i < maps->panels; i++)
        if (!srv_raster_map(to, layout->panels[i].x, layout->panels[i].y, maps, i, &layout->panel,
                            options->scale))
            return false;
    srv_raster_bar(to, layout->bar);
    srv_raster_masked(to, layout->masked);
    srv_raster_fill(to, layout->keyless, SRV_INDEX_KEYLESS);
    size_t stride;
    uint8_t *coverage = srv_ink_draw(layout->marks, layout->mark_count, to->width, to->height, &stride);
    if (!coverage) return false;
    add_ink(to, coverage, stride);
    free(coverage);
    return true;
}

static bool put_picture(const srv_maps *maps, const srv_picture_options *options, srv_text *out) {
    srv_layout layout;
    srv_raster raster = {0};
    bool is_made = srv_layout_make(maps, options, &layout);
    if (is_made) {
        raster = (srv_raster){calloc(layout.height, layout.width), layout.width, layout.height};
        is_made = raster.pixels && draw(&raster, &layout, maps, options);
    }
    if (is_made) srv_png_put(&raster, options->map, out);
    free(raster.pixels);
    srv_layout_done(&layout);
    return is_made && !out->failed;
}

bool srv_png_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    srv_picture_options options;
    srv_maps maps;
    if (!srv_picture_options_read(outcome->ask, &options, problem)) return false;
    bool is_made = srv_maps_make(outcome, options.sequence, &maps) &&
                   put_picture(&maps, &options, srv_parts_text(parts));
    srv_maps_done(&maps);
    return is_made || srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                                      "no memory for the picture at this moment");
}
