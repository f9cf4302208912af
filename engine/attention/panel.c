/* Which kernels for packed products run here (panel.h). */
#include "panel.h"

#include "../blas/reference.h"

const attn_panel_kernels *attn_panel_kernels_of(attn_vectors vectors) {
#ifdef __x86_64__
    if (vectors == ATTN_VECTORS_AVX512) return &ATTN_PANEL_AVX512;
#endif
    (void)vectors;
    return NULL;
}

const attn_panel_kernels *attn_panel_kernels_in_use(void) {
    return attn_kernels_are_reference() ? NULL : attn_panel_kernels_of(attn_vectors_in_use());
}
