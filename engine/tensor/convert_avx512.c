/* Conversions (convert.h) for AVX-512 (F, BW and VL), sixteen at a time, the last ones under a mask. Compiled for every
 * x86-64 and called where the processor has it. */
#ifdef __x86_64__
#include "convert.h"

#include <immintrin.h>
#include <stdint.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

enum { LANES = 16 };

/* The lanes that are left: `count` < 16 of them. */
static inline __mmask16 first_lanes(size_t count) {
    return (__mmask16)((1u << count) - 1);
}

AVX512 static inline __m256i load_halves(const unsigned char *bytes) {
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

AVX512 static void from_f16(const unsigned char *bytes, size_t count, float *out) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm512_storeu_ps(out + i, _mm512_cvtph_ps(load_halves(bytes + 2 * i)));
    __mmask16 rest = first_lanes(count - i);
    _mm512_mask_storeu_ps(out + i, rest, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(rest, bytes + 2 * i)));
}

AVX512 static inline __m512 upper_halves(__m256i halves) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

AVX512 static void from_bf16(const unsigned char *bytes, size_t count, float *out) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm512_storeu_ps(out + i, upper_halves(load_halves(bytes + 2 * i)));
    __mmask16 rest = first_lanes(count - i);
    _mm512_mask_storeu_ps(out + i, rest, upper_halves(_mm256_maskz_loadu_epi16(rest, bytes + 2 * i)));
}

AVX512 static void from_f64(const unsigned char *bytes, size_t count, float *out) {
    size_t i = 0;
    for (; i + LANES / 2 <= count; i += LANES / 2)
        _mm256_storeu_ps(out + i, _mm512_cvtpd_ps(_mm512_loadu_pd(bytes + 8 * i)));
    __mmask8 rest = (__mmask8)first_lanes(count - i);
    _mm256_mask_storeu_ps(out + i, rest, _mm512_cvtpd_ps(_mm512_maskz_loadu_pd(rest, bytes + 8 * i)));
}

/* The lanes of finite values that become infinite: at and above half-way from 65504 to 65536. */
AVX512 static inline __mmask16 too_large(__m512 values) {
    __m512i magnitudes = _mm512_and_si512(_mm512_castps_si512(values), _mm512_set1_epi32(0x7FFFFFFF));
    __mmask16 reaches = _mm512_cmpgt_epi32_mask(magnitudes, _mm512_set1_epi32(0x477FEFFF));
    return _mm512_mask_cmple_epi32_mask(reaches, magnitudes, _mm512_set1_epi32(0x7F7FFFFF));
}

AVX512 static inline __m256i halves_of(__m512 values) {
    return _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

AVX512 static bool to_f16(const float *values, size_t count, unsigned char *bytes) {
    __mmask16 large = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m512 sixteen = _mm512_loadu_ps(values + i);
        _mm256_storeu_si256((__m256i *)(void *)(bytes + 2 * i), halves_of(sixteen));
        large = (__mmask16)(large | too_large(sixteen));
    }
    __mmask16 rest = first_lanes(count - i);
    __m512 last = _mm512_maskz_loadu_ps(rest, values + i);
    _mm256_mask_storeu_epi16(bytes + 2 * i, rest, halves_of(last));
    return (large | too_large(last)) == 0;
}

const attn_convert_kernels ATTN_CONVERT_AVX512 = {from_f16, from_bf16, from_f64, to_f16};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx512;
#endif
