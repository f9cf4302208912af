/* Conversions between float32 and the other float types, once for each vector width. All widths give the same bits.
 * `bytes` are little-endian elements at any alignment. Pure functions: any thread. dtype.h says what each type is. */
#ifndef ATTN_TENSOR_CONVERT_H
#define ATTN_TENSOR_CONVERT_H

#include "vectors.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct attn_convert_kernels {
    void (*from_f16)(const unsigned char *bytes, size_t count, float *out);
    void (*from_bf16)(const unsigned char *bytes, size_t count, float *out);
    void (*from_f64)(const unsigned char *bytes, size_t count, float *out);
    /* False where a finite value became infinite. */
    bool (*to_f16)(const float *values, size_t count, unsigned char *bytes);
} attn_convert_kernels;

/* Plain C: what the others are measured against, and what runs where there is nothing better. */
extern const attn_convert_kernels ATTN_CONVERT_PLAIN;
#ifdef __x86_64__
extern const attn_convert_kernels ATTN_CONVERT_AVX2;
extern const attn_convert_kernels ATTN_CONVERT_AVX512;
#endif

/* Those of one width, which this processor must be able to run, and those of the width in use. Any thread. */
const attn_convert_kernels *attn_convert_kernels_of(attn_vectors vectors);
const attn_convert_kernels *attn_convert_kernels_in_use(void);

#endif
