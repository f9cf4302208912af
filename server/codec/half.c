/* binary16 (half.h): 1 sign, 5 exponent (bias 15), 10 fraction bits. */
#include "half.h"

#include <math.h>
#include <string.h>

/* bits / 2^drop, rounded to nearest, ties to even. */
static uint32_t round_off(uint32_t bits, unsigned drop) {
    uint32_t kept = bits >> drop, rest = bits & ((1U << drop) - 1), tie = 1U << (drop - 1);
    return kept + (rest > tie || (rest == tie && (kept & 1) != 0));
}

bool srv_half_from_float(float value, uint16_t *out) {
    enum { BIAS_STEP = 127 - 15, DROPPED = 23 - 10, INFINITE = 0x7c00 };
    uint32_t bits, half;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    unsigned exponent = magnitude >> 23;
    if (isinf(value)) {
        half = INFINITE;
    } else if (exponent > BIAS_STEP) {
        /* Exponent and fraction round as one number: a carry out of the fraction is the next exponent. */
        half = round_off(magnitude - ((uint32_t)BIAS_STEP << 23), DROPPED);
        if (half >= INFINITE) return false;
    } else {
        /* A subnormal counts 2^-24; below half of one only zero is left. */
        unsigned drop = DROPPED + 1 + BIAS_STEP - exponent;
        half = drop > 24 ? 0 : round_off((magnitude & 0x7fffff) | 0x800000, drop);
    }
    *out = (uint16_t)(sign | half);
    return true;
}
