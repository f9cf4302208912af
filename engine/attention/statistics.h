/* What each head does, in numbers: statistics of its weights and scores, taken row by row while a tile has them, so
 * that no map need be kept.
 *
 * Definitions. A_ij is the weight that query i gives to key j. V_i are the keys that query i may see (masks, causal
 * order, window), the layer's own extra keys among them; n_i = |V_i|. A per-key mask is padding, or an attention mask or
 * bias (−Infinity) that is the same for every query. In self-attention a query whose own key such a mask removes is a
 * pad query and counts nowhere. Q are the other queries with n_i > 0, N = |Q|; sums over i run over Q. Positions count
 * only the keys that no per-key mask removes; extra keys have none. 0·ln 0 = 0, logarithms are natural. Everything is
 * NaN where it is not defined: without any row to take the mean of, for cross-attention (context given) where positions
 * of queries and keys do not compare, without tokens where tokens are compared.
 *
 * Sums are of doubles, in an order that the request's shape alone decides. */
#ifndef ATTN_ATTENTION_STATISTICS_H
#define ATTN_ATTENTION_STATISTICS_H

#include "request.h"

#include <stdint.h>

/* The formula, and who used it first. All but those of keys are one number a head. */
typedef enum attn_statistic {
    ATTN_ENTROPY, /* 1/N Σ_i H_i with H_i = −Σ_j A_ij ln A_ij; Clark et al. 2019; Vig & Belinkov 2019 */
    ATTN_NORMALIZED_ENTROPY,  /* mean of H_i / ln n_i over the rows with n_i > 1; common practice */
    ATTN_EFFECTIVE_KEYS,      /* 1/N Σ_i exp H_i; perplexity */
    ATTN_PARTICIPATION_RATIO, /* 1/N Σ_i 1 / Σ_j A_ij²; inverse Simpson index */
    ATTN_CONFIDENCE,          /* 1/N Σ_i max_j A_ij; Voita et al. 2019 */
    ATTN_MEAN_DISTANCE,       /* Σ_i Σ_j A_ij |i−j| / Σ_i Σ_j A_ij; Vig & Belinkov 2019; Raghu et al. 2021 */
    ATTN_LOCAL_MASS_1,        /* 1/N Σ_i Σ_{|i−j| ≤ 1} A_ij; common practice */
    ATTN_LOCAL_MASS_4,        /* … |i−j| ≤ 4; common practice */
    ATTN_LOCAL_MASS_16,       /* … |i−j| ≤ 16; common practice */
    ATTN_LOCAL_MASS_64,       /* … |i−j| ≤ 64; common practice */
    ATTN_SINK_MASS,      /* Σ_i A_ij / #{i : j ∈ V_i} of the first key; Xiao et al. 2023; Gu et al. 2024 */
    ATTN_PREVIOUS_TOKEN, /* mean of A_{i,i−1} over i ≥ 1; Clark et al. 2019; TransformerLens */
    ATTN_CURRENT_TOKEN,  /* mean of A_{i,i}; Clark et al. 2019 */
    ATTN_NEXT_TOKEN,     /* mean of A_{i,i+1}, not defined where causal; Clark et al. 2019 */
    ATTN_POSITIONAL_PREVIOUS, /* share of rows whose largest weight is at i−1; Voita et al. 2019 */
    ATTN_POSITIONAL_NEXT,     /* share of rows whose largest weight is at i+1; Voita et al. 2019 */
    ATTN_DUPLICATE_TOKEN,     /* Σ A_ij [t_i = t_j, j < i] / Σ A_ij; TransformerLens */
    ATTN_INDUCTION,   /* Σ A_ij [t_{j−1} = t_i, 1 ≤ j ≤ i] / Σ A_ij; Olsson et al. 2022; TransformerLens */
    ATTN_COVERAGE_90, /* mean of the fewest keys that hold 0.9 of a row; sparsity literature */
    ATTN_GINI,        /* mean Gini coefficient of a row's n_i weights; Gini 1912 */
    ATTN_SCORE_MIN,   /* the smallest score that enters the softmax; Dehghani et al. 2023 */
    ATTN_SCORE_MAX,   /* the largest; Dehghani et al. 2023 */
    ATTN_SCORE_STD,   /* their standard deviation; Dehghani et al. 2023 */
    ATTN_ROW_SUM_RESIDUAL,   /* mean of 1 − Σ_j A_ij over all queries but pad ones; its definition */
    ATTN_RECEIVED_ATTENTION, /* of each key: Σ_i A_ij / #{i : j ∈ V_i}; Zhang et al. 2023 */
    ATTN_RECEIVED_TOTAL,     /* of each key: Σ_i A_ij; Zhang et al. 2023 */
    ATTN_HEAVY_HITTERS,      /* the (up to) 8 keys with the largest Σ_i A_ij; Zhang et al. 2023 */
    ATTN_STATISTICS_ALL,
    ATTN_STATISTICS_OF_HEADS = ATTN_RECEIVED_ATTENTION, /* the first ones: one number a head */
} attn_statistic;

/* The set of one statistic, for attn_request.statistics. */
#define ATTN_STATISTIC(statistic) (UINT64_C(1) << (statistic))

/* A head whose sink_mass is above this has a sink (Gu et al. 2024). */
#define ATTN_SINK_THRESHOLD 0.3

extern const char *const attn_statistic_names[ATTN_STATISTICS_ALL];

/* All numbers of one head of a finished run that asked for statistics; `slot` counts the chosen heads. Those that were
 * not asked for mean nothing. */
void attn_run_statistics(const attn_run *run, size_t sequence, size_t slot,
                         double out[ATTN_STATISTICS_OF_HEADS]);

/* What a key (S, then E) has received from one head: its total, and that divided by the queries that see it (NaN where
 * none does). */
typedef struct attn_received {
    double total, mean;
} attn_received;
attn_received attn_run_received(const attn_run *run, size_t sequence, size_t slot, size_t key);

#endif
