/* Element types of weight files, requests and answers, and how they become float32 and back. */
#ifndef ATTN_TENSOR_DTYPE_H
#define ATTN_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

/* dtype, its name in a safetensors header, bits per element, whether attention weights may have it.
 * Source: the safetensors format description (https://huggingface.co/docs/safetensors) and its `Dtype`
 * list. */
#define ATTN_DTYPES(X)                                                                                       \
    X(ATTN_F64, "F64", 64, true)                                                                             \
    X(ATTN_F32, "F32", 32, true)                                                                             \
    X(ATTN_F16, "F16", 16, true)                                                                             \
    X(ATTN_BF16, "BF16", 16, true)                                                                           \
    X(ATTN_C64, "C64", 64, false)                                                                            \
    X(ATTN_I64, "I64", 64, false)                                                                            \
    X(ATTN_U64, "U64", 64, false)                                                                            \
    X(ATTN_I32, "I32", 32, false)                                                                            \
    X(ATTN_U32, "U32", 32, false)                                                                            \
    X(ATTN_I16, "I16", 16, false)                                                                            \
    X(ATTN_U16, "U16", 16, false)                                                                            \
    X(ATTN_I8, "I8", 8, false)                                                                               \
    X(ATTN_U8, "U8", 8, false)                                                                               \
    X(ATTN_BOOL, "BOOL", 8, false)                                                                           \
    X(ATTN_F8_E5M2, "F8_E5M2", 8, false)                                                                     \
    X(ATTN_F8_E4M3, "F8_E4M3", 8, false)                                                                     \
    X(ATTN_F8_E8M0, "F8_E8M0", 8, false)                                                                     \
    X(ATTN_F6_E2M3, "F6_E2M3", 6, false)                                                                     \
    X(ATTN_F6_E3M2, "F6_E3M2", 6, false)                                                                     \
    X(ATTN_F4, "F4", 4, false)

typedef enum attn_dtype {
#define X(dtype, name, bits, float_weights) dtype,
    ATTN_DTYPES(X)
#undef X
} attn_dtype;

/* "F32" … ; static storage. */
const char *attn_dtype_name(attn_dtype dtype);
/* Finds a dtype by its safetensors name; false when there is none of that name. */
bool attn_dtype_find(const char *name, attn_dtype *out);
/* Bits of one element. */
size_t attn_dtype_bits(attn_dtype dtype);
/* Whether attn_dtype_to_f32 reads it. */
bool attn_dtype_is_float(attn_dtype dtype);

/* out[0..count) = the float32 values of `count` little-endian elements at `bytes` (any alignment).
 * F64 is rounded to nearest even (beyond float32: ±infinity); F16 subnormals and infinities are exact, and so is the
 * sign of zero; a NaN stays one. `dtype` must be one for which attn_dtype_is_float holds. */
void attn_dtype_to_f32(attn_dtype dtype, const void *bytes, size_t count, float *out);

/* bytes = the values as `count` little-endian elements of F32 or F16, at any alignment. F16 rounds to nearest, ties to
 * even; infinities stay. Returns the index of the first finite value that rounds to more than ±65504; `count` where all
 * fit. */
size_t attn_dtype_from_f32(attn_dtype dtype, const float *values, size_t count, void *bytes);

#endif
