/* Products of few rows (few.h) in plain C that compilers turn into vector code. The order of every sum is fixed by
 * LANES, not by the vector width, so each build gives the same bits. */
#include "few.h"

enum { LANES = 16, LINEAR_ROWS = 8, BLEND_ROWS = 8 };

static float dot(size_t depth, const float *x, const float *w) {
    float lanes[LANES] = {0};
    size_t t = 0;
    for (; t + LANES <= depth; t += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += x[t + lane] * w[t + lane];
    for (size_t lane = 0; t < depth; t++, lane++)
        lanes[lane] += x[t] * w[t];
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
}

static void dots(size_t rows, size_t columns, size_t depth, float alpha, const float *const *x,
                 const float *w, size_t ldw, float *const *y) {
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            y[i][j] = alpha * dot(depth, x[i], w + j * ldw);
}

/* Columns of one row, at most LANES. */
static void blend_lanes(size_t width, const attn_blend *b, size_t row, size_t column, bool adds) {
    float lanes[LANES] = {0}, *y = b->y + row * b->y_stride + column;
    for (size_t j = 0; j < b->count; j++)
        for (size_t lane = 0; lane < width; lane++)
            lanes[lane] += b->weights[row * b->weights_stride + j] * b->v[j * b->v_stride + column + lane];
    /* Added at the end: short sums round less than one over all parts. */
    for (size_t lane = 0; lane < width; lane++)
        y[lane] = adds ? y[lane] + lanes[lane] : lanes[lane];
}

static void blend(size_t rows, const attn_blend *b, bool adds) {
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < b->width; c += LANES)
            blend_lanes(b->width - c < LANES ? b->width - c : LANES, b, i, c, adds);
}

const attn_few_kernels ATTN_FEW_PLAIN = {LINEAR_ROWS, BLEND_ROWS, dots, blend};
