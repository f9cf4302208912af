/* Row kernels (rows.h) in plain C that compilers turn into vector code: no branch and no call inside the loops. The
 * order of every sum is fixed by LANES, not by the vector width, so each build gives the same bits. */
#include "rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16 };

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* exp(x) for x <= 0. x = n·ln 2 + r with |r| <= ln 2 / 2 (Cody & Waite 1980: ln 2 in two parts, so that
 * n·LN2_HIGH is exact), exp(r) by its Taylor polynomial of degree 7 (remainder below 6e-9), times 2^n in two
 * factors so that subnormal results come out rather than zero. */
static inline float exp_of(float x) {
    const float LOG2_E = 0x1.715476p+0f, LN2_HIGH = 0x1.62e4p-1f, LN2_LOW = 0x1.7f7d1cp-20f;
    const float ROUND = 0x1.8p+23f; /* adding it rounds to an integer, left in the low mantissa bits */
    float clamped = x < -110.0f ? -110.0f : x; /* exp(-110) is below half the least subnormal */
    float shifted = clamped * LOG2_E + ROUND;
    float n = shifted - ROUND;
    float r = (clamped - n * LN2_HIGH) - n * LN2_LOW;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r;
    int32_t exponent = (int32_t)(bits_of(shifted) - bits_of(ROUND));
    int32_t half = exponent >> 1; /* -80 <= half <= 0: both factors are normal floats */
    float low = float_of((uint32_t)(half + 127) << 23),
          high = float_of((uint32_t)(exponent - half + 127) << 23);
    float result = (p + 1.0f) * low * high;
    return x < -110.0f ? 0.0f : result; /* and NaN stays NaN */
}

static float row_max(const float *row, size_t count) {
    float lanes[LANES];
    for (size_t lane = 0; lane < LANES; lane++)
        lanes[lane] = -INFINITY;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] = row[i + lane] > lanes[lane] ? row[i + lane] : lanes[lane];
    for (size_t lane = 0; i < count; i++, lane++)
        lanes[lane] = row[i] > lanes[lane] ? row[i] : lanes[lane];
    float max = lanes[0];
    for (size_t lane = 1; lane < LANES; lane++)
        max = lanes[lane] > max ? lanes[lane] : max;
    return max;
}

static double row_exp(float *row, size_t count, float shift) {
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += row[i + lane] = exp_of(row[i + lane] - shift);
    for (size_t lane = 0; i < count; i++, lane++)
        lanes[lane] += row[i] = exp_of(row[i] - shift);
    double sum = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        sum += (double)lanes[lane];
    return sum;
}

static void row_scale(float *row, size_t count, float factor) {
    for (size_t i = 0; i < count; i++)
        row[i] *= factor;
}

const attn_row_kernels ATTN_ROWS_PLAIN = {row_max, row_exp, row_scale};
