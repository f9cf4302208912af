/* Element types of weight files and answers. Pure functions: any thread. */
#include "dtype.h"

#include "convert.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct dtype_row {
    const char *name;
    unsigned bits;
    bool is_float;
} dtype_row;

static const dtype_row rows[] = {
#define X(dtype, name, bits, float_weights) [dtype] = {name, bits, float_weights},
    ATTN_DTYPES(X)
#undef X
};

const char *attn_dtype_name(attn_dtype dtype) {
    return rows[dtype].name;
}

bool attn_dtype_find(const char *name, attn_dtype *out) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        *out = (attn_dtype)i;
        return true;
    }
    return false;
}

size_t attn_dtype_bits(attn_dtype dtype) {
    return rows[dtype].bits;
}

bool attn_dtype_is_float(attn_dtype dtype) {
    return rows[dtype].is_float;
}

/* The machine's own floats where it is little-endian: the compiler makes a copy of it. */
static void from_bytes(const unsigned char *at, size_t count, float *out) {
    for (size_t i = 0; i < count; i++, at += 4) {
        uint32_t bits =
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        memcpy(&out[i], &bits, sizeof bits);
    }
}

static void to_bytes(const float *values, size_t count, unsigned char *at) {
    for (size_t i = 0; i < count; i++, at += 4) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (size_t byte = 0; byte < 4; byte++)
            at[byte] = (unsigned char)(bits >> (8 * byte));
    }
}

void attn_dtype_to_f32(attn_dtype dtype, const void *bytes, size_t count, float *out) {
    const attn_convert_kernels *kernels = attn_convert_kernels_in_use();
    switch (dtype) {
    case ATTN_F64: kernels->from_f64(bytes, count, out); break;
    case ATTN_F32: from_bytes(bytes, count, out); break;
    case ATTN_F16: kernels->from_f16(bytes, count, out); break;
    case ATTN_BF16: kernels->from_bf16(bytes, count, out); break;
    default: break; /* the caller asked attn_dtype_is_float first */
    }
}

/* Finite values below half-way from 65504, the largest half, to the next one that there would be. */
static bool fits_f16(float value) {
    return fabsf(value) < 65520 || isinf(value) || isnan(value);
}

size_t attn_dtype_from_f32(attn_dtype dtype, const float *values, size_t count, void *bytes) {
    if (dtype == ATTN_F32) to_bytes(values, count, bytes);
    if (dtype != ATTN_F16 || attn_convert_kernels_in_use()->to_f16(values, count, bytes)) return count;
    size_t first = 0;
    while (fits_f16(values[first]))
        first++;
    return first;
}
