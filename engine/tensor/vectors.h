/* How wide the engine's own vector code is: one width for the whole process, the processor's widest unless told
 * otherwise. Each width has a table of kernels beside a plain C twin that every machine can run. Conversions give the
 * same bits at every width; softmax weights may differ in their last bits. */
#ifndef ATTN_TENSOR_VECTORS_H
#define ATTN_TENSOR_VECTORS_H

#include "../base/error.h"

typedef enum attn_vectors {
    ATTN_VECTORS_PLAIN,  /* plain C: every processor */
    ATTN_VECTORS_AVX2,   /* AVX2, FMA and F16C */
    ATTN_VECTORS_AVX512, /* AVX-512 F, BW, DQ and VL */
} attn_vectors;
enum { ATTN_VECTORS_COUNT = 3 };

/* "plain C", "AVX2", "AVX-512"; static storage. */
const char *attn_vectors_name(attn_vectors vectors);

/* The widest that this processor and its operating system can run; it can run all narrower ones too. */
attn_vectors attn_vectors_best(void);

/* The width in use: the best, or what attn_vectors_use chose. Any thread. */
attn_vectors attn_vectors_in_use(void);

/* Chooses the width. Once, before other threads compute: a run that sees both may mix their bits. Error: ATTN_RANGE
 * where this processor cannot run it; nothing changes then. */
attn_code attn_vectors_use(attn_vectors vectors, attn_error *error);

#endif
