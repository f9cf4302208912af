/* The plain product and the switch to it (reference.h). */
#include "reference.h"

#include <stdatomic.h>

static atomic_bool in_use;

void attn_kernels_use_reference(void) {
    atomic_store_explicit(&in_use, true, memory_order_relaxed);
}

bool attn_kernels_are_reference(void) {
    return atomic_load_explicit(&in_use, memory_order_relaxed);
}

void attn_gemm_reference(bool b_transposed, size_t m, size_t n, size_t k, float alpha, const float *a,
                         size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0, before = beta != 0 ? (double)beta * (double)c[i * ldc + j] : 0;
            for (size_t t = 0; t < k; t++)
                sum += (double)a[i * lda + t] * (double)(b_transposed ? b[j * ldb + t] : b[t * ldb + j]);
            c[i * ldc + j] = (float)((double)alpha * sum + before);
        }
}
