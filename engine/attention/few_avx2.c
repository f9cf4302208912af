/* Products of few rows (few.h) for AVX2 and FMA, eight floats at a time. Compiled for every x86-64 and called where the
 * processor has both.
 *
 * A block of results, rows × columns, stays in registers while its rows of x and w are walked once, side by side. Each
 * result is a register of 8 partial sums, added up at the end in the same tree whatever the block. The blocks take as
 * many registers as there are. */
#ifdef __x86_64__
#include "few_strips.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,fma")))

enum {
    LANES = 8,
    ROWS = 4, /* of a block of dot products, at most */
    COLUMNS = 8,
    AHEAD = 32, /* rows of w or v that are fetched ahead */
    SUMS = 8,
    STRIP_ROWS = 6, /* of a strip of a blend, at most */
    STRIP = 2,      /* its registers */
    LINEAR_ROWS = 16,
    BLEND_ROWS = 8,
};

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

/* The first `count` lanes. */
AVX2_INLINE __m256i first_lanes(size_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

AVX2_INLINE __m256 load_first(const float *from, __m256i lanes) {
    return _mm256_maskload_ps(from, lanes);
}

AVX2_INLINE void store_first(float *to, __m256i lanes, __m256 value) {
    _mm256_maskstore_ps(to, lanes, value);
}

/* The same place some rows on, which need not exist: what the processor fetches by itself ends with each row. Into the second
 * cache, since the first can have only a few lines on their way at a time. How many rows: measured. */
AVX2_INLINE void fetch_ahead(const float *from, size_t stride) {
    _mm_prefetch((const char *)((uintptr_t)from + AHEAD * stride * sizeof *from), _MM_HINT_T1);
}

/* The sums of eight registers. */
AVX2_INLINE __m256 sums_of(const __m256 v[SUMS]) {
    __m256 a = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    __m256 b = _mm256_hadd_ps(_mm256_hadd_ps(v[4], v[5]), _mm256_hadd_ps(v[6], v[7]));
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

/* One step of the depth: every row of x with every row of w. */
AVX2_INLINE void add_products(int rows, int columns, const __m256 *w, const __m256 *x, __m256 *sums) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            sums[j * rows + i] = _mm256_fmadd_ps(w[j], x[i], sums[j * rows + i]);
}

/* Whole steps; returns how far they came. */
AVX2_INLINE size_t walk_depth(int rows, int columns, const block *b, __m256 *sums) {
    __m256 w[COLUMNS], x[ROWS];
    size_t t = 0;
    for (; t + LANES <= b->depth; t += LANES) {
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++) {
            const float *from = b->w + (size_t)j * b->ldw + t;
            w[j] = _mm256_loadu_ps(from);
            fetch_ahead(from, b->ldw);
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            x[i] = _mm256_loadu_ps(b->x[i] + t);
            __asm__("" : "+x"(x[i])); /* into a register once, not from memory for each product */
        }
        add_products(rows, columns, w, x, sums);
    }
    return t;
}

/* `rows` and `columns` are constants wherever this is called. */
AVX2_INLINE void dots_block(int rows, int columns, const block *b) {
    __m256 sums[ROWS * COLUMNS], w[COLUMNS], x[ROWS];
#pragma GCC unroll 32
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sums[i] = _mm256_setzero_ps();
    size_t t = walk_depth(rows, columns, b, sums);
    if (t < b->depth) {
        __m256i rest = first_lanes(b->depth - t);
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

/* y (+)= weights · v for a strip of `vectors` registers, or one that is cut. All three are constants. Whoever blends no more
 * than BLEND_ROWS rows does not copy v before: it is always fetched ahead. */
AVX2_INLINE void blend_strip(int rows, int vectors, bool is_cut, const attn_strip *s) {
    __m256 sums[STRIP_ROWS * STRIP], v[STRIP];
    __m256i lanes = first_lanes(is_cut ? s->width : 0);
#pragma GCC unroll 24
    for (int i = 0; i < rows * vectors; i++)
        sums[i] = _mm256_setzero_ps();
#pragma GCC unroll 2
    for (size_t j = 0; j < s->count; j++) {
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++) {
            const float *from = s->v + j * s->v_stride + k * LANES;
            v[k] = is_cut ? load_first(from, lanes) : _mm256_loadu_ps(from);
            fetch_ahead(from, s->v_stride);
        }
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            __m256 weight = _mm256_set1_ps(s->weights[(size_t)i * s->weights_stride + j]);
#pragma GCC unroll 4
            for (int k = 0; k < vectors; k++)
                sums[i * vectors + k] = _mm256_fmadd_ps(weight, v[k], sums[i * vectors + k]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++) {
            float *to = s->y + (size_t)i * s->y_stride + k * LANES;
            /* Added at the end: short sums round less than one over all parts. */
            __m256 before = !s->adds ? _mm256_setzero_ps()
                            : is_cut ? load_first(to, lanes)
                                     : _mm256_loadu_ps(to);
            __m256 sum = _mm256_add_ps(before, sums[i * vectors + k]);
            if (is_cut)
                store_first(to, lanes, sum);
            else
                _mm256_storeu_ps(to, sum);
        }
}

#define DOTS(rows, columns)                                                                                  \
    AVX2 static void dots_##rows(const block *b) {                                                           \
        dots_block(rows, columns, b);                                                                        \
    }                                                                                                        \
    AVX2 static void dots_##rows##_single(const block *b) {                                                  \
        dots_block(rows, 1, b);                                                                              \
    }
DOTS(1, 8)
DOTS(2, 4)
DOTS(3, 4)
DOTS(4, 3)

/* By the number of rows: the columns of a block, the function of one and that of a single column. */
static const struct dots_shape {
    size_t columns;
    void (*block)(const block *b);
    void (*single)(const block *b);
} DOTS_SHAPES[] = {
    {8, dots_1, dots_1_single},
    {4, dots_2, dots_2_single},
    {4, dots_3, dots_3_single},
    {3, dots_4, dots_4_single},
};

#define BLEND(rows)                                                                                          \
    AVX2 static void blend_##rows(const attn_strip *s) {                                                     \
        blend_strip(rows, STRIP, false, s);                                                                  \
    }                                                                                                        \
    AVX2 static void blend_##rows##_cut(const attn_strip *s) {                                               \
        blend_strip(rows, 1, true, s);                                                                       \
    }
BLEND(1)
BLEND(2)
BLEND(3)
BLEND(4)
BLEND(5)
BLEND(6)

/* By the number of rows: a whole strip, one that is cut. */
static const struct blend_shape {
    void (*whole)(const attn_strip *s);
    void (*cut)(const attn_strip *s);
} BLEND_SHAPES[] = {
    {blend_1, blend_1_cut}, {blend_2, blend_2_cut}, {blend_3, blend_3_cut},
    {blend_4, blend_4_cut}, {blend_5, blend_5_cut}, {blend_6, blend_6_cut},
};

static size_t min_of(size_t a, size_t b) {
    return a < b ? a : b;
}

static void dots(size_t rows, size_t columns, size_t depth, float alpha, const float *const *x,
                 const float *w, size_t ldw, float *const *y) {
    for (size_t i = 0; i < rows; i += ROWS) {
        const struct dots_shape *shape = &DOTS_SHAPES[min_of(rows - i, ROWS) - 1];
        block b = {.depth = depth, .alpha = alpha, .x = x + i, .ldw = ldw, .y = y + i};
        while (b.at < columns) {
            bool fits = b.at + shape->columns <= columns;
            b.w = w + b.at * ldw;
            (fits ? shape->block : shape->single)(&b);
            b.at += fits ? shape->columns : 1;
        }
    }
}

/* The width of the next strip where so much is left, of any rows. */
static size_t strip_width(size_t left, size_t rows) {
    (void)rows;
    if (left >= STRIP * LANES) return STRIP * LANES;
    return min_of(left, LANES);
}

static void run_strip(size_t rows, const attn_strip *s) {
    const struct blend_shape *shape = &BLEND_SHAPES[rows - 1];
    if (s->width == STRIP * LANES)
        shape->whole(s);
    else
        shape->cut(s);
}

static void blend(size_t rows, const attn_blend *b, bool adds) {
    static const attn_strips strips = {STRIP_ROWS, strip_width, run_strip};
    attn_blend_by_strips(&strips, rows, b, adds);
}

const attn_few_kernels ATTN_FEW_AVX2 = {LINEAR_ROWS, BLEND_ROWS, dots, blend};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx2;
#endif
