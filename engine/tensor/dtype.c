/* Element types of weight files. Bytes are read one by one in little-endian order, so neither alignment nor
 * the machine's byte order matters; the compiler makes plain loads of them. Pure functions: any thread. */
#include "dtype.h"

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

static uint16_t load_16(const unsigned char *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t load_32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t load_64(const unsigned char *at) {
    return load_32(at) | (uint64_t)load_32(at + 4) << 32;
}

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. Every value is a float32 exactly. */
static float from_f16(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
    if (exponent == 0x1F) return float_of_bits(sign | 0x7F800000 | fraction << 13);
    if (exponent != 0) return float_of_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
    float magnitude = (float)fraction * 0x1p-24f; /* zero or subnormal */
    return sign != 0 ? -magnitude : magnitude;
}

static float from_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

void attn_dtype_to_f32(attn_dtype dtype, const void *bytes, size_t count, float *out) {
    const unsigned char *at = bytes;
    switch (dtype) {
    case ATTN_F64:
        for (size_t i = 0; i < count; i++)
            out[i] = from_f64(load_64(at + 8 * i));
        break;
    case ATTN_F32:
        for (size_t i = 0; i < count; i++)
            out[i] = float_of_bits(load_32(at + 4 * i));
        break;
    case ATTN_F16:
        for (size_t i = 0; i < count; i++)
            out[i] = from_f16(load_16(at + 2 * i));
        break;
    case ATTN_BF16: /* the upper half of a float32 */
        for (size_t i = 0; i < count; i++)
            out[i] = float_of_bits((uint32_t)load_16(at + 2 * i) << 16);
        break;
    default: break; /* the caller asked attn_dtype_is_float first */
    }
}
