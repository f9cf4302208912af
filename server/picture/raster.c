/* Maps → pixels (raster.h). */
#include "raster.h"

#include "cells.h"

#include <string.h>

srv_rgb srv_raster_color(srv_color_map map, size_t index) {
    static const srv_rgb masked = {242, 243, 248}, hatch = {212, 215, 226}, keyless = {213, 94, 0};
    if (index < SRV_LEVELS) return srv_color_on_white(map, index);
    if (index == SRV_INDEX_HATCH) return hatch;
    if (index == SRV_INDEX_KEYLESS) return keyless;
    if (index < SRV_INDEX_INK) return masked;
    uint8_t shade = (uint8_t)(255 - (index - SRV_INDEX_INK) * 225 / (SRV_INK_STEPS - 1));
    return (srv_rgb){shade, shade, shade};
}

void srv_raster_fill(const srv_raster *to, srv_box box, uint8_t index) {
    for (size_t y = box.y; y < box.y + box.height; y++)
        memset(to->pixels + y * to->width + box.x, index, box.width);
}

/* Stripes from lower left to upper right, the same over the whole picture. */
static uint8_t hatched(size_t x, size_t y) {
    return (x + y) % 6 < 2 ? SRV_INDEX_HATCH : SRV_INDEX_MASKED;
}

void srv_raster_masked(const srv_raster *to, srv_box box) {
    for (size_t y = box.y; y < box.y + box.height; y++)
        for (size_t x = box.x; x < box.x + box.width; x++)
            to->pixels[y * to->width + x] = hatched(x, y);
}

void srv_raster_bar(const srv_raster *to, srv_box box) {
    for (size_t y = 0; y < box.height; y++) {
        size_t level = (box.height - 1 - y) * (SRV_LEVELS - 1) / (box.height - 1);
        srv_raster_fill(to, (srv_box){box.x, box.y + y, box.width, 1}, (uint8_t)level);
    }
}

/* One row of cells. Cells of one pixel, of which there may be millions, need no box. */
static void paint_row(const srv_raster *to, size_t left, size_t top, const srv_cells *cells,
                      const srv_panel_size *size, srv_color_scale scale) {
    for (size_t i = 0; i < cells->all; i++) {
        srv_box box = {left + i * size->column.pixels + (i < cells->own ? 0 : size->gap), top,
                       size->column.pixels, size->row.pixels};
        bool is_masked = cells->largest[i] < 0;
        uint8_t level = is_masked ? 0 : srv_color_level(scale, cells->largest[i], cells->maps->max);
        if (box.width * box.height == 1)
            to->pixels[top * to->width + box.x] = is_masked ? hatched(box.x, top) : level;
        else if (is_masked)
            srv_raster_masked(to, box);
        else
            srv_raster_fill(to, box, level);
    }
}

bool srv_raster_map(const srv_raster *to, size_t x, size_t y, const srv_maps *maps, size_t panel,
                    const srv_panel_size *size, srv_color_scale scale) {
    srv_cells cells;
    if (!srv_cells_make(maps, size->row.pool, size->column.pool, &cells)) return false;
    bool is_wanted = true;
    for (size_t row = 0; row < maps->rows && is_wanted; row += size->row.pool, y += size->row.pixels) {
        is_wanted = srv_cells_take(&cells, panel, row);
        paint_row(to, x, y, &cells, size, scale);
        if (!cells.all_see_one && x + size->width + SRV_MARKER + 2 <= to->width)
            srv_raster_fill(to, (srv_box){x + size->width + 2, y, SRV_MARKER, size->row.pixels},
                            SRV_INDEX_KEYLESS);
    }
    srv_cells_done(&cells);
    return is_wanted;
}
