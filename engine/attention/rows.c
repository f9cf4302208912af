/* Which row kernels run here (rows.h). */
#include "rows.h"

#include "../blas/reference.h"

const attn_row_kernels *attn_row_kernels_of(attn_vectors vectors) {
#ifdef __x86_64__
    if (vectors == ATTN_VECTORS_AVX512) return &ATTN_ROWS_AVX512;
    if (vectors == ATTN_VECTORS_AVX2) return &ATTN_ROWS_AVX2;
#endif
    (void)vectors;
    return &ATTN_ROWS_PLAIN;
}

const attn_row_kernels *attn_row_kernels_in_use(void) {
    return attn_kernels_are_reference() ? &ATTN_ROWS_REFERENCE : attn_row_kernels_of(attn_vectors_in_use());
}
