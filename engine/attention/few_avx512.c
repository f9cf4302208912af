/* Products of few rows (few.h) for AVX-512 (F), sixteen floats at a time. Compiled for every x86-64 and called where the
 * processor has it.
 *
 * A block of results, rows × columns, stays in registers while its rows of x and w are walked once, side by side. Each
 * result is a register of 16 partial sums, added up at the end in the same tree whatever the block. The blocks take as
 * many registers as there are. */
#ifdef __x86_64__
#include "few_strips.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE static inline __attribute__((always_inline, target("avx512f")))

enum {
    LANES = 16,
    ROWS = 8, /* of a block of dot products, at most */
    COLUMNS = 8,
    AHEAD = 32, /* rows of w or v that are fetched ahead */
    SUMS = 8,
    STRIP_ROWS = 6, /* of a whole strip of a blend, at most */
    STRIP = 4,      /* its registers */
    HALF_ROWS = 8,  /* of a strip of half the width: seven or eight rows in one walk over v rather than two */
    LINEAR_ROWS = 15, /* a register of panel.h's lanes is full with one more, and company fills it */
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

/* The same place some rows on, which need not exist: what the processor fetches by itself ends with each row. Into the second
 * cache, since the first can have only a few lines on their way at a time. How many rows: measured. */
AVX512_INLINE void fetch_ahead(const float *from, size_t stride) {
    _mm_prefetch((const char *)((uintptr_t)from + AHEAD * stride * sizeof *from), _MM_HINT_T1);
}

/* The sums of eight registers. Each step adds halves of what is left of a register and puts two registers into one: sixteen
 * numbers of each, then 8, 4, 2 and 1. All eight go through the same tree. */
AVX512_INLINE __m256 sums_of(const __m512 v[SUMS]) {
    __m512 halves[SUMS / 2], pairs[SUMS / 4];
#pragma GCC unroll 4
    for (int i = 0; i < SUMS / 2; i++)
        halves[i] = _mm512_add_ps(_mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0x44),
                                  _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0xee));
#pragma GCC unroll 2
    for (int i = 0; i < SUMS / 4; i++)
        pairs[i] = _mm512_add_ps(_mm512_shuffle_ps(halves[2 * i], halves[2 * i + 1], 0x88),
                                 _mm512_shuffle_ps(halves[2 * i], halves[2 * i + 1], 0xdd));
    /* By quarters: sums 0, 2, 4, 6 in two parts, then 1, 3, 5, 7. */
    __m512 parts = _mm512_add_ps(_mm512_shuffle_ps(pairs[0], pairs[1], 0x88),
                                 _mm512_shuffle_ps(pairs[0], pairs[1], 0xdd));
    __m512 sums = _mm512_add_ps(parts, _mm512_shuffle_f32x4(parts, parts, 0xb1));
    const __m512i order = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 0, 0, 0, 0, 0, 0, 0, 0);
    return _mm512_castps512_ps256(_mm512_permutexvar_ps(order, sums));
}

/* One step of the depth: a row of x with every row of w. */
AVX512_INLINE void add_products(int rows, int columns, int row, const __m512 *w, __m512 x, __m512 *sums) {
    /* Into a register once, not from memory for each product, and none before its turn. */
    __asm__("" : "+v"(x));
#pragma GCC unroll 8
    for (int j = 0; j < columns; j++)
        sums[j * rows + row] = _mm512_fmadd_ps(w[j], x, sums[j * rows + row]);
}

/* Whole steps; returns how far they came. */
AVX512_INLINE size_t walk_depth(int rows, int columns, const block *b, __m512 *sums) {
    __m512 w[COLUMNS];
    size_t t = 0;
    for (; t + LANES <= b->depth; t += LANES) {
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++) {
            const float *from = b->w + (size_t)j * b->ldw + t;
            w[j] = _mm512_loadu_ps(from);
            fetch_ahead(from, b->ldw);
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++)
            add_products(rows, columns, i, w, _mm512_loadu_ps(b->x[i] + t), sums);
    }
    return t;
}

/* `rows` and `columns` are constants wherever this is called. */
AVX512_INLINE void dots_block(int rows, int columns, const block *b) {
    __m512 sums[ROWS * COLUMNS], w[COLUMNS];
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
            add_products(rows, columns, i, w, load_first(b->x[i] + t, rest), sums);
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

/* sums[i · vectors + k] += weights · v, of a strip of `vectors` registers or one that is cut. All but the last two are
 * constants. */
AVX512_INLINE void walk_values(int rows, int vectors, bool is_cut, bool is_far, const attn_strip *s,
                               __m512 *sums) {
    __m512 v[STRIP];
    __mmask16 lanes = first_lanes(is_cut ? s->width : 0);
#pragma GCC unroll 2
    for (size_t j = 0; j < s->count; j++) {
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++) {
            const float *from = s->v + j * s->v_stride + k * LANES;
            v[k] = is_cut ? load_first(from, lanes) : _mm512_loadu_ps(from);
            if (is_far) fetch_ahead(from, s->v_stride);
            __asm__("" : "+v"(v[k])); /* into a register once, not from memory for each row */
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            __m512 weight = _mm512_set1_ps(s->weights[(size_t)i * s->weights_stride + j]);
#pragma GCC unroll 4
            for (int k = 0; k < vectors; k++)
                sums[i * vectors + k] = _mm512_fmadd_ps(weight, v[k], sums[i * vectors + k]);
        }
    }
}

/* y (+)= weights · v for a strip of `vectors` registers, or one that is cut. All three are constants. */
AVX512_INLINE void blend_strip(int rows, int vectors, bool is_cut, const attn_strip *s) {
    _Static_assert(HALF_ROWS * (STRIP / 2) <= STRIP_ROWS * STRIP, "either kind of strip");
    __m512 sums[STRIP_ROWS * STRIP];
    __mmask16 lanes = first_lanes(is_cut ? s->width : 0);
#pragma GCC unroll 24
    for (int i = 0; i < rows * vectors; i++)
        sums[i] = _mm512_setzero_ps();
    if (s->is_far)
        walk_values(rows, vectors, is_cut, true, s, sums);
    else
        walk_values(rows, vectors, is_cut, false, s, sums);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++) {
            float *to = s->y + (size_t)i * s->y_stride + k * LANES;
            /* Added at the end: short sums round less than one over all parts. */
            __m512 before = !s->adds ? _mm512_setzero_ps()
                            : is_cut ? load_first(to, lanes)
                                     : _mm512_loadu_ps(to);
            __m512 sum = _mm512_add_ps(before, sums[i * vectors + k]);
            if (is_cut)
                store_first(to, lanes, sum);
            else
                _mm512_storeu_ps(to, sum);
        }
}

#define DOTS(rows, columns)                                                                                  \
    AVX512 static void dots_##rows(const block *b) {                                                         \
        dots_block(rows, columns, b);                                                                        \
    }                                                                                                        \
    AVX512 static void dots_##rows##_single(const block *b) {                                                \
        dots_block(rows, 1, b);                                                                              \
    }
DOTS(1, 8)
DOTS(2, 8)
DOTS(3, 7)
DOTS(4, 6)
DOTS(5, 4)
DOTS(6, 4)
DOTS(7, 3)
DOTS(8, 3)

/* By the number of rows: the columns of a block, the function of one and that of a single column. */
static const struct dots_shape {
    size_t columns;
    void (*block)(const block *b);
    void (*single)(const block *b);
} DOTS_SHAPES[] = {
    {8, dots_1, dots_1_single}, {8, dots_2, dots_2_single}, {7, dots_3, dots_3_single},
    {6, dots_4, dots_4_single}, {4, dots_5, dots_5_single}, {4, dots_6, dots_6_single},
    {3, dots_7, dots_7_single}, {3, dots_8, dots_8_single},
};

#define BLEND(rows)                                                                                          \
    AVX512 static void blend_##rows(const attn_strip *s) {                                                   \
        blend_strip(rows, STRIP, false, s);                                                                  \
    }                                                                                                        \
    BLEND_HALF(rows)
#define BLEND_HALF(rows)                                                                                     \
    AVX512 static void blend_##rows##_half(const attn_strip *s) {                                            \
        blend_strip(rows, STRIP / 2, false, s);                                                              \
    }                                                                                                        \
    AVX512 static void blend_##rows##_cut(const attn_strip *s) {                                             \
        blend_strip(rows, 1, true, s);                                                                       \
    }
BLEND(1)
BLEND(2)
BLEND(3)
BLEND(4)
BLEND(5)
BLEND(6)
BLEND_HALF(7)
BLEND_HALF(8)

/* By the number of rows: a whole strip, which more than STRIP_ROWS never get, half a one, one that is cut. */
static const struct blend_shape {
    void (*whole)(const attn_strip *s);
    void (*half)(const attn_strip *s);
    void (*cut)(const attn_strip *s);
} BLEND_SHAPES[] = {
    {blend_1, blend_1_half, blend_1_cut}, {blend_2, blend_2_half, blend_2_cut},
    {blend_3, blend_3_half, blend_3_cut}, {blend_4, blend_4_half, blend_4_cut},
    {blend_5, blend_5_half, blend_5_cut}, {blend_6, blend_6_half, blend_6_cut},
    {NULL, blend_7_half, blend_7_cut},    {NULL, blend_8_half, blend_8_cut},
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

/* The width of the next strip of so many rows where so much is left. */
static size_t strip_width(size_t left, size_t rows) {
    if (left >= STRIP * LANES && rows <= STRIP_ROWS) return STRIP * LANES;
    if (left >= STRIP / 2 * LANES) return STRIP / 2 * LANES;
    return min_of(left, LANES);
}

static void run_strip(size_t rows, const attn_strip *s) {
    const struct blend_shape *shape = &BLEND_SHAPES[rows - 1];
    if (s->width == STRIP * LANES)
        shape->whole(s);
    else if (s->width == STRIP / 2 * LANES)
        shape->half(s);
    else
        shape->cut(s);
}

static void blend(size_t rows, const attn_blend *b, bool adds) {
    const attn_strips strips = {rows <= HALF_ROWS ? HALF_ROWS : STRIP_ROWS, strip_width, run_strip};
    attn_blend_by_strips(&strips, rows, b, adds);
}

const attn_few_kernels ATTN_FEW_AVX512 = {LINEAR_ROWS, SIZE_MAX, dots, blend};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx512;
#endif
