/* The choice of vector width (vectors.h). */
#include "vectors.h"

#include "../blas/blas.h"

#include <stdatomic.h>

const char *attn_vectors_name(attn_vectors vectors) {
    switch (vectors) {
    case ATTN_VECTORS_PLAIN: return "plain C";
    case ATTN_VECTORS_AVX2: return "AVX2";
    case ATTN_VECTORS_AVX512: return "AVX-512";
    }
    return "";
}

attn_vectors attn_vectors_best(void) {
#ifdef __x86_64__
    attn_blas_level level = attn_blas_processor_level();
    if (level >= ATTN_BLAS_AVX512) return ATTN_VECTORS_AVX512;
    /* Of the processors with AVX2 all known ones have F16C; an emulator may leave it out. */
    if (level >= ATTN_BLAS_AVX2 && __builtin_cpu_supports("f16c")) return ATTN_VECTORS_AVX2;
#endif
    return ATTN_VECTORS_PLAIN;
}

/* One more than the width in use; 0: nobody has asked yet. */
static atomic_int in_use;

attn_vectors attn_vectors_in_use(void) {
    int known = atomic_load_explicit(&in_use, memory_order_relaxed);
    if (known > 0) return (attn_vectors)(known - 1);
    /* Whoever comes first finds out; several at once find the same. */
    attn_vectors best = attn_vectors_best();
    atomic_store_explicit(&in_use, (int)best + 1, memory_order_relaxed);
    return best;
}

attn_code attn_vectors_use(attn_vectors vectors, attn_error *error) {
    attn_vectors best = attn_vectors_best();
    if (vectors > best)
        return attn_error_set(error, ATTN_RANGE, NULL,
                              "this processor has no %s; the widest vector code it can run is %s",
                              attn_vectors_name(vectors), attn_vectors_name(best));
    atomic_store_explicit(&in_use, (int)vectors + 1, memory_order_relaxed);
    return ATTN_OK;
}
