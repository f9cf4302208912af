/* Products of few rows (few.h) for AVX-512 (F), sixteen floats at a time. Compiled for every x86-64 and called where the processor
 * has it.
 *
 * A block of results, rows × columns, stays in registers while its rows of x and w are walked once, side by side. Each
 * result is a register of 16 partial sums, added up at the end in the same tree whatever the block. The blocks take as
 * many registers as there are. */
#ifdef __x86_64__
#include "few.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE static inline __attribute__((always_inline, target("avx512f")))

enum { LANES = 16, ROWS = 8, COLUMNS = 8, SUMS = 8, STRIP = 2, LINEAR_ROWS = 64 };

/* What a block of dot products works on. */
typedef struct block {
    size_t depth;
    float alpha;
    const float *const *x;
    const float *w; /* from the block's first column */
    size_t ldw;
    float *const *y;
    size_t at; /* the first column in y */
} block;

/* What a strip of a blend works on. */
typedef struct strip {
    size_t count;
    const float *const *weights;
    const float *v; /* from the strip's first column */
    size_t ldv;
    float *const *y;
    size_t at;    /* the first column in y */
    size_t width; /* of a strip that is cut short: below LANES */
} strip;

/* The first `count` <= 16 lanes. */
static inline __mmask16 first_lanes(size_t count) {
    return (__mmask16)((1u << count) - 1);
}

AVX512_INLINE __m512 load_first(const float *from, __mmask16 lanes) {
    return _mm512_maskz_loadu_ps(lanes, from);
}

AVX512_INLINE void store_first(float *to, __mmask16 lanes, __m512 value) {
    _mm512_mask_storeu_ps(to, lanes, value);
}

/* The sums of eight registers. */
AVX512_INLINE __m256 sums_of(const __m512 v[SUMS]) {
    __m256 half[SUMS];
#pragma GCC unroll 8
    for (int i = 0; i < SUMS; i++)
        half[i] = _mm256_add_ps(_mm512_castps512_ps256(v[i]),
                                _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v[i]), 1)));
    __m256 a = _mm256_hadd_ps(_mm256_hadd_ps(half[0], half[1]), _mm256_hadd_ps(half[2], half[3]));
    __m256 b = _mm256_hadd_ps(_mm256_hadd_ps(half[4], half[5]), _mm256_hadd_ps(half[6], half[7]));
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

/* One step of the depth: every row of x with every row of w. */
AVX512_INLINE void add_products(int rows, int columns, const __m512 *w, const __m512 *x, __m512 *sums) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            sums[j * rows + i] = _mm512_fmadd_ps(w[j], x[i], sums[j * rows + i]);
}

/* Whole steps; returns how far they came. */
AVX512_INLINE size_t walk_depth(int rows, int columns, const block *b, __m512 *sums) {
    __m512 w[COLUMNS], x[ROWS];
    size_t t = 0;
    for (; t + LANES <= b->depth; t += LANES) {
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++) {
            const float *from = b->w + (size_t)j * b->ldw + t;
            w[j] = _mm512_loadu_ps(from);
            /* The next block's rows: what the processor fetches ahead by itself ends with each row. */
            _mm_prefetch((const char *)((uintptr_t)from + (size_t)columns * b->ldw * sizeof *from),
                         _MM_HINT_T0);
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            x[i] = _mm512_loadu_ps(b->x[i] + t);
            __asm__("" : "+v"(x[i])); /* into a register once, not from memory for each product */
        }
        add_products(rows, columns, w, x, sums);
    }
    return t;
}

/* `rows` and `columns` are constants wherever this is called. */
AVX512_INLINE void dots_block(int rows, int columns, const block *b) {
    __m512 sums[ROWS * COLUMNS], w[COLUMNS], x[ROWS];
#pragma GCC unroll 64
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sums[i] = _mm512_setzero_ps();
    size_t t = walk_depth(rows, columns, b, sums);
    if (t < b->depth) {
        __mmask16 rest = first_lanes(b->depth - t);
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            w[j] = load_first(b->w + (size_t)j * b->ldw + t, rest);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++)
            x[i] = load_first(b->x[i] + t, rest);
        add_products(rows, columns, w, x, sums);
    }
    float results[ROWS * COLUMNS];
#pragma GCC unroll 8
    for (int i = 0; i < rows * columns; i += SUMS)
        _mm256_storeu_ps(results + i, _mm256_mul_ps(sums_of(sums + i), _mm256_set1_ps(b->alpha)));
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            b->y[i][b->at + (size_t)j] = results[j * rows + i];
}

/* y += weights · v for a strip of `vectors` registers, the last of them cut where `is_cut`. All constants. */
AVX512_INLINE void blend_strip(int rows, int vectors, bool is_cut, const strip *s) {
    __m512 sums[ROWS * STRIP], v[STRIP];
    __mmask16 lanes = first_lanes(is_cut ? s->width : 0);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int k = 0; k < vectors; k++) {
            const float *from = s->y[i] + s->at + k * LANES;
            sums[i * vectors + k] = is_cut ? load_first(from, lanes) : _mm512_loadu_ps(from);
        }
    for (size_t j = 0; j < s->count; j++) {
#pragma GCC unroll 2
        for (int k = 0; k < vectors; k++) {
            const float *from = s->v + j * s->ldv + k * LANES;
            v[k] = is_cut ? load_first(from, lanes) : _mm512_loadu_ps(from);
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
            for (int k = 0; k < vectors; k++)
                sums[i * vectors + k] =
                    _mm512_fmadd_ps(_mm512_set1_ps(s->weights[i][j]), v[k], sums[i * vectors + k]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int k = 0; k < vectors; k++) {
            float *to = s->y[i] + s->at + k * LANES;
            if (is_cut)
                store_first(to, lanes, sums[i * vectors + k]);
            else
                _mm512_storeu_ps(to, sums[i * vectors + k]);
        }
}

#define SHAPE(rows, columns)                                                                                 \
    AVX512 static void dots_##rows(const block *b) {                                                         \
        dots_block(rows, columns, b);                                                                        \
    }                                                                                                        \
    AVX512 static void dots_##rows##_single(const block *b) {                                                \
        dots_block(rows, 1, b);                                                                              \
    }                                                                                                        \
    AVX512 static void blend_##rows(const strip *s) {                                                        \
        blend_strip(rows, STRIP, false, s);                                                                  \
    }                                                                                                        \
    AVX512 static void blend_##rows##_cut(const strip *s) {                                                  \
        blend_strip(rows, 1, true, s);                                                                       \
    }
SHAPE(1, 8)
SHAPE(2, 8)
SHAPE(3, 8)
SHAPE(4, 6)
SHAPE(5, 4)
SHAPE(6, 4)
SHAPE(7, 3)
SHAPE(8, 3)

typedef void block_fn(const block *b);
typedef void strip_fn(const strip *s);

/* By the number of rows: columns of a block, and the functions of a block, one column, a strip, a cut strip. */
static const struct shape {
    size_t columns;
    block_fn *dots, *dots_single;
    strip_fn *blend, *blend_cut;
} SHAPES[] = {
    {8, dots_1, dots_1_single, blend_1, blend_1_cut}, {8, dots_2, dots_2_single, blend_2, blend_2_cut},
    {8, dots_3, dots_3_single, blend_3, blend_3_cut}, {6, dots_4, dots_4_single, blend_4, blend_4_cut},
    {4, dots_5, dots_5_single, blend_5, blend_5_cut}, {4, dots_6, dots_6_single, blend_6, blend_6_cut},
    {3, dots_7, dots_7_single, blend_7, blend_7_cut}, {3, dots_8, dots_8_single, blend_8, blend_8_cut},
};

static size_t min_of(size_t a, size_t b) {
    return a < b ? a : b;
}

static void dots(size_t rows, size_t columns, size_t depth, float alpha, const float *const *x,
                 const float *w, size_t ldw, float *const *y) {
    for (size_t i = 0; i < rows; i += ROWS) {
        const struct shape *shape = &SHAPES[min_of(rows - i, ROWS) - 1];
        block b = {.depth = depth, .alpha = alpha, .x = x + i, .ldw = ldw, .y = y + i};
        while (b.at < columns) {
            bool fits = b.at + shape->columns <= columns;
            b.w = w + b.at * ldw;
            (fits ? shape->dots : shape->dots_single)(&b);
            b.at += fits ? shape->columns : 1;
        }
    }
}

static void blend(size_t rows, size_t count, size_t width, const float *const *weights, const float *v,
                  size_t ldv, float *const *y) {
    for (size_t i = 0; i < rows; i += ROWS) {
        const struct shape *shape = &SHAPES[min_of(rows - i, ROWS) - 1];
        strip s = {.count = count, .weights = weights + i, .ldv = ldv, .y = y + i};
        while (s.at < width) {
            bool fits = s.at + STRIP * LANES <= width;
            s.v = v + s.at;
            s.width = min_of(width - s.at, LANES);
            (fits ? shape->blend : shape->blend_cut)(&s);
            s.at += fits ? STRIP * LANES : s.width;
        }
    }
}

const attn_few_kernels ATTN_FEW_AVX512 = {LINEAR_ROWS, dots, blend};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx512;
#endif
