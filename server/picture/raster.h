/* Maps as pixels of a palette: one byte each. Pure; any thread. */
#ifndef SRV_PICTURE_RASTER_H
#define SRV_PICTURE_RASTER_H

#include "layout.h"

/* The palette: levels of weights, then what is no weight, then ink on white from none to full. Level 0 and no ink are
 * both white. */
enum {
    SRV_INDEX_MASKED = SRV_LEVELS, /* hatched with … */
    SRV_INDEX_HATCH,
    SRV_INDEX_KEYLESS,
    SRV_INDEX_INK = 240,
    SRV_INK_STEPS = 16,
    SRV_PALETTE = SRV_INDEX_INK + SRV_INK_STEPS,
    SRV_INDEX_RULE = SRV_INDEX_INK + 10,
};

srv_rgb srv_raster_color(srv_color_map map, size_t index);

/* Rows of pixels in somebody's memory. */
typedef struct srv_raster {
    uint8_t *pixels;
    size_t width, height;
} srv_raster;

void srv_raster_fill(const srv_raster *to, srv_box box, uint8_t index);
/* One map, whose panel's upper left corner is at x, y; within the raster. False without memory. */
bool srv_raster_map(const srv_raster *to, size_t x, size_t y, const srv_maps *maps, size_t panel,
                    const srv_panel_size *size, srv_color_scale scale);
/* The colours, the largest weight above. */
void srv_raster_bar(const srv_raster *to, srv_box box);
void srv_raster_masked(const srv_raster *to, srv_box box);

#endif
