/* The picture as SVG (picture.h): the same layout; text stays text, maps are embedded PNGs of palette pixels. */
#include "picture.h"

#include "caption.h"
#include "png.h"
#include "server/codec/base64.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void put(srv_text *out, const char *format, ...) {
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    srv_text_append(out, piece, (size_t)size);
}

/* Cleaned text holds nothing else that XML forbids. */
static void put_escaped(srv_text *out, const char *text) {
    for (; *text != '\0'; text++) {
        const char *entity = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        if (entity)
            srv_text_append_string(out, entity);
        else
            srv_text_append(out, text, 1);
    }
}

static void put_mark(srv_text *out, const srv_mark *mark) {
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    put(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\"%s", mark->x, mark->y, mark->size,
        anchors[mark->anchor]);
    if (mark->is_upright) put(out, " transform=\"rotate(-90 %.1f %.1f)\"", mark->x, mark->y);
    put(out, ">");
    put_escaped(out, mark->text);
    put(out, "</text>\n");
}

static void put_base64(srv_text *out, const srv_text *bytes) {
    char *piece = malloc(SRV_BASE64_CHARACTERS);
    if (!piece) {
        out->failed = true;
        return;
    }
    for (size_t at = 0; at < bytes->size; at += SRV_BASE64_BYTES) {
        size_t size = bytes->size - at < SRV_BASE64_BYTES ? bytes->size - at : SRV_BASE64_BYTES;
        srv_text_append(out, piece, srv_base64_write((const unsigned char *)bytes->data + at, size, piece));
    }
    free(piece);
}

static void put_image(srv_text *out, const srv_raster *raster, size_t x, size_t y, srv_color_map map) {
    srv_text png = {0};
    srv_png_put(raster, map, &png);
    put(out,
        "<image x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" style=\"image-rendering:pixelated\" "
        "xlink:href=\"data:image/png;base64,",
        x, y, raster->width, raster->height);
    put_base64(out, &png);
    put(out, "\"/>\n");
    out->failed |= png.failed;
    srv_text_done(&png);
}

/* Room for pixels, all white. */
static srv_raster make_raster(srv_text *out, size_t width, size_t height) {
    srv_raster raster = {calloc(height, width), width, height};
    if (!raster.pixels) out->failed = true;
    return raster;
}

/* A panel with what marks its rows, right of it. */
static void put_panel(srv_text *out, const srv_layout *layout, const srv_maps *maps, size_t panel,
                      const srv_picture_options *options) {
    srv_raster raster = make_raster(out, layout->panel.width + SRV_MARKER + 2, layout->panel.height);
    if (!raster.pixels) return;
    if (!srv_raster_map(&raster, 0, 0, maps, panel, &layout->panel, options->scale)) out->failed = true;
    put_image(out, &raster, layout->panels[panel].x, layout->panels[panel].y, options->map);
    free(raster.pixels);
}

static void put_legend(srv_text *out, const srv_layout *layout, const srv_picture_options *options) {
    const srv_box boxes[] = {layout->bar, layout->masked, layout->keyless};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        if (boxes[i].width == 0) continue;
        srv_raster raster = make_raster(out, boxes[i].width, boxes[i].height);
        if (!raster.pixels) return;
        srv_box all = {0, 0, raster.width, raster.height};
        if (i == 0) srv_raster_bar(&raster, all);
        if (i == 1) srv_raster_masked(&raster, all);
        if (i == 2) srv_raster_fill(&raster, all, SRV_INDEX_KEYLESS);
        put_image(out, &raster, boxes[i].x, boxes[i].y, options->map);
        free(raster.pixels);
    }
}

static void put_rules(srv_text *out, const srv_layout *layout, srv_color_map map) {
    srv_rgb color = srv_raster_color(map, SRV_INDEX_RULE);
    put(out, "<path fill=\"#%02x%02x%02x\" d=\"", color.r, color.g, color.b);
    for (size_t i = 0; i < layout->rule_count; i++) {
        const srv_box *rule = &layout->rules[i];
        put(out, "M%zu %zuh%zuv%zuh-%zuz", rule->x, rule->y, rule->width, rule->height, rule->width);
    }
    put(out, "\"/>\n");
}

static void put_picture(const srv_layout *layout, const srv_maps *maps, const srv_picture_options *options,
                        srv_text *out) {
    char title[SRV_CLEAN_SIZE(SRV_TITLE_CHARACTERS)];
    srv_rgb ink = srv_raster_color(options->map, SRV_PALETTE - 1);
    put(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
        "xml:space=\"preserve\" "
        "width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\" ",
        layout->width, layout->height, layout->width, layout->height);
    put(out, "font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"#%02x%02x%02x\">\n<title>", ink.r,
        ink.g, ink.b);
    srv_title(maps, options, title);
    put_escaped(out, title);
    put(out, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    for (size_t i = 0; i < maps->panels && !out->failed; i++)
        put_panel(out, layout, maps, i, options);
    put_legend(out, layout, options);
    put_rules(out, layout, options->map);
    for (size_t i = 0; i < layout->mark_count; i++)
        put_mark(out, &layout->marks[i]);
    put(out, "</svg>\n");
}

bool srv_svg_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    srv_picture_options options;
    srv_maps maps;
    srv_layout layout = {0};
    srv_text *out = srv_parts_text(parts);
    if (!srv_picture_options_read(outcome->ask, &options, problem)) return false;
    bool is_made =
        srv_maps_make(outcome, options.sequence, &maps) && srv_layout_make(&maps, &options, &layout);
    if (is_made) put_picture(&layout, &maps, &options, out);
    srv_layout_done(&layout);
    srv_maps_done(&maps);
    return (is_made && !out->failed) || srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                                                        "no memory for the picture at this moment");
}
