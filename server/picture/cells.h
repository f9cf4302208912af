/* Cells of a map: each one weight, or the largest of several rows and keys where there is no room for all. One thread. */
#ifndef SRV_PICTURE_CELLS_H
#define SRV_PICTURE_CELLS_H

#include "maps.h"

typedef struct srv_cells {
    const srv_maps *maps;
    size_t row_pool, pool; /* rows and keys in a cell */
    size_t own, all;       /* cells of a row: of the sequence's keys; with the layer's own behind them */
    /* Of the row of cells that was taken last: */
    float *largest;   /* < 0: nothing in the cell may be seen */
    bool all_see_one; /* each of its queries sees a key */
} srv_cells;

/* False without memory. */
bool srv_cells_make(const srv_maps *maps, size_t row_pool, size_t pool, srv_cells *out);
void srv_cells_done(srv_cells *cells);

/* Takes the row of cells that begins with a row of the map. False where nobody wants the picture any more. */
bool srv_cells_take(srv_cells *cells, size_t panel, size_t row);

#endif
