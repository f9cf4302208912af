/* Conversions (convert.h) in plain C. Bytes are read and written one by one in little-endian order, so neither
 * alignment nor the machine's byte order matters; the compiler makes plain loads and stores of them. */
#include "convert.h"

#include <stdint.h>
#include <string.h>

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

static uint32_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. Every value is a float32 exactly; a NaN keeps its
 * fraction and becomes a quiet one, as the processors' own instructions make it. */
static float from_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
    if (exponent == 0x1F)
        return float_of_bits(sign | 0x7F800000 | fraction << 13 | (fraction != 0 ? 0x400000 : 0));
    if (exponent != 0) return float_of_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
    float magnitude = (float)fraction * 0x1p-24f; /* zero or subnormal */
    return sign != 0 ? -magnitude : magnitude;
}

static void from_f16(const unsigned char *bytes, size_t count, float *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = from_half(load_16(bytes + 2 * i));
}

/* The upper half of a float32. */
static void from_bf16(const unsigned char *bytes, size_t count, float *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = float_of_bits((uint32_t)load_16(bytes + 2 * i) << 16);
}

static void from_f64(const unsigned char *bytes, size_t count, float *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = load_64(bytes + 8 * i);
        double value;
        memcpy(&value, &bits, sizeof value);
        out[i] = (float)value;
    }
}

/* bits / 2^drop, rounded to nearest, ties to even. */
static uint32_t round_off(uint32_t bits, unsigned drop) {
    uint32_t kept = bits >> drop, rest = bits & ((1U << drop) - 1), tie = 1U << (drop - 1);
    return kept + (rest > tie || (rest == tie && (kept & 1) != 0));
}

enum { INFINITE_HALF = 0x7C00, INFINITE_BITS = 0x7F800000 };

static uint32_t half_of(float value) {
    enum { BIAS_STEP = 127 - 15, DROPPED = 23 - 10, QUIET = 0x200 };
    uint32_t bits = bits_of_float(value);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF, half;
    unsigned exponent = magnitude >> 23;
    if (magnitude >= INFINITE_BITS) {
        half = INFINITE_HALF | (magnitude > INFINITE_BITS ? QUIET | (magnitude >> DROPPED & 0x3FF) : 0);
    } else if (exponent > BIAS_STEP) {
        /* Exponent and fraction round as one number: a carry out of the fraction is the next exponent. */
        half = round_off(magnitude - ((uint32_t)BIAS_STEP << 23), DROPPED);
        if (half > INFINITE_HALF) half = INFINITE_HALF;
    } else {
        /* A subnormal counts 2^-24; below half of one only zero is left. */
        unsigned drop = DROPPED + 1 + BIAS_STEP - exponent;
        half = drop > 24 ? 0 : round_off((magnitude & 0x7FFFFF) | 0x800000, drop);
    }
    return sign | half;
}

static bool to_f16(const float *values, size_t count, unsigned char *bytes) {
    bool fits = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t half = half_of(values[i]);
        bool is_infinite = (bits_of_float(values[i]) & 0x7FFFFFFF) == INFINITE_BITS;
        fits = fits && ((half & 0x7FFF) != INFINITE_HALF || is_infinite);
        bytes[2 * i] = (unsigned char)half;
        bytes[2 * i + 1] = (unsigned char)(half >> 8);
    }
    return fits;
}

const attn_convert_kernels ATTN_CONVERT_PLAIN = {from_f16, from_bf16, from_f64, to_f16};
