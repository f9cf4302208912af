/* Sums → statistics (statistics.h): the tiles' parts are added in the order of their rows. */
#include "statistics.h"

#include "mask.h"
#include "row_statistics.h"
#include "run.h"

#include <math.h>

const char *const attn_statistic_names[ATTN_STATISTICS_ALL] = {
    [ATTN_ENTROPY] = "entropy",
    [ATTN_NORMALIZED_ENTROPY] = "normalized_entropy",
    [ATTN_EFFECTIVE_KEYS] = "effective_keys",
    [ATTN_PARTICIPATION_RATIO] = "participation_ratio",
    [ATTN_CONFIDENCE] = "confidence",
    [ATTN_MEAN_DISTANCE] = "mean_distance",
    [ATTN_LOCAL_MASS_1] = "local_mass_1",
    [ATTN_LOCAL_MASS_4] = "local_mass_4",
    [ATTN_LOCAL_MASS_16] = "local_mass_16",
    [ATTN_LOCAL_MASS_64] = "local_mass_64",
    [ATTN_SINK_MASS] = "sink_mass",
    [ATTN_PREVIOUS_TOKEN] = "previous_token",
    [ATTN_CURRENT_TOKEN] = "current_token",
    [ATTN_NEXT_TOKEN] = "next_token",
    [ATTN_POSITIONAL_PREVIOUS] = "positional_previous",
    [ATTN_POSITIONAL_NEXT] = "positional_next",
    [ATTN_DUPLICATE_TOKEN] = "duplicate_token",
    [ATTN_INDUCTION] = "induction",
    [ATTN_COVERAGE_90] = "coverage_90",
    [ATTN_GINI] = "gini",
    [ATTN_SCORE_MIN] = "score_min",
    [ATTN_SCORE_MAX] = "score_max",
    [ATTN_SCORE_STD] = "score_std",
    [ATTN_ROW_SUM_RESIDUAL] = "row_sum_residual",
    [ATTN_RECEIVED_ATTENTION] = "received_attention",
    [ATTN_RECEIVED_TOTAL] = "received_total",
    [ATTN_HEAVY_HITTERS] = "heavy_hitters",
};

/* NaN where there is nothing to take a mean of. */
static double share(double sum, double of) {
    return of > 0 ? sum / of : NAN;
}

static void add_positions(const attn_statistic_sums *sums, bool is_causal, double *out) {
    out[ATTN_MEAN_DISTANCE] = share(sums->distance, sums->own_mass);
    for (size_t i = 0; i < ATTN_LOCAL_WIDTHS; i++)
        out[ATTN_LOCAL_MASS_1 + i] = share(sums->local[i], sums->rows);
    out[ATTN_PREVIOUS_TOKEN] = share(sums->previous, sums->with_previous);
    out[ATTN_CURRENT_TOKEN] = share(sums->current, sums->rows);
    if (!is_causal) out[ATTN_NEXT_TOKEN] = share(sums->next, sums->with_next);
    out[ATTN_POSITIONAL_PREVIOUS] = share(sums->largest_previous, sums->rows);
    out[ATTN_POSITIONAL_NEXT] = share(sums->largest_next, sums->rows);
}

static attn_statistic_sums sums_of(const attn_run *run, size_t sequence, size_t slot) {
    const attn_sequence *s = &run->plan.request.sequences[sequence];
    size_t blocks = attn_row_blocks(&run->plan, s->queries);
    attn_statistic_sums sums = {0};
    for (size_t block = 0; block < blocks; block++)
        attn_statistic_sums_add(&sums, attn_run_statistic_sums(run, sequence, slot, block));
    return sums;
}

/* The first key that no per-key mask of the head removes. */
static size_t first_key(const attn_run *run, size_t sequence, size_t slot) {
    const attn_request *r = &run->plan.request;
    const attn_sequence *s = &r->sequences[sequence];
    size_t head = r->heads ? r->heads[slot] : slot, key = 0;
    while (key + 1 < s->keys && attn_mask_removes(s, head, key))
        key++;
    return key;
}

void attn_run_statistics(const attn_run *run, size_t sequence, size_t slot,
                         double out[ATTN_STATISTICS_OF_HEADS]) {
    const attn_request *r = &run->plan.request;
    attn_statistic_sums sums = sums_of(run, sequence, slot);
    for (size_t i = 0; i < ATTN_STATISTICS_OF_HEADS; i++)
        out[i] = NAN;
    out[ATTN_ENTROPY] = share(sums.entropy, sums.rows);
    out[ATTN_NORMALIZED_ENTROPY] = share(sums.normalized, sums.with_choice);
    out[ATTN_EFFECTIVE_KEYS] = share(sums.effective, sums.rows);
    out[ATTN_PARTICIPATION_RATIO] = share(sums.participation, sums.rows);
    out[ATTN_CONFIDENCE] = share(sums.confidence, sums.rows);
    if (!r->context) {
        add_positions(&sums, r->causal != ATTN_CAUSAL_OFF, out);
        out[ATTN_SINK_MASS] = attn_run_received(run, sequence, slot, first_key(run, sequence, slot)).mean;
    }
    if (!r->context && r->sequences[sequence].tokens) {
        out[ATTN_DUPLICATE_TOKEN] = share(sums.duplicate, sums.mass);
        out[ATTN_INDUCTION] = share(sums.induction, sums.mass);
    }
    out[ATTN_COVERAGE_90] = share(sums.coverage, sums.rows);
    out[ATTN_GINI] = share(sums.gini, sums.rows);
    if (sums.scores.count > 0) {
        out[ATTN_SCORE_MIN] = sums.scores.min;
        out[ATTN_SCORE_MAX] = sums.scores.max;
        out[ATTN_SCORE_STD] = sqrt(sums.scores.squares / sums.scores.count);
    }
    out[ATTN_ROW_SUM_RESIDUAL] = share(sums.queries - sums.mass, sums.queries);
}

attn_statistic_sums *attn_run_statistic_sums(const attn_run *run, size_t sequence, size_t slot,
                                             size_t block) {
    attn_statistic_sums *all = (attn_statistic_sums *)(void *)attn_run_floats(run, run->plan.at_sums);
    size_t blocks = attn_row_blocks(&run->plan, run->plan.request.sequences[sequence].queries);
    return all + run->places[sequence].sums + slot * blocks + block;
}

/* The column of a key among all heads'. */
static size_t column_of(const attn_run *run, size_t sequence, size_t slot, size_t key) {
    const attn_request *r = &run->plan.request;
    size_t width = r->sequences[sequence].keys + r->layer->extra_keys;
    return run->places[sequence].column + slot * width + key;
}

static _Atomic uint64_t *mass_at(const attn_run *run, size_t column) {
    return (_Atomic uint64_t *)(void *)attn_run_floats(run, run->plan.at_mass) + column;
}

static _Atomic uint32_t *seen_at(const attn_run *run, size_t column) {
    return (_Atomic uint32_t *)(void *)attn_run_floats(run, run->plan.at_seen) + column;
}

/* Weights are at most 1 and rows fewer than 2³¹: no sum passes 2⁶³. */
void attn_run_add_columns(attn_run *run, size_t sequence, size_t slot, const double *mass,
                          const uint32_t *seen) {
    const attn_request *r = &run->plan.request;
    size_t width = r->sequences[sequence].keys + r->layer->extra_keys,
           first = column_of(run, sequence, slot, 0);
    for (size_t j = 0; j < width; j++) {
        if (seen[j] == 0) continue;
        atomic_fetch_add_explicit(mass_at(run, first + j), (uint64_t)llrint(mass[j] * 0x1p32),
                                  memory_order_relaxed);
        atomic_fetch_add_explicit(seen_at(run, first + j), seen[j], memory_order_relaxed);
    }
}

attn_received attn_run_received(const attn_run *run, size_t sequence, size_t slot, size_t key) {
    size_t column = column_of(run, sequence, slot, key);
    double total = (double)atomic_load_explicit(mass_at(run, column), memory_order_relaxed) * 0x1p-32;
    return (attn_received){total,
                           share(total, atomic_load_explicit(seen_at(run, column), memory_order_relaxed))};
}
