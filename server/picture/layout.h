/* Where everything of a picture stands, in pixels: what the PNG and the SVG are drawn from. Pure; any thread. */
#ifndef SRV_PICTURE_LAYOUT_H
#define SRV_PICTURE_LAYOUT_H

#include "ink.h"
#include "maps.h"

enum { SRV_MARKER = 4 }; /* pixels: the width of what marks a row that sees no key, right of its panel */

/* Along rows or columns of a map. */
typedef struct srv_cell_side {
    size_t pool;   /* of them in what is drawn as one cell */
    size_t pixels; /* of such a cell */
} srv_cell_side;

/* One map among several of equal size. */
typedef struct srv_panel_size {
    srv_cell_side row, column;
    size_t own, extra, gap; /* pixels: the keys, the layer's own keys, what keeps them apart */
    size_t width, height;
    size_t across, down; /* panels */
} srv_panel_size;

/* `cell` 0: as large as fits. */
srv_panel_size srv_panel_measure(size_t panels, size_t rows, size_t keys, size_t extra, size_t cell);
/* Upper bound for the pixels of the whole picture; SIZE_MAX where it overflows. */
size_t srv_panel_pixels(const srv_panel_size *size);

typedef struct srv_box {
    size_t x, y, width, height;
} srv_box;

typedef struct srv_layout {
    size_t width, height;
    srv_panel_size panel;
    srv_box *panels;
    srv_box bar;             /* the colours, the largest weight above */
    srv_box masked, keyless; /* the legend's patches; width 0: not there */
    srv_box *rules;          /* frames and ticks, filled */
    size_t rule_count, rule_room;
    srv_mark *marks;
    size_t mark_count, mark_room;
    bool failed; /* without memory */
} srv_layout;

/* False without memory. To be given to srv_layout_done in any case. */
bool srv_layout_make(const srv_maps *maps, const srv_picture_options *options, srv_layout *out);
void srv_layout_done(srv_layout *layout);

#endif
