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

/* Statistic, name, formula, and who first used it. All but those of keys are one number a head. */
#define ATTN_STATISTICS(X)                                                                                   \
    X(ENTROPY, "entropy", "1/N Σ_i H_i with H_i = −Σ_j A_ij ln A_ij", "Clark et al. 2019")                   \
    X(NORMALIZED_ENTROPY, "normalized_entropy", "mean of H_i / ln n_i over the rows with n_i > 1",           \
      "after Clark")                                                                                         \
    X(EFFECTIVE_KEYS, "effective_keys", "1/N Σ_i exp H_i", "perplexity")                                     \
    X(PARTICIPATION_RATIO, "participation_ratio", "1/N Σ_i 1 / Σ_j A_ij²", "inverse Simpson index")          \
    X(CONFIDENCE, "confidence", "1/N Σ_i max_j A_ij", "Voita et al. 2019")                                   \
    X(MEAN_DISTANCE, "mean_distance", "Σ_i Σ_j A_ij |i − j| / Σ_i Σ_j A_ij", "Vig & Belinkov 2019")          \
    X(LOCAL_MASS_1, "local_mass_1", "1/N Σ_i Σ_{|i−j| ≤ 1} A_ij", "common practice")                         \
    X(LOCAL_MASS_4, "local_mass_4", "likewise, |i − j| ≤ 4", "common practice")                              \
    X(LOCAL_MASS_16, "local_mass_16", "likewise, |i − j| ≤ 16", "common practice")                           \
    X(LOCAL_MASS_64, "local_mass_64", "likewise, |i − j| ≤ 64", "common practice")                           \
    X(SINK_MASS, "sink_mass", "c_j of the key at the first position", "Xiao et al. 2023; Gu et al. 2024")    \
    X(PREVIOUS_TOKEN, "previous_token", "mean of A_{i,i−1} over i ≥ 1",                                      \
      "Clark et al. 2019; TransformerLens")                                                                  \
    X(CURRENT_TOKEN, "current_token", "mean of A_ii", "Clark et al. 2019")                                   \
    X(NEXT_TOKEN, "next_token", "mean of A_{i,i+1} over i < T − 1, where not causal", "Clark et al. 2019")   \
    X(POSITIONAL_PREVIOUS, "positional_previous", "share of rows whose largest weight is at i − 1",          \
      "Voita et al. 2019")                                                                                   \
    X(POSITIONAL_NEXT, "positional_next", "share of rows whose largest weight is at i + 1",                  \
      "Voita et al. 2019")                                                                                   \
    X(DUPLICATE_TOKEN, "duplicate_token", "Σ A_ij [t_i = t_j, j < i] / Σ A_ij", "TransformerLens")           \
    X(INDUCTION, "induction", "Σ A_ij [t_{j−1} = t_i, 1 ≤ j ≤ i] / Σ A_ij", "Olsson et al. 2022")            \
    X(COVERAGE_90, "coverage_90", "mean of the fewest keys that hold 0.9 of a row", "sparsity literature")   \
    X(GINI, "gini", "mean Gini coefficient of a row's n_i weights", "Gini 1912")                             \
    X(SCORE_MIN, "score_min", "smallest score that enters the softmax", "Dehghani et al. 2023")              \
    X(SCORE_MAX, "score_max", "largest of them", "Dehghani et al. 2023")                                     \
    X(SCORE_STD, "score_std", "their standard deviation", "Dehghani et al. 2023")                            \
    X(ROW_SUM_RESIDUAL, "row_sum_residual", "mean of 1 − Σ_j A_ij over all queries but pad ones",            \
      "definition")                                                                                          \
    X(RECEIVED_ATTENTION, "received_attention", "of each key: c_j = Σ_i A_ij / #{i : j ∈ V_i}",              \
      "Zhang et al. 2023")                                                                                   \
    X(RECEIVED_TOTAL, "received_total", "of each key: Σ_i A_ij", "Zhang et al. 2023")                        \
    X(HEAVY_HITTERS, "heavy_hitters", "the 8 keys with the largest Σ_i A_ij", "Zhang et al. 2023")

typedef enum attn_statistic {
#define X(id, name, formula, source) ATTN_##id,
    ATTN_STATISTICS(X)
#undef X
        ATTN_STATISTICS_ALL,
    ATTN_STATISTICS_OF_HEADS = ATTN_RECEIVED_ATTENTION, /* the first ones: one number a head */
} attn_statistic;

/* The set of one statistic, for attn_request.statistics. */
#define ATTN_STATISTIC(statistic) (UINT64_C(1) << (statistic))

/* A head whose sink_mass is above this has a sink (Gu et al. 2024). */
#define ATTN_SINK_THRESHOLD 0.3

extern const char *const attn_statistic_names[ATTN_STATISTICS_ALL];
extern const char *const attn_statistic_formulas[ATTN_STATISTICS_ALL];
extern const char *const attn_statistic_sources[ATTN_STATISTICS_ALL];

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
