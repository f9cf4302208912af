/* Which kernels for few rows run here (few.h). */
#include "few.h"

#include "../blas/reference.h"

const attn_few_kernels *attn_few_kernels_of(attn_vectors vectors) {
#ifdef __x86_64__
    if (vectors == ATTN_VECTORS_AVX512) return &ATTN_FEW_AVX512;
    if (vectors == ATTN_VECTORS_AVX2) return &ATTN_FEW_AVX2;
#endif
    (void)vectors;
    return &ATTN_FEW_PLAIN;
}

const attn_few_kernels *attn_few_kernels_in_use(void) {
    return attn_kernels_are_reference() ? &ATTN_FEW_REFERENCE : attn_few_kernels_of(attn_vectors_in_use());
}
