/* The sgemm wrapper and the build facts of OpenBLAS: the one file that includes cblas.h. */
#include "blas.h"

#include "reference.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* What C = beta·C means where there is nothing to add: the libraries differ in whether they touch C at
 * all. */
static void scale_only(size_t m, size_t n, float beta, float *c, size_t ldc) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

void attn_gemm(bool b_transposed, size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda,
               const float *b, size_t ldb, float beta, float *c, size_t ldc) {
    if (m == 0 || n == 0) return;
    if (attn_kernels_are_reference()) {
        attn_gemm_reference(b_transposed, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        return;
    }
    if (k == 0) {
        scale_only(m, n, beta, c, ldc);
        return;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, b_transposed ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n,
                (blasint)k, alpha, a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
}

const char *attn_blas_core(void) {
    return openblas_get_corename();
}

const char *attn_blas_config(void) {
    return openblas_get_config();
}

/* The library keeps a table of buffers of two per thread it was built for; its configuration text names that
 * number. Half of the table is left to the library itself. A build without threads takes buffers without a lock
 * (blas_memory_alloc in OpenBLAS's driver/others/memory.c): two callers at once now and then share one, and compute
 * wrong numbers. */
size_t attn_blas_callers_of(const char *config) {
    enum { UNKNOWN = 16 };
    if (strstr(config, "SINGLE_THREADED")) return 1;
    const char *named = strstr(config, "MAX_THREADS=");
    unsigned long threads = named ? strtoul(named + strlen("MAX_THREADS="), NULL, 10) : 0;
    return threads > 0 ? (size_t)threads : UNKNOWN;
}

size_t attn_blas_max_callers(void) {
    return attn_blas_callers_of(openblas_get_config());
}

void attn_blas_single_threaded(void) {
    openblas_set_num_threads(1);
}
