/* The row kernels (rows.h) and those for few rows (few.h) in double precision, for the reference switch
 * (../blas/reference.h). */
#include "few.h"
#include "rows.h"

#include "../blas/reference.h"

#include <math.h>

static float row_max(const float *row, size_t count) {
    float max = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (row[i] > max) max = row[i];
    return max;
}

static double row_exp(float *row, size_t count, float shift) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)(row[i] = (float)exp((double)row[i] - (double)shift));
    return sum;
}

static void row_scale(float *row, size_t count, float factor) {
    for (size_t i = 0; i < count; i++)
        row[i] *= factor;
}

const attn_row_kernels ATTN_ROWS_REFERENCE = {.max = row_max, .exp = row_exp, .scale = row_scale};

static void dots(size_t rows, size_t columns, size_t depth, float alpha, const float *const *x,
                 const float *w, size_t ldw, float *const *y) {
    for (size_t i = 0; i < rows; i++)
        attn_gemm_reference(true, 1, columns, depth, alpha, x[i], depth, w, ldw, 0, y[i], columns);
}

static void blend(size_t rows, const attn_blend *b, bool adds) {
    attn_gemm_reference(false, rows, b->width, b->count, 1, b->weights, b->weights_stride, b->v, b->v_stride,
                        adds ? 1 : 0, b->y, b->y_stride);
}

const attn_few_kernels ATTN_FEW_REFERENCE = {
    .linear_rows = ATTN_FEW_QUERIES, .blend_rows = ATTN_FEW_QUERIES, .dots = dots, .blend = blend};
