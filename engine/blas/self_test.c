/* Proves at start-up that the kernels in use compute what plain loops compute. Sizes cross the kernels' tile
 * edges. */
#include "blas.h"

#include <math.h>
#include <stdlib.h>

typedef struct product {
    bool b_transposed;
    size_t m, n, k;
    float beta;
} product;

static const product PRODUCTS[] = {
    {true, 1, 1, 1, 0},    {true, 1, 33, 64, 0},   {true, 17, 129, 7, 0},    {true, 128, 96, 64, 0},
    {false, 1, 7, 129, 0}, {false, 31, 33, 17, 1}, {false, 128, 64, 128, 0}, {false, 65, 130, 257, 1},
};
enum { MAX_SIDE = 260 };

/* Small multiples of 1/8: sums of products are exact in float32, so any difference is a wrong kernel. */
static float pattern(size_t index, unsigned step) {
    return (float)((int)(index * step % 31) - 15) / 8.0f;
}

static double expected(const product *p, const float *a, const float *b, float before, size_t i, size_t j) {
    double sum = p->beta == 0 ? 0 : (double)p->beta * (double)before;
    for (size_t t = 0; t < p->k; t++)
        sum += (double)a[i * p->k + t] * (double)(p->b_transposed ? b[j * p->k + t] : b[t * p->n + j]);
    return sum;
}

static attn_code check(const product *p, float *a, float *b, float *c, attn_error *error) {
    for (size_t i = 0; i < p->m * p->k; i++)
        a[i] = pattern(i, 7);
    for (size_t i = 0; i < p->n * p->k; i++)
        b[i] = pattern(i, 11);
    for (size_t i = 0; i < p->m * p->n; i++)
        c[i] = p->beta == 0 ? NAN : pattern(i, 5);
    attn_gemm(p->b_transposed, p->m, p->n, p->k, 1, a, p->k, b, p->b_transposed ? p->k : p->n, p->beta, c,
              p->n);
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double want = expected(p, a, b, pattern(i * p->n + j, 5), i, j);
            double got = (double)c[i * p->n + j];
            if (!(fabs(got - want) <= 1e-6 * fmax(1, fabs(want))))
                return attn_error_set(
                    error, isfinite(got) ? ATTN_RANGE : ATTN_NOT_FINITE, NULL,
                    "OpenBLAS's %s kernels compute %g where %g is right (%zu×%zu×%zu, element "
                    "%zu,%zu); another OPENBLAS_CORETYPE or another OpenBLAS is needed",
                    attn_blas_core(), got, want, p->m, p->n, p->k, i, j);
        }
    return ATTN_OK;
}

attn_code attn_blas_self_test(attn_error *error) {
    float *block = malloc(3 * MAX_SIDE * MAX_SIDE * sizeof *block);
    if (!block) return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the self-test of OpenBLAS");
    attn_code code = ATTN_OK;
    for (size_t i = 0; i < sizeof PRODUCTS / sizeof PRODUCTS[0] && code == ATTN_OK; i++)
        code =
            check(&PRODUCTS[i], block, block + MAX_SIDE * MAX_SIDE, block + 2 * MAX_SIDE * MAX_SIDE, error);
    free(block);
    return code;
}
