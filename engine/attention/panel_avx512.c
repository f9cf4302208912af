/* Packed products (panel.h) for AVX-512 (F). Compiled for every x86-64 and called where the processor has it.
 *
 * Packed rows are the lanes of vectors: 32 rows make a strip of two registers a step, the last strip of at most 16 rows
 * one. A block of results, up to 14 rows of the other matrix by one strip, stays in registers while the depth is walked
 * once: 28 sums, two registers of the strip and one number for all lanes are 31 of the 32 that there are. */
#ifdef __x86_64__
#include "panel.h"

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE static inline __attribute__((always_inline, target("avx512f")))

enum {
    LANES = 16,
    STRIP = 2 * LANES,
    BLOCK = 14, /* rows of a block, at most */
    THIRDS = (BLOCK + 2) / 3,
    PIECE = 256, /* of the depth, summed up by itself */
};

/* What one block works on. */
typedef struct block {
    size_t depth;
    const float *strip;
    size_t lanes;   /* of the strip that are in use */
    const float *a; /* from the block's first row */
    size_t lda;
    bool adds;
    /* Results by lane (attn_panel_kernels.columns) … */
    const float *start; /* from the block's first column */
    float *const *y;    /* from the strip's first row */
    size_t at;          /* the first column in y */
    bool *finite;       /* becomes false where a result is not */
    /* … or by row (attn_panel_kernels.rows). */
    float alpha;
    float *c; /* from the block's first row and the strip's first lane */
    size_t ldc;
} block;

static inline __mmask16 first_lanes(size_t count) {
    return (__mmask16)(count >= LANES ? 0xffff : (1u << count) - 1);
}

/* Sixteen registers of sixteen numbers, the rows of a matrix: its columns. */
AVX512_INLINE void transpose(__m512 m[LANES]) {
    __m512 pairs[LANES];
    __m512d fours[LANES];
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i += 2) {
        pairs[i] = _mm512_unpacklo_ps(m[i], m[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_ps(m[i], m[i + 1]);
    }
    /* Then fours[4·i + k] has in its quarter q the column 4·q + k of rows 4·i … 4·i + 3. */
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i += 4)
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++) {
            __m512d upper = _mm512_castps_pd(pairs[i + k]), lower = _mm512_castps_pd(pairs[i + k + 2]);
            fours[i + 2 * k] = _mm512_unpacklo_pd(upper, lower);
            fours[i + 2 * k + 1] = _mm512_unpackhi_pd(upper, lower);
        }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        __m512 a = _mm512_castpd_ps(fours[k]), b = _mm512_castpd_ps(fours[4 + k]);
        __m512 c = _mm512_castpd_ps(fours[8 + k]), d = _mm512_castpd_ps(fours[12 + k]);
        __m512 even_upper = _mm512_shuffle_f32x4(a, b, 0x88), odd_upper = _mm512_shuffle_f32x4(a, b, 0xdd);
        __m512 even_lower = _mm512_shuffle_f32x4(c, d, 0x88), odd_lower = _mm512_shuffle_f32x4(c, d, 0xdd);
        m[k] = _mm512_shuffle_f32x4(even_upper, even_lower, 0x88);
        m[4 + k] = _mm512_shuffle_f32x4(odd_upper, odd_lower, 0x88);
        m[8 + k] = _mm512_shuffle_f32x4(even_upper, even_lower, 0xdd);
        m[12 + k] = _mm512_shuffle_f32x4(odd_upper, odd_lower, 0xdd);
    }
}

/* sums[i · vectors + v] = Σ a[i·lda + t] · strip[t] for t from `from` up to `to`, for all lanes of the strip's register v. */
AVX512_INLINE void walk(int rows, int vectors, const block *b, size_t from, size_t to, __m512 *sums) {
    const float *strip = b->strip + from * (size_t)vectors * LANES, *a[THIRDS];
    size_t lda = b->lda;
    /* Three rows are within reach of one address: five addresses instead of fourteen. */
#pragma GCC unroll 5
    for (size_t k = 0; k < (size_t)(rows + 2) / 3; k++)
        a[k] = b->a + 3 * k * lda + from;
#pragma GCC unroll 28
    for (int i = 0; i < rows * vectors; i++)
        sums[i] = _mm512_setzero_ps();
    /* Two steps for one step of the addresses: where another thread shares the core, instructions are dear. */
#pragma GCC unroll 2
    for (size_t t = from; t < to; t++) {
        __m512 lanes[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            lanes[v] = _mm512_loadu_ps(strip + v * LANES);
        strip += vectors * LANES;
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            __m512 number = _mm512_set1_ps(a[i / 3][(size_t)(i % 3) * lda]);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                sums[i * vectors + v] = _mm512_fmadd_ps(number, lanes[v], sums[i * vectors + v]);
        }
#pragma GCC unroll 5
        for (int k = 0; k < (rows + 2) / 3; k++)
            a[k]++;
    }
}

/* The same over the whole depth, in pieces: many short sums round less than a long one. `rows` and `vectors` are
 * constants wherever this is called. */
AVX512_INLINE void multiply(int rows, int vectors, const block *b, __m512 *sums) {
    __m512 before[2 * BLOCK];
    size_t end = b->depth < PIECE ? b->depth : PIECE;
    walk(rows, vectors, b, 0, end, sums);
    for (size_t at = end; at < b->depth; at = end) {
        end = b->depth - at < PIECE ? b->depth : at + PIECE;
#pragma GCC unroll 28
        for (int i = 0; i < rows * vectors; i++)
            before[i] = sums[i];
        walk(rows, vectors, b, at, end, sums);
#pragma GCC unroll 28
        for (int i = 0; i < rows * vectors; i++)
            sums[i] = _mm512_add_ps(before[i], sums[i]);
    }
}

/* A block whose rows are columns of the results. */
AVX512_INLINE void columns_block(int rows, int vectors, const block *b) {
    __m512 sums[2 * BLOCK], results[LANES];
    multiply(rows, vectors, b, sums);
    __mmask16 columns = first_lanes((size_t)rows);
    __m512 start = b->start ? _mm512_maskz_loadu_ps(columns, b->start) : _mm512_setzero_ps();
    __m512 zeros = _mm512_setzero_ps(); /* 0 times each result: NaN once one was not finite */
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            results[i] = i < rows ? sums[i * vectors + v] : _mm512_setzero_ps();
        transpose(results);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) {
            size_t lane = (size_t)v * LANES + (size_t)i;
            if (lane >= b->lanes) break;
            float *y = b->y[lane] + b->at;
            __m512 before = b->adds ? _mm512_maskz_loadu_ps(columns, y) : start;
            __m512 result = _mm512_add_ps(before, results[i]);
            zeros = _mm512_fmadd_ps(result, _mm512_setzero_ps(), zeros);
            _mm512_mask_storeu_ps(y, columns, result);
        }
    }
    if (_mm512_cmp_ps_mask(zeros, zeros, _CMP_UNORD_Q) != 0) *b->finite = false;
}

/* A block whose rows are rows of the results. */
AVX512_INLINE void rows_block(int rows, int vectors, const block *b) {
    __m512 sums[2 * BLOCK], alpha = _mm512_set1_ps(b->alpha);
    multiply(rows, vectors, b, sums);
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            float *c = b->c + (size_t)i * b->ldc + v * LANES;
            __mmask16 lanes = first_lanes(b->lanes - (size_t)v * LANES);
            __m512 before = b->adds ? _mm512_maskz_loadu_ps(lanes, c) : _mm512_setzero_ps();
            _mm512_mask_storeu_ps(c, lanes, _mm512_fmadd_ps(alpha, sums[i * vectors + v], before));
        }
}

typedef void run_block(const block *b);

/* The functions of one number of rows: for one register a step and for two. */
#define BLOCKS(rows)                                                                                         \
    AVX512 static void columns_##rows##_1(const block *b) {                                                  \
        columns_block(rows, 1, b);                                                                           \
    }                                                                                                        \
    AVX512 static void columns_##rows##_2(const block *b) {                                                  \
        columns_block(rows, 2, b);                                                                           \
    }                                                                                                        \
    AVX512 static void rows_##rows##_1(const block *b) {                                                     \
        rows_block(rows, 1, b);                                                                              \
    }                                                                                                        \
    AVX512 static void rows_##rows##_2(const block *b) {                                                     \
        rows_block(rows, 2, b);                                                                              \
    }
BLOCKS(1)
BLOCKS(2)
BLOCKS(3)
BLOCKS(4)
BLOCKS(8)
BLOCKS(14)

static const struct block_size {
    size_t rows;
    run_block *columns[2], *by_rows[2];
} BLOCK_SIZES[] = {
    /* From the largest to the smallest. */
    {14, {columns_14_1, columns_14_2}, {rows_14_1, rows_14_2}},
    {8, {columns_8_1, columns_8_2}, {rows_8_1, rows_8_2}},
    {4, {columns_4_1, columns_4_2}, {rows_4_1, rows_4_2}},
    {3, {columns_3_1, columns_3_2}, {rows_3_1, rows_3_2}},
    {2, {columns_2_1, columns_2_2}, {rows_2_1, rows_2_2}},
    {1, {columns_1_1, columns_1_2}, {rows_1_1, rows_1_2}},
};

/* The largest block that fits into so many rows. */
static const struct block_size *block_size(size_t rows) {
    const struct block_size *size = BLOCK_SIZES;
    while (size->rows > rows)
        size++;
    return size;
}

static size_t min_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Registers a step of a strip with so many lanes in use. */
static size_t vectors_of(size_t lanes) {
    return lanes > LANES ? 2 : 1;
}

/* Sixteen steps of at most sixteen rows. */
AVX512_INLINE void pack_square(size_t count, size_t steps, const float *const *x, size_t at, float *out,
                               size_t stride) {
    __m512 m[LANES];
    __mmask16 mask = first_lanes(steps);
#pragma GCC unroll 16
    for (size_t i = 0; i < LANES; i++)
        m[i] = i < count ? _mm512_maskz_loadu_ps(mask, x[i] + at) : _mm512_setzero_ps();
    transpose(m);
#pragma GCC unroll 16
    for (size_t t = 0; t < LANES; t++)
        if (t < steps) _mm512_storeu_ps(out + t * stride, m[t]);
}

AVX512 static void pack(size_t count, size_t at, size_t depth, const float *const *x, attn_panel *out) {
    out->count = count;
    out->depth = depth;
    for (size_t i = 0; i < count; i += LANES) {
        size_t first = i / STRIP * STRIP, stride = vectors_of(count - first) * LANES;
        float *strip = out->numbers + first * depth + (i - first);
        for (size_t t = 0; t < depth; t += LANES)
            pack_square(min_of(count - i, LANES), min_of(depth - t, LANES), x + i, at + t, strip + t * stride,
                        stride);
    }
}

static bool columns(const attn_panel *x, size_t columns, const float *w, size_t ldw, const float *start,
                    bool adds, float *const *y) {
    bool finite = true;
    block b = {.depth = x->depth, .lda = ldw, .adds = adds, .finite = &finite};
    const struct block_size *size;
    for (; b.at < columns; b.at += size->rows) {
        size = block_size(columns - b.at);
        b.a = w + b.at * ldw;
        b.start = start ? start + b.at : NULL;
        for (size_t i = 0; i < x->count; i += STRIP) {
            b.lanes = min_of(x->count - i, STRIP);
            b.strip = x->numbers + i * x->depth;
            b.y = y + i;
            size->columns[vectors_of(b.lanes) - 1](&b);
        }
    }
    return finite;
}

static void rows(const attn_panel *w, size_t rows, const float *x, size_t ldx, float alpha, bool adds,
                 float *y, size_t ldy) {
    block b = {.depth = w->depth, .lda = ldx, .adds = adds, .alpha = alpha, .ldc = ldy};
    const struct block_size *size;
    for (size_t at = 0; at < rows; at += size->rows) {
        size = block_size(rows - at);
        b.a = x + at * ldx;
        for (size_t j = 0; j < w->count; j += STRIP) {
            b.lanes = min_of(w->count - j, STRIP);
            b.strip = w->numbers + j * w->depth;
            b.c = y + at * ldy + j;
            size->by_rows[vectors_of(b.lanes) - 1](&b);
        }
    }
}

const attn_panel_kernels ATTN_PANEL_AVX512 = {pack, columns, rows};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx512;
#endif
