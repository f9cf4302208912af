/* Row kernels (rows.h) for AVX-512 (F), sixteen floats at a time, the last ones under a mask. Compiled for every
 * x86-64 and called where the processor has it. */
#ifdef __x86_64__
#include "rows.h"

#include <immintrin.h>
#include <math.h>

#define AVX512 __attribute__((target("avx512f")))

enum { LANES = 16 };

/* The lanes that are left of a row: `count` < 16 of them. */
static inline __mmask16 first_lanes(size_t count) {
    return (__mmask16)((1u << count) - 1);
}

/* The larger of each lane; `b` where `a` is NaN. */
AVX512 static inline __m512 larger(__m512 a, __m512 b) {
    return _mm512_max_ps(a, b);
}

AVX512 static float row_max(const float *row, size_t count) {
    __m512 a = _mm512_set1_ps(-INFINITY), b = a;
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        a = larger(_mm512_loadu_ps(row + i), a);
        b = larger(_mm512_loadu_ps(row + i + LANES), b);
    }
    a = larger(a, b);
    if (i + LANES <= count) {
        a = larger(_mm512_loadu_ps(row + i), a);
        i += LANES;
    }
    a = larger(_mm512_mask_loadu_ps(_mm512_set1_ps(-INFINITY), first_lanes(count - i), row + i), a);
    return _mm512_reduce_max_ps(a); /* none is NaN: the first of two was never taken for it */
}

/* exp(x) for x <= 0, as in rows_plain.c; the processor's own scaling rounds once into the subnormals. */
AVX512 static inline __m512 exp_of(__m512 x) {
    /* exp(-110) rounds to 0. NaN stays: the second of two is taken where they cannot be compared. */
    __m512 clamped = _mm512_max_ps(_mm512_set1_ps(-110.0f), x);
    /* To the nearest whole number: beside 1.5·2²³ nothing else has a place. */
    const __m512 whole = _mm512_set1_ps(0x1.8p23f);
    __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(clamped, _mm512_set1_ps(0x1.715476p+0f), whole), whole);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0x1.62e4p-1f), clamped);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0x1.7f7d1cp-20f), r);
    __m512 p = _mm512_set1_ps(1.0f / 5040.0f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 720.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, n);
}

AVX512 static double row_exp(float *row, size_t count, float shift) {
    __m512 sums = _mm512_setzero_ps(), shifts = _mm512_set1_ps(shift);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m512 results = exp_of(_mm512_sub_ps(_mm512_loadu_ps(row + i), shifts));
        _mm512_storeu_ps(row + i, results);
        sums = _mm512_add_ps(sums, results);
    }
    if (i < count) {
        __mmask16 rest = first_lanes(count - i);
        __m512 results = exp_of(_mm512_sub_ps(_mm512_maskz_loadu_ps(rest, row + i), shifts));
        _mm512_mask_storeu_ps(row + i, rest, results);
        sums = _mm512_mask_add_ps(sums, rest, sums, results);
    }
    __m512d lower = _mm512_cvtps_pd(_mm512_castps512_ps256(sums));
    __m512d upper = _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(sums), 1)));
    return _mm512_reduce_add_pd(_mm512_add_pd(lower, upper));
}

AVX512 static void row_scale(float *row, size_t count, float factor) {
    __m512 factors = _mm512_set1_ps(factor);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm512_storeu_ps(row + i, _mm512_mul_ps(_mm512_loadu_ps(row + i), factors));
    __mmask16 rest = first_lanes(count - i);
    _mm512_mask_storeu_ps(row + i, rest, _mm512_mul_ps(_mm512_maskz_loadu_ps(rest, row + i), factors));
}

const attn_row_kernels ATTN_ROWS_AVX512 = {row_max, row_exp, row_scale};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx512;
#endif
