/* Packed products (panel.h) for AVX-512 (F). Compiled for every x86-64 and called where the processor has it.
 *
 * Packed rows are the lanes of vectors: 48 rows make a strip of three registers a step of the depth. Where that does not
 * come out even the last strips have two registers, or one where there is no more. A block of results, up to 9 rows of the
 * other matrix by three registers or 14 by two, stays in registers while the depth is walked once: 27 sums, three registers
 * of the strip and one number for all lanes are 31 of the 32 that there are. Three registers take 39 instructions for 27
 * multiplications and two 44 for 28: where another thread shares the core it is instructions that lack. */
#ifdef __x86_64__
#include "panel.h"

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE static inline __attribute__((always_inline, target("avx512f")))

enum {
    LANES = 16,
    VECTORS = 3, /* registers of a strip, at most */
    BLOCK = 14,  /* rows of a block, at most */
    THIRDS = (BLOCK + 2) / 3,
    SUMS = 28,    /* of a block, at most */
    PIECE = 256,  /* of the depth, summed up by itself */
    GATHERED = 3, /* places where what is not finite shows: in one each addition would wait for the last */
    AHEAD = 64,   /* numbers of a row that are fetched before they are packed */
    CHUNK = 126,  /* other rows that every strip meets before the next ones: whole blocks of 9 and of 14 */
};

/* What one block works on. */
typedef struct block {
    size_t depth;
    const float *strip;
    size_t lane, lanes; /* of the panel: the strip's first, and how many are in use */
    const float *a;     /* the other matrix */
    size_t lda;
    size_t at; /* the block's first row of it */
    const float *start;
    bool adds;
    bool *finite; /* becomes false where a result is not */
    /* Results by lane (attn_panel_kernels.columns) … */
    float *const *y;
    /* … or by row (attn_panel_kernels.rows). */
    float alpha;
    float *c;
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
        a[k] = b->a + (b->at + 3 * k) * lda + from;
#pragma GCC unroll 28
    for (int i = 0; i < rows * vectors; i++)
        sums[i] = _mm512_setzero_ps();
    /* Two steps for one step of the addresses: where another thread shares the core, instructions are dear. */
#pragma GCC unroll 2
    for (size_t t = from; t < to; t++) {
        __m512 lanes[VECTORS];
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++)
            lanes[v] = _mm512_loadu_ps(strip + v * LANES);
        strip += vectors * LANES;
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            __m512 number = _mm512_set1_ps(a[i / 3][(size_t)(i % 3) * lda]);
#pragma GCC unroll 3
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
    __m512 before[SUMS]; /* in memory: all registers are taken */
    for (size_t at = 0, end;; at = end) {
        end = b->depth - at < PIECE ? b->depth : at + PIECE;
        walk(rows, vectors, b, at, end, sums);
#pragma GCC unroll 28
        for (int i = 0; i < rows * vectors; i++)
            if (at > 0) sums[i] = _mm512_add_ps(before[i], sums[i]);
        if (end == b->depth) return;
#pragma GCC unroll 28
        for (int i = 0; i < rows * vectors; i++)
            before[i] = sums[i];
    }
}

/* Gathers 0 times each result: NaN once one was not finite. */
AVX512_INLINE void gather(int index, __m512 result, __m512 gathered[GATHERED]) {
    gathered[index % GATHERED] = _mm512_fmadd_ps(result, _mm512_setzero_ps(), gathered[index % GATHERED]);
}

AVX512_INLINE void tell(const __m512 gathered[GATHERED], bool *finite) {
    __m512 all = gathered[0];
#pragma GCC unroll 3
    for (int i = 1; i < GATHERED; i++)
        all = _mm512_add_ps(all, gathered[i]);
    if (_mm512_cmp_ps_mask(all, all, _CMP_UNORD_Q) != 0) *finite = false;
}

/* A block whose rows are columns of the results. */
AVX512_INLINE void columns_block(int rows, int vectors, const block *b) {
    __m512 sums[SUMS], results[LANES], gathered[GATHERED] = {0};
    multiply(rows, vectors, b, sums);
    __mmask16 columns = first_lanes((size_t)rows);
    __m512 start = b->start ? _mm512_maskz_loadu_ps(columns, b->start + b->at) : _mm512_setzero_ps();
    float *const *y = b->y + b->lane;
    size_t at = b->at, count = b->lanes;
    bool adds = b->adds;
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            results[i] = i < rows ? sums[i * vectors + v] : _mm512_setzero_ps();
        transpose(results);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) {
            size_t lane = (size_t)v * LANES + (size_t)i;
            if (lane >= count) break;
            __m512 before = adds ? _mm512_maskz_loadu_ps(columns, y[lane] + at) : start;
            __m512 result = _mm512_add_ps(before, results[i]);
            gather(i, result, gathered);
            _mm512_mask_storeu_ps(y[lane] + at, columns, result);
        }
    }
    tell(gathered, b->finite);
}

/* A block whose rows are rows of the results. */
AVX512_INLINE void rows_block(int rows, int vectors, const block *b) {
    __m512 sums[SUMS], alpha = _mm512_set1_ps(b->alpha), gathered[GATHERED] = {0};
    multiply(rows, vectors, b, sums);
    size_t ldc = b->ldc;
    float *c = b->c + b->at * ldc + b->lane;
    bool adds = b->adds;
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++, c += LANES) {
        size_t lane = (size_t)v * LANES;
        __mmask16 lanes = first_lanes(b->lanes - lane);
        __m512 before =
            b->start ? _mm512_maskz_loadu_ps(lanes, b->start + b->lane + lane) : _mm512_setzero_ps();
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            if (adds) before = _mm512_maskz_loadu_ps(lanes, c + (size_t)i * ldc);
            __m512 result = _mm512_fmadd_ps(alpha, sums[i * vectors + v], before);
            gather(i, result, gathered);
            _mm512_mask_storeu_ps(c + (size_t)i * ldc, lanes, result);
        }
    }
    tell(gathered, b->finite);
}

typedef void run_block(const block *b);

/* The functions of one number of rows and of registers. */
#define BLOCK_OF(rows, vectors)                                                                              \
    AVX512 static void columns_##rows##_##vectors(const block *b) {                                          \
        columns_block(rows, vectors, b);                                                                     \
    }                                                                                                        \
    AVX512 static void rows_##rows##_##vectors(const block *b) {                                             \
        rows_block(rows, vectors, b);                                                                        \
    }
#define BLOCKS(rows)                                                                                         \
    BLOCK_OF(rows, 1)                                                                                        \
    BLOCK_OF(rows, 2)                                                                                        \
    BLOCK_OF(rows, 3)
BLOCKS(1)
BLOCKS(2)
BLOCKS(4)
BLOCKS(8)
BLOCKS(9)
BLOCK_OF(14, 1)
BLOCK_OF(14, 2)

static const struct block_size {
    size_t rows;
    /* By the strip's registers; NULL: there is no such block. */
    run_block *columns[VECTORS], *by_rows[VECTORS];
} BLOCK_SIZES[] = {
    /* From the largest to the smallest. */
    {14, {columns_14_1, columns_14_2, NULL}, {rows_14_1, rows_14_2, NULL}},
    {9, {columns_9_1, columns_9_2, columns_9_3}, {rows_9_1, rows_9_2, rows_9_3}},
    {8, {columns_8_1, columns_8_2, columns_8_3}, {rows_8_1, rows_8_2, rows_8_3}},
    {4, {columns_4_1, columns_4_2, columns_4_3}, {rows_4_1, rows_4_2, rows_4_3}},
    {2, {columns_2_1, columns_2_2, columns_2_3}, {rows_2_1, rows_2_2, rows_2_3}},
    {1, {columns_1_1, columns_1_2, columns_1_3}, {rows_1_1, rows_1_2, rows_1_3}},
};

/* The largest block by so many registers that fits into so many rows. */
static const struct block_size *block_size(size_t vectors, size_t rows) {
    const struct block_size *size = BLOCK_SIZES;
    while (size->rows > rows || !size->columns[vectors - 1])
        size++;
    return size;
}

static size_t min_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Registers a step of lanes. */
static size_t vectors_of(size_t lanes) {
    return (lanes + LANES - 1) / LANES;
}

/* The lanes in use of the next strip where so many are left. */
static size_t strip_lanes(size_t left) {
    size_t vectors = vectors_of(left);
    return min_of(left, (vectors == 4 ? 2 : min_of(vectors, VECTORS)) * LANES);
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

/* Fetches what will be packed some squares after the one of rows from `row` on at step `t`: of the same rows, or of the
 * next ones where those end. */
AVX512_INLINE void fetch_ahead(size_t row, size_t t, size_t count, size_t at, size_t depth,
                               const float *const *x) {
    size_t step = t + AHEAD;
    if (step >= depth) {
        step = min_of(step - depth, t);
        row += LANES;
    }
    for (size_t end = min_of(row + LANES, count); row < end; row++)
        _mm_prefetch((const char *)(x[row] + at + step), _MM_HINT_T0);
}

AVX512 static void pack(size_t count, size_t at, size_t depth, const float *const *x, attn_panel *out) {
    out->count = count;
    out->depth = depth;
    for (size_t first = 0, lanes; first < count; first += lanes) {
        lanes = strip_lanes(count - first);
        size_t stride = vectors_of(lanes) * LANES;
        for (size_t i = 0; i < lanes; i += LANES)
            for (size_t t = 0; t < depth; t += LANES) {
                fetch_ahead(first + i, t, count, at, depth, x);
                pack_square(min_of(lanes - i, LANES), min_of(depth - t, LANES), x + first + i, at + t,
                            out->numbers + first * depth + t * stride + i, stride);
            }
    }
}

/* A strip by some rows of the other matrix, from `begin` up to `end`. */
static void run_strip(block *b, size_t begin, size_t end) {
    size_t vectors = vectors_of(b->lanes);
    const struct block_size *size;
    for (b->at = begin; b->at < end; b->at += size->rows) {
        size = block_size(vectors, end - b->at);
        (b->y ? size->columns : size->by_rows)[vectors - 1](b);
    }
}

/* The whole product. */
static void run_blocks(const attn_panel *panel, size_t others, block *b) {
    b->depth = panel->depth;
    for (size_t at = 0; at < others; at += CHUNK)
        for (b->lane = 0; b->lane < panel->count; b->lane += b->lanes) {
            b->lanes = strip_lanes(panel->count - b->lane);
            b->strip = panel->numbers + b->lane * panel->depth;
            run_strip(b, at, min_of(others, at + CHUNK));
        }
}

static bool columns(const attn_panel *x, size_t columns, const float *w, size_t ldw, const float *start,
                    bool adds, float *const *y) {
    bool finite = true;
    block b = {.a = w, .lda = ldw, .start = start, .adds = adds, .finite = &finite, .y = y};
    run_blocks(x, columns, &b);
    return finite;
}

static bool rows(const attn_panel *w, size_t rows, const float *x, size_t ldx, float alpha,
                 const float *start, bool adds, float *y, size_t ldy) {
    bool finite = true;
    block b = {.a = x,
               .lda = ldx,
               .start = start,
               .adds = adds,
               .finite = &finite,
               .alpha = alpha,
               .c = y,
               .ldc = ldy};
    run_blocks(w, rows, &b);
    return finite;
}

const attn_panel_kernels ATTN_PANEL_AVX512 = {pack, columns, rows};
#else
/* Nothing to compile for other processors; ISO C wants a declaration. */
typedef int no_avx512;
#endif
