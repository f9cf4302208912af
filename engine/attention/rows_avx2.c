/* Row kernels (rows.h) for AVX2 and FMA, eight floats at a time. Compiled for every x86-64 and called where the
 * processor has both. */
#ifdef __x86_64__
#include "rows.h"

#include <immintrin.h>
#include <math.h>
#include <stdint.h>

#define AVX2 __attribute__((target("avx2,fma")))

enum { LANES = 8 };

/* The first `count` lanes, for what is left of a row. */
AVX2 static inline __m256i first_lanes(size_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The larger of each lane; `b` where `a` is NaN. */
AVX2 static inline __m256 larger(__m256 a, __m256 b) {
    return _mm256_max_ps(a, b);
}

AVX2 static float row_max(const float *row, size_t count) {
    __m256 a = _mm256_set1_ps(-INFINITY), b = a;
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        a = larger(_mm256_loadu_ps(row + i), a);
        b = larger(_mm256_loadu_ps(row + i + LANES), b);
    }
    a = larger(a, b);
    for (; i + LANES <= count; i += LANES)
        a = larger(_mm256_loadu_ps(row + i), a);
    float lanes[LANES], max = -INFINITY;
    _mm256_storeu_ps(lanes, a);
    for (size_t lane = 0; lane < LANES; lane++)
        max = lanes[lane] > max ? lanes[lane] : max;
    for (; i < count; i++)
        max = row[i] > max ? row[i] : max;
    return max;
}

/* exp(x) for x <= 0, as in rows_plain.c. */
AVX2 static inline __m256 exp_of(__m256 x) {
    /* exp(-110) rounds to 0. NaN stays: the second of two is taken where they cannot be compared. */
    __m256 clamped = _mm256_max_ps(_mm256_set1_ps(-110.0f), x);
    __m256 n = _mm256_round_ps(_mm256_mul_ps(clamped, _mm256_set1_ps(0x1.715476p+0f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.62e4p-1f), clamped);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.7f7d1cp-20f), r);
    __m256 p = _mm256_set1_ps(1.0f / 5040.0f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i exponent = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(exponent, 1);
    __m256i bias = _mm256_set1_epi32(127);
    __m256i low = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
    __m256i high = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(exponent, half), bias), 23);
    return _mm256_mul_ps(_mm256_mul_ps(p, _mm256_castsi256_ps(low)), _mm256_castsi256_ps(high));
}

AVX2 static double row_exp(float *row, size_t count, float shift) {
    __m256 sums = _mm256_setzero_ps(), shifts = _mm256_set1_ps(shift);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m256 results = exp_of(_mm256_sub_ps(_mm256_loadu_ps(row + i), shifts));
        _mm256_storeu_ps(row + i, results);
        sums = _mm256_add_ps(sums, results);
    }
    if (i < count) {
        __m256i rest = first_lanes(count - i);
        __m256 results = exp_of(_mm256_sub_ps(_mm256_maskload_ps(row + i, rest), shifts));
        _mm256_maskstore_ps(row + i, rest, results);
        sums = _mm256_add_ps(sums, _mm256_and_ps(results, _mm256_castsi256_ps(rest)));
    }
    float lanes[LANES];
    _mm256_storeu_ps(lanes, sums);
    double sum = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        sum += (double)lanes[lane];
    return sum;
}

AVX2 static void row_scale(float *row, size_t count, float factor) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm256_storeu_ps(row + i, _mm256_mul_ps(_mm256_loadu_ps(row + i), _mm256_set1_ps(factor)));
    for (; i < count; i++)
        row[i] *= factor;
}

const attn_row_kernels ATTN_ROWS_AVX2 = {row_max, row_exp, row_scale};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx2;
#endif
