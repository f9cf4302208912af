/* Which conversions run here (convert.h). */
#include "convert.h"

const attn_convert_kernels *attn_convert_kernels_of(attn_vectors vectors) {
#ifdef __x86_64__
    if (vectors == ATTN_VECTORS_AVX512) return &ATTN_CONVERT_AVX512;
    if (vectors == ATTN_VECTORS_AVX2) return &ATTN_CONVERT_AVX2;
#endif
    (void)vectors;
    return &ATTN_CONVERT_PLAIN;
}

const attn_convert_kernels *attn_convert_kernels_in_use(void) {
    return attn_convert_kernels_of(attn_vectors_in_use());
}
