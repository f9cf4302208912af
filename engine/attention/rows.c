/* Which row kernels run here (rows.h). */
#include "rows.h"

#include "../blas/blas.h"

#include <stdatomic.h>

size_t attn_row_kernels_all(const attn_row_kernels *out[ATTN_ROW_KERNELS_MOST]) {
    size_t count = 0;
    out[count++] = &ATTN_ROWS_PLAIN;
#ifdef __x86_64__
    attn_blas_level level = attn_blas_processor_level();
    if (level >= ATTN_BLAS_AVX2) out[count++] = &ATTN_ROWS_AVX2;
    if (level >= ATTN_BLAS_AVX512) out[count++] = &ATTN_ROWS_AVX512;
#endif
    return count;
}

const attn_row_kernels *attn_row_kernels_in_use(void) {
    /* Whoever comes first finds out; several at once find the same. */
    static _Atomic(const attn_row_kernels *) in_use;
    const attn_row_kernels *kernels = atomic_load_explicit(&in_use, memory_order_relaxed);
    if (kernels) return kernels;
    const attn_row_kernels *all[ATTN_ROW_KERNELS_MOST];
    kernels = all[attn_row_kernels_all(all) - 1];
    atomic_store_explicit(&in_use, kernels, memory_order_relaxed);
    return kernels;
}
