/* Cutting a blend (few_strips.h). */
#include "few_strips.h"

void attn_blend_by_strips(const attn_strips *strips, size_t rows, const attn_blend *b, bool adds) {
    /* Rows are dealt out evenly: two strips of four are faster than one of six and one of two. */
    size_t groups = (rows + strips->rows - 1) / strips->rows,
           most = rows < strips->rows ? rows : strips->rows;
    for (size_t at = 0, width; at < b->width; at += width) {
        width = strips->width(b->width - at, most);
        for (size_t i = 0, n = 0, some; i < rows; i += some, n++) {
            some = (rows - i + groups - n - 1) / (groups - n);
            const attn_strip strip = {.count = b->count,
                                      .weights = b->weights + i * b->weights_stride,
                                      .weights_stride = b->weights_stride,
                                      .v = b->v + at,
                                      .v_stride = b->v_stride,
                                      .y = b->y + i * b->y_stride + at,
                                      .y_stride = b->y_stride,
                                      .adds = adds,
                                      .is_far = b->is_far,
                                      .width = width};
            strips->run(some, &strip);
        }
    }
}
