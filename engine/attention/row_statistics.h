/* The statistics of one head over one tile of rows, row after row: the scores before the softmax, then the weights.
 * Used by the tile that has the rows; the definitions stand in statistics.h. */
#ifndef ATTN_ATTENTION_ROW_STATISTICS_H
#define ATTN_ATTENTION_ROW_STATISTICS_H

#include "geometry.h"
#include "statistics.h"

enum { ATTN_LOCAL_WIDTHS = 4 };
extern const size_t attn_local_widths[ATTN_LOCAL_WIDTHS];

/* How scores are spread, in a form that can be merged. */
typedef struct attn_spread {
    double count, mean, squares; /* Σ (s − mean)² */
    double min, max;
} attn_spread;

/* What the rows of a head add up to so far; all zeros at the start. */
typedef struct attn_statistic_sums {
    double queries;     /* that are no pad queries */
    double rows;        /* N: those of them that see a key */
    double with_choice; /* n_i > 1 */
    double with_previous, with_next;
    double entropy, normalized, effective, participation, confidence;
    double mass;               /* ΣA */
    double own_mass, distance; /* Σ A and Σ A |i − j| over keys that have a position */
    double local[ATTN_LOCAL_WIDTHS];
    double previous, current, next;
    double largest_previous, largest_next;
    double duplicate, induction;
    double coverage, gini;
    attn_spread scores;
} attn_statistic_sums;

void attn_statistic_sums_add(attn_statistic_sums *to, const attn_statistic_sums *more);

typedef struct attn_row_statistics {
    attn_statistic_sums sums;
    uint64_t wanted;        /* attn_request.statistics */
    size_t keys, width;     /* S, S + E */
    bool has_positions;     /* self-attention */
    const uint32_t *tokens; /* NULL: none, or no positions */
    /* In the worker's scratch memory. */
    double *mass;             /* of each column, over the tile's rows */
    uint32_t *seen;           /* of each column: by how many rows */
    uint32_t *position;       /* of each key; of a removed one: of the next that is not */
    uint32_t *key_at;         /* of each position */
    uint32_t *before;         /* of each key: the token at the position before; UINT32_MAX: none */
    uint32_t *sorted, *spare; /* of a row's weights */
    size_t positions;         /* T */
} attn_row_statistics;

/* Floats of scratch memory that rows of `width` weights need; it begins on a cache line. Sets *overflow. */
size_t attn_row_statistics_scratch(size_t width, bool *overflow);

/* Begins a tile of one head. */
void attn_row_statistics_begin(attn_row_statistics *s, const attn_request *request,
                               const attn_sequence *sequence, size_t head, float *scratch);

/* One row's scores, masked ones −Infinity; `span` are the keys of causal order and window, of which (and of the extra
 * ones) the query sees `allowed`. Then, unless it sees none, its weights. */
void attn_row_statistics_scores(attn_row_statistics *s, size_t row, attn_span span, size_t allowed,
                                const float *scores);
void attn_row_statistics_weights(attn_row_statistics *s, size_t row, attn_span span, size_t allowed,
                                 const float *weights);

#endif
