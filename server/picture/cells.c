/* Pooling (cells.h). */
#include "cells.h"

#include <stdlib.h>

static size_t pieces(size_t whole, size_t piece) {
    return whole / piece + (whole % piece != 0);
}

bool srv_cells_make(const srv_maps *maps, size_t row_pool, size_t pool, srv_cells *out) {
    size_t own = pieces(maps->keys, pool), all = own + pieces(maps->extra, pool);
    *out = (srv_cells){.maps = maps,
                       .row_pool = row_pool,
                       .pool = pool,
                       .own = own,
                       .all = all,
                       .largest = malloc(all * sizeof(float))};
    return out->largest != NULL;
}

void srv_cells_done(srv_cells *cells) {
    free(cells->largest);
}

/* The weights of `count` keys into their cells. */
static void pool_keys(const float *weights, const uint8_t *visible, size_t count, size_t pool,
                      float *largest) {
    for (size_t key = 0; key < count; largest++)
        for (size_t end = count - key < pool ? count : key + pool; key < end; key++)
            if (visible[key] && weights[key] > *largest) *largest = weights[key];
}

bool srv_cells_take(srv_cells *cells, size_t panel, size_t row) {
    const srv_maps *maps = cells->maps;
    if (srv_outcome_is_unwanted(maps->outcome)) return false;
    cells->all_see_one = true;
    for (size_t i = 0; i < cells->all; i++)
        cells->largest[i] = -1;
    for (size_t i = row; i < row + cells->row_pool && i < maps->rows; i++) {
        bool any;
        const float *weights = srv_maps_row(maps, panel, i);
        const uint8_t *visible = srv_maps_visible(maps, panel, i, &any);
        cells->all_see_one &= any;
        pool_keys(weights, visible, maps->keys, cells->pool, cells->largest);
        pool_keys(weights + maps->keys, visible + maps->keys, maps->extra, cells->pool,
                  cells->largest + cells->own);
    }
    return true;
}
