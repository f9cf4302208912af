/* Rows of scores and weights → sums (row_statistics.h). Sums run in eight lanes, which compilers turn into vectors
 * without being allowed to reorder anything. */
#include "row_statistics.h"

#include "mask.h"
#include "rows.h"

#include "../base/size.h"

#include <float.h>
#include <math.h>
#include <string.h>

const size_t attn_local_widths[ATTN_LOCAL_WIDTHS] = {1, 4, 16, 64};

enum { LANES = 8 };

/* The share of a row that coverage asks for, and what float32 weights leave of its exactness. */
static const double covered_share = 0.9 * (1 - 1e-6);

static bool wants(const attn_row_statistics *s, uint64_t any) {
    return (s->wanted & any) != 0;
}

static double total(const double lanes[LANES]) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static void merge_spread(attn_spread *to, const attn_spread *more) {
    if (more->count == 0) return;
    if (to->count == 0) {
        *to = *more;
        return;
    }
    /* Chan, Golub & LeVeque 1979. */
    double count = to->count + more->count, apart = more->mean - to->mean;
    to->squares += more->squares + apart * apart * to->count * more->count / count;
    to->mean += apart * more->count / count;
    to->count = count;
    to->min = fmin(to->min, more->min);
    to->max = fmax(to->max, more->max);
}

void attn_statistic_sums_add(attn_statistic_sums *to, const attn_statistic_sums *more) {
    /* Everything before the scores is doubles that add up. */
    double *sums = &to->queries;
    const double *further = &more->queries;
    for (size_t i = 0; i < offsetof(attn_statistic_sums, scores) / sizeof *sums; i++)
        sums[i] += further[i];
    merge_spread(&to->scores, &more->scores);
}

/* Doubles first: each part begins where its type may. */
size_t attn_row_statistics_scratch(size_t width, bool *overflow) {
    size_t floats = 0;
    if (!attn_size_mul(width, 8, &floats) || !attn_size_add(floats, ATTN_ALIGN_FLOATS - 1, &floats))
        *overflow = true;
    return floats & ~(size_t)(ATTN_ALIGN_FLOATS - 1);
}

static void number_positions(attn_row_statistics *s, const attn_sequence *sequence, size_t head) {
    for (size_t key = 0; key < s->keys; key++) {
        s->position[key] = (uint32_t)s->positions;
        if (!attn_mask_removes(sequence, head, key)) s->key_at[s->positions++] = (uint32_t)key;
    }
    for (size_t key = 0; key < s->keys && s->tokens; key++)
        s->before[key] = s->position[key] == 0 ? UINT32_MAX : s->tokens[s->key_at[s->position[key] - 1]];
}

void attn_row_statistics_begin(attn_row_statistics *s, const attn_request *request,
                               const attn_sequence *sequence, size_t head, float *scratch) {
    size_t width = sequence->keys + request->layer->extra_keys;
    *s = (attn_row_statistics){.wanted = request->statistics,
                               .keys = sequence->keys,
                               .width = width,
                               .has_positions = !request->context,
                               .tokens = request->context ? NULL : sequence->tokens,
                               .mass = (double *)(void *)scratch};
    s->seen = (uint32_t *)(void *)(scratch + 2 * width);
    s->position = s->seen + width;
    s->key_at = s->position + width;
    s->before = s->key_at + width;
    s->sorted = s->before + width;
    s->spare = s->sorted + width;
    memset(s->mass, 0, width * sizeof *s->mass);
    memset(s->seen, 0, width * sizeof *s->seen);
    if (s->has_positions) number_positions(s, sequence, head);
}

/* Whether a position is the row's own; false for a pad query. */
static bool has_position(const attn_row_statistics *s, size_t row) {
    return s->position[row] < s->positions && s->key_at[s->position[row]] == row;
}

static void spread_of(const float *scores, size_t count, attn_spread *to) {
    attn_spread row = {.min = INFINITY, .max = -INFINITY};
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        if (scores[j] == -INFINITY) continue;
        double score = (double)scores[j];
        row.count++;
        sum += score;
        if (score < row.min) row.min = score;
        if (score > row.max) row.max = score;
    }
    row.mean = sum / row.count;
    for (size_t j = 0; j < count; j++) {
        double apart = scores[j] == -INFINITY ? 0 : (double)scores[j] - row.mean;
        row.squares += apart * apart;
    }
    merge_spread(to, &row);
}

static void see(attn_row_statistics *s, const float *scores, size_t begin, size_t end) {
    for (size_t j = begin; j < end; j++)
        s->seen[j] += scores[j] != -INFINITY;
}

void attn_row_statistics_scores(attn_row_statistics *s, size_t row, attn_span span, size_t allowed,
                                const float *scores) {
    if (s->has_positions && !has_position(s, row)) return;
    s->sums.queries++;
    if (allowed == 0) return;
    see(s, scores, span.begin, span.end);
    see(s, scores, s->keys, s->width);
    if (!wants(s, ATTN_STATISTIC(ATTN_SCORE_MIN) | ATTN_STATISTIC(ATTN_SCORE_MAX) |
                      ATTN_STATISTIC(ATTN_SCORE_STD)))
        return;
    spread_of(scores + span.begin, span.end - span.begin, &s->sums.scores);
    spread_of(scores + s->keys, s->width - s->keys, &s->sums.scores);
}

/* a·ln a, to 1e-6 of it; 0 for what is no normal number. With a = 2^e·m, √½ <= m < √2:
 * ln m = 2 artanh((m − 1) / (m + 1)), by its series. */
static float times_log(float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits += 0x3f800000u - 0x3f3504f3u; /* from √½ on: the next exponent */
    float e = (float)((int32_t)(bits >> 23) - 127), m;
    bits = (bits & 0x7fffffu) + 0x3f3504f3u;
    memcpy(&m, &bits, sizeof m);
    float t = (m - 1) / (m + 1), tt = t * t;
    float log =
        e * 0.693147181f + 2 * t * (1 + tt * (1 / 3.0f + tt * (1 / 5.0f + tt * (1 / 7.0f + tt / 9.0f))));
    return a >= FLT_MIN ? a * log : 0;
}

/* What one look at a row adds up. */
typedef struct row_sums {
    double sum, squares, logs; /* Σa, Σa², Σ a·ln a */
} row_sums;

static void add_run(const float *weights, size_t count, row_sums *to) {
    double sum[LANES] = {0}, squares[LANES] = {0}, logs[LANES] = {0};
    for (size_t j = 0; j < count; j += LANES)
        for (size_t lane = 0, end = count - j < LANES ? count - j : LANES; lane < end; lane++) {
            double a = (double)weights[j + lane];
            sum[lane] += a;
            squares[lane] += a * a;
            logs[lane] += (double)times_log(weights[j + lane]);
        }
    to->sum += total(sum);
    to->squares += total(squares);
    to->logs += total(logs);
}

static double sum_of(const float *weights, size_t begin, size_t end) {
    double sum = 0;
    for (size_t j = begin; j < end; j++)
        sum += (double)weights[j];
    return sum;
}

static void add_entropy(attn_statistic_sums *to, const row_sums *row, size_t allowed) {
    double entropy = -row->logs;
    to->entropy += entropy;
    to->effective += exp(entropy);
    to->participation += 1 / row->squares;
    if (allowed < 2) return;
    to->with_choice++;
    to->normalized += entropy / log((double)allowed);
}

/* The first key of the largest weight. */
static size_t largest(const attn_row_statistics *s, attn_span span, const float *weights, float *max) {
    float own = attn_row_kernels_in_use()->max(weights + span.begin, span.end - span.begin);
    float extra = attn_row_kernels_in_use()->max(weights + s->keys, s->width - s->keys);
    size_t at = own >= extra ? span.begin : s->keys;
    *max = fmaxf(own, extra);
    while (weights[at] != *max)
        at++;
    return at;
}

/* Numbers that need the places of queries and keys. */
static void add_distances(attn_row_statistics *s, size_t row, attn_span span, const float *weights) {
    double sums[LANES] = {0}, own = (double)s->position[row];
    for (size_t j = span.begin; j < span.end; j++)
        sums[j % LANES] += (double)weights[j] * fabs((double)s->position[j] - own);
    s->sums.distance += total(sums);
    s->sums.own_mass += sum_of(weights, span.begin, span.end);
}

static void add_neighbours(attn_row_statistics *s, size_t row, const float *weights, size_t largest_at) {
    size_t at = s->position[row], last = s->positions - 1;
    for (size_t i = 0; i < ATTN_LOCAL_WIDTHS; i++) {
        size_t width = attn_local_widths[i];
        size_t first = at > width ? at - width : 0, end = last - at > width ? at + width : last;
        s->sums.local[i] += sum_of(weights, s->key_at[first], s->key_at[end] + 1);
    }
    s->sums.current += (double)weights[row];
    if (at > 0) {
        s->sums.with_previous++;
        s->sums.previous += (double)weights[s->key_at[at - 1]];
        s->sums.largest_previous += largest_at == s->key_at[at - 1];
    }
    if (at < last) {
        s->sums.with_next++;
        s->sums.next += (double)weights[s->key_at[at + 1]];
        s->sums.largest_next += largest_at == s->key_at[at + 1];
    }
}

/* What goes to keys with the query's own token, and to those behind such a key. */
static void add_tokens(attn_row_statistics *s, size_t row, attn_span span, const float *weights) {
    uint32_t token = s->tokens[row];
    size_t end = span.end < row + 1 ? span.end : row + 1;
    double same[LANES] = {0}, behind[LANES] = {0};
    for (size_t j = span.begin; j < end; j++) {
        same[j % LANES] += s->tokens[j] == token && j < row ? (double)weights[j] : 0;
        behind[j % LANES] += s->before[j] == token ? (double)weights[j] : 0;
    }
    s->sums.duplicate += total(same);
    s->sums.induction += total(behind);
}

/* Least significant digit first, bytes of what are positive floats: their bits are ordered as they are. The result is
 * in `sorted`. */
static void sort_rising(uint32_t *sorted, uint32_t *spare, size_t count) {
    for (unsigned shift = 0; shift < 32; shift += 8) { /* four passes: the last one ends in `sorted` again */
        size_t starts[257] = {0};
        for (size_t i = 0; i < count; i++)
            starts[(sorted[i] >> shift & 0xff) + 1]++;
        for (size_t digit = 0; digit < 256; digit++)
            starts[digit + 1] += starts[digit];
        for (size_t i = 0; i < count; i++)
            spare[starts[sorted[i] >> shift & 0xff]++] = sorted[i];
        uint32_t *swap = sorted;
        sorted = spare;
        spare = swap;
    }
}

static size_t gather(const float *weights, size_t begin, size_t end, uint32_t *out) {
    size_t count = 0;
    for (size_t j = begin; j < end; j++) {
        memcpy(&out[count], &weights[j], sizeof *out);
        count += weights[j] > 0;
    }
    return count;
}

static double float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Coverage, and Gini = Σ_k (2k − n − 1) a_k / (n Σ a) over the row's n weights in rising order; those that are 0 come
 * first. */
static void add_order(attn_row_statistics *s, attn_span span, const float *weights, size_t allowed,
                      double sum) {
    size_t count = gather(weights, span.begin, span.end, s->sorted);
    count += gather(weights, s->keys, s->width, s->sorted + count);
    sort_rising(s->sorted, s->spare, count);
    double weighted = 0, n = (double)allowed, zeros = n - (double)count;
    for (size_t i = 0; i < count; i++)
        weighted += (2 * (zeros + (double)i + 1) - n - 1) * float_of(s->sorted[i]);
    s->sums.gini += weighted / (n * sum);
    double covered = 0;
    size_t fewest = 0;
    while (fewest < count && covered < covered_share * sum)
        covered += float_of(s->sorted[count - ++fewest]);
    s->sums.coverage += (double)fewest;
}

static void add_columns(attn_row_statistics *s, size_t begin, size_t end, const float *weights) {
    for (size_t j = begin; j < end; j++)
        s->mass[j] += (double)weights[j];
}

void attn_row_statistics_weights(attn_row_statistics *s, size_t row, attn_span span, size_t allowed,
                                 const float *weights) {
    if (allowed == 0 || (s->has_positions && !has_position(s, row))) return;
    row_sums sums = {0};
    float max;
    add_run(weights + span.begin, span.end - span.begin, &sums);
    add_run(weights + s->keys, s->width - s->keys, &sums);
    size_t at = largest(s, span, weights, &max);
    s->sums.rows++;
    s->sums.mass += sums.sum;
    s->sums.confidence += (double)max;
    add_entropy(&s->sums, &sums, allowed);
    add_columns(s, span.begin, span.end, weights);
    add_columns(s, s->keys, s->width, weights);
    if (s->has_positions) {
        add_distances(s, row, span, weights);
        add_neighbours(s, row, weights, at);
    }
    if (s->tokens) add_tokens(s, row, span, weights);
    if (wants(s, ATTN_STATISTIC(ATTN_COVERAGE_90) | ATTN_STATISTIC(ATTN_GINI)))
        add_order(s, span, weights, allowed, sums.sum);
}
