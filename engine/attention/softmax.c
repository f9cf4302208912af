/* Softmax (softmax.h) over the row kernels in use. */
#include "softmax.h"

#include "rows.h"

#include <math.h>
#include <string.h>

bool attn_row_is_masked(const float *row, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (row[i] != -INFINITY) return false;
    return true;
}

attn_softmax attn_softmax_row(float *row, size_t count) {
    const attn_row_kernels *kernels = attn_row_kernels_in_use();
    /* A NaN is never greater, so it does not become the maximum; it is seen in the sum. */
    float max = kernels->max(row, count);
    if (max == -INFINITY) {
        if (!attn_row_is_masked(row, count)) return ATTN_SOFTMAX_NOT_FINITE;
        memset(row, 0, count * sizeof *row);
        return ATTN_SOFTMAX_EMPTY;
    }
    double sum = kernels->exp(row, count, max);
    kernels->scale(row, count, (float)(1.0 / sum));
    return isfinite(sum) ? ATTN_SOFTMAX_DONE : ATTN_SOFTMAX_NOT_FINITE;
}
