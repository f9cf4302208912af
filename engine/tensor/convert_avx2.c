/* Conversions (convert.h) for AVX2 and F16C, eight at a time; plain C does what is left. Compiled for every x86-64 and
 * called where the processor has both. */
#ifdef __x86_64__
#include "convert.h"

#include <immintrin.h>
#include <stdint.h>

#define AVX2 __attribute__((target("avx2,f16c")))

enum { LANES = 8 };

AVX2 static inline __m128i load_halves(const unsigned char *bytes) {
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

AVX2 static void from_f16(const unsigned char *bytes, size_t count, float *out) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(load_halves(bytes + 2 * i)));
    ATTN_CONVERT_PLAIN.from_f16(bytes + 2 * i, count - i, out + i);
}

AVX2 static void from_bf16(const unsigned char *bytes, size_t count, float *out) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m256i upper = _mm256_slli_epi32(_mm256_cvtepu16_epi32(load_halves(bytes + 2 * i)), 16);
        _mm256_storeu_ps(out + i, _mm256_castsi256_ps(upper));
    }
    ATTN_CONVERT_PLAIN.from_bf16(bytes + 2 * i, count - i, out + i);
}

AVX2 static inline __m128 load_doubles(const unsigned char *bytes) {
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(_mm256_loadu_si256((const __m256i *)(const void *)bytes)));
}

AVX2 static void from_f64(const unsigned char *bytes, size_t count, float *out) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        _mm_storeu_ps(out + i, load_doubles(bytes + 8 * i));
        _mm_storeu_ps(out + i + LANES / 2, load_doubles(bytes + 8 * i + 32));
    }
    ATTN_CONVERT_PLAIN.from_f64(bytes + 8 * i, count - i, out + i);
}

/* All ones in the lanes of finite values that become infinite: at and above half-way from 65504 to 65536. */
AVX2 static inline __m256i too_large(__m256 values) {
    __m256i magnitudes = _mm256_and_si256(_mm256_castps_si256(values), _mm256_set1_epi32(0x7FFFFFFF));
    __m256i reaches = _mm256_cmpgt_epi32(magnitudes, _mm256_set1_epi32(0x477FEFFF));
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(magnitudes, _mm256_set1_epi32(0x7F7FFFFF)), reaches);
}

AVX2 static bool to_f16(const float *values, size_t count, unsigned char *bytes) {
    __m256i large = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m256 eight = _mm256_loadu_ps(values + i);
        __m128i halves = _mm256_cvtps_ph(eight, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128((__m128i *)(void *)(bytes + 2 * i), halves);
        large = _mm256_or_si256(large, too_large(eight));
    }
    return ATTN_CONVERT_PLAIN.to_f16(values + i, count - i, bytes + 2 * i) &&
           _mm256_testz_si256(large, large) != 0;
}

const attn_convert_kernels ATTN_CONVERT_AVX2 = {from_f16, from_bf16, from_f64, to_f16};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx2;
#endif
