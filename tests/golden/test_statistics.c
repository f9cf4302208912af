/* Statistics of heads: of maps whose numbers are known, and of random ones against NumPy's numbers
 * (head_statistics.py). Maps are made by a layer without parameters whose scores are all 0 before the bias. */
#include "compare.h"
#include "suites.h"
#include "vector.h"

#include "engine/engine.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADS = 4, MOST_EXTRA = 2, MOST_POSITIONS = 160 };

static const float zeros[MOST_POSITIONS * MOST_HEADS + MOST_EXTRA * MOST_HEADS];

/* A request whose maps are the softmax of its bias; stays in place. */
typedef struct mapped {
    attn_layer layer;
    attn_sequence sequence;
    attn_request request;
} mapped;

static void make(mapped *m, size_t heads, size_t queries, size_t keys, size_t extra) {
    m->layer = (attn_layer){.name = "mapped",
                            .heads = heads,
                            .kv_heads = heads,
                            .head_dim = 1,
                            .value_dim = 1,
                            .d_out = heads,
                            .scale = 1,
                            .causal = ATTN_CAUSAL_OFF,
                            .extra_keys = extra,
                            .extra_k = zeros,
                            .extra_v = zeros};
    m->sequence = (attn_sequence){.queries = queries, .keys = keys};
    m->request = (attn_request){.layer = &m->layer,
                                .sequences = &m->sequence,
                                .sequence_count = 1,
                                .inputs = zeros,
                                .d_model = heads,
                                .d_key = heads,
                                .d_value = heads,
                                .want = ATTN_WANT_STATISTICS,
                                .statistics = ATTN_STATISTIC(ATTN_STATISTICS_ALL) - 1};
}

static attn_run *run(const mapped *m, size_t workers) {
    attn_plan plan;
    attn_run *run = NULL;
    attn_pool *pool = NULL;
    attn_error error = {0};
    ck_assert_msg(attn_plan_make(&m->request, workers, &plan, &error) == ATTN_OK, "%s: %s", error.where,
                  error.text);
    ck_assert_int_eq(attn_run_new(&plan, &run, &error), ATTN_OK);
    ck_assert_int_eq(attn_pool_new(workers, &pool, &error), ATTN_OK);
    ck_assert_int_eq(attn_run_wait(run, pool), ATTN_OK);
    attn_pool_free(pool);
    return run;
}

/* The numbers of the one head of a map, and what its keys have received. */
typedef struct numbers {
    double of_head[ATTN_STATISTICS_OF_HEADS];
    double received[MOST_POSITIONS];
} numbers;

static numbers numbers_of(const mapped *m) {
    numbers out;
    attn_run *done = run(m, 1);
    attn_run_statistics(done, 0, 0, out.of_head);
    for (size_t key = 0; key < m->sequence.keys; key++)
        out.received[key] = attn_run_received(done, 0, 0, key).mean;
    attn_run_free(done);
    return out;
}

static void check(const numbers *n, attn_statistic statistic, double want) {
    double got = n->of_head[statistic];
    ck_assert_msg(fabs(got - want) <= 2e-6 * fmax(1, fabs(want)) || (isnan(got) && isnan(want)),
                  "%s: got %.9g, want %.9g", attn_statistic_names[statistic], got, want);
}

START_TEST(uniform_causal_rows) {
    enum { SIZE = 150 };
    mapped m;
    make(&m, 1, SIZE, SIZE, 0);
    m.request.causal = ATTN_CAUSAL_SQUARE;
    numbers n = numbers_of(&m);
    double harmonic = 0, logs = 0;
    for (int i = 1; i <= SIZE; i++) {
        harmonic += 1.0 / i;
        logs += log(i);
    }
    check(&n, ATTN_ENTROPY, logs / SIZE);
    check(&n, ATTN_NORMALIZED_ENTROPY, 1);
    check(&n, ATTN_EFFECTIVE_KEYS, (SIZE + 1) / 2.0);
    check(&n, ATTN_PARTICIPATION_RATIO, (SIZE + 1) / 2.0);
    check(&n, ATTN_CONFIDENCE, harmonic / SIZE);
    check(&n, ATTN_SINK_MASS, harmonic / SIZE);
    check(&n, ATTN_GINI, 0);
    check(&n, ATTN_CURRENT_TOKEN, harmonic / SIZE);
    check(&n, ATTN_NEXT_TOKEN, NAN);
    check(&n, ATTN_ROW_SUM_RESIDUAL, 0);
    check(&n, ATTN_DUPLICATE_TOKEN, NAN);
    ck_assert(fabs(n.received[SIZE - 1] - 1.0 / SIZE) < 1e-8);
}
END_TEST

/* Everything at one key a row: at −far the weights of the others are exactly 0, though they can be seen. */
static const float far = -1e4f;

START_TEST(identity) {
    enum { SIZE = 12 };
    float bias[SIZE * SIZE];
    for (size_t i = 0; i < SIZE * SIZE; i++)
        bias[i] = i % (SIZE + 1) == 0 ? 0 : far;
    mapped m;
    make(&m, 1, SIZE, SIZE, 0);
    m.sequence.bias = (attn_bias){bias, 0, SIZE};
    numbers n = numbers_of(&m);
    check(&n, ATTN_ENTROPY, 0);
    check(&n, ATTN_EFFECTIVE_KEYS, 1);
    check(&n, ATTN_CONFIDENCE, 1);
    check(&n, ATTN_MEAN_DISTANCE, 0);
    check(&n, ATTN_CURRENT_TOKEN, 1);
    check(&n, ATTN_PREVIOUS_TOKEN, 0);
    check(&n, ATTN_NEXT_TOKEN, 0);
    check(&n, ATTN_COVERAGE_90, 1);
    check(&n, ATTN_GINI, (SIZE - 1.0) / SIZE);
    check(&n, ATTN_SINK_MASS, 1.0 / SIZE);
    check(&n, ATTN_SCORE_MIN, (double)far);
    check(&n, ATTN_SCORE_MAX, 0);
}
END_TEST

/* Row i attends to i − 1; row 0 to itself, or to nothing. */
static void shift_by_one(mapped *m, float *bias, size_t size, bool first_has_key) {
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            bias[i * size + j] = i == 0 && !first_has_key           ? -INFINITY
                                 : j + 1 == i || (i == 0 && j == 0) ? 0
                                                                    : far;
    make(m, 1, size, size, 0);
    m->sequence.bias = (attn_bias){bias, 0, size};
}

START_TEST(shifted_by_one) {
    enum { SIZE = 10 };
    float bias[SIZE * SIZE];
    mapped m;
    shift_by_one(&m, bias, SIZE, false);
    numbers n = numbers_of(&m);
    check(&n, ATTN_PREVIOUS_TOKEN, 1);
    check(&n, ATTN_MEAN_DISTANCE, 1);
    check(&n, ATTN_POSITIONAL_PREVIOUS, 1);
    check(&n, ATTN_POSITIONAL_NEXT, 0);
    check(&n, ATTN_ROW_SUM_RESIDUAL, 1.0 / SIZE);
    shift_by_one(&m, bias, SIZE, true);
    n = numbers_of(&m);
    check(&n, ATTN_PREVIOUS_TOKEN, 1);
    check(&n, ATTN_MEAN_DISTANCE, (SIZE - 1.0) / SIZE);
    check(&n, ATTN_LOCAL_MASS_1, 1);
    check(&n, ATTN_POSITIONAL_PREVIOUS, (SIZE - 1.0) / SIZE);
    check(&n, ATTN_ROW_SUM_RESIDUAL, 0);
}
END_TEST

/* Tokens repeated once: a row of the second half attends behind its token's first place. */
START_TEST(perfect_induction) {
    enum { PERIOD = 6, SIZE = 2 * PERIOD };
    float bias[SIZE * SIZE];
    uint32_t tokens[SIZE];
    for (size_t i = 0; i < SIZE; i++) {
        tokens[i] = (uint32_t)(i % PERIOD);
        for (size_t j = 0; j < SIZE; j++)
            bias[i * SIZE + j] = j == (i < PERIOD ? i : i - PERIOD + 1) ? 0 : far;
    }
    mapped m;
    make(&m, 1, SIZE, SIZE, 0);
    m.sequence.bias = (attn_bias){bias, 0, SIZE};
    m.sequence.tokens = tokens;
    numbers n = numbers_of(&m);
    check(&n, ATTN_INDUCTION, 0.5);
    check(&n, ATTN_DUPLICATE_TOKEN, 0);
}
END_TEST

/* A map whose weights are shares is that map: what the score asks for is not normalised away. */
START_TEST(coverage_and_gini_of_a_known_row) {
    const float row[] = {logf(0.5f), logf(0.3f), logf(0.15f), logf(0.05f)};
    mapped m;
    make(&m, 1, 1, 4, 0);
    m.request.context = zeros;
    m.sequence.bias = (attn_bias){row, 0, 0};
    numbers n = numbers_of(&m);
    check(&n, ATTN_COVERAGE_90, 3);
    check(&n, ATTN_GINI, (-3 * 0.05 - 0.15 + 0.3 + 3 * 0.5) / 4);
    check(&n, ATTN_CONFIDENCE, 0.5);
    check(&n, ATTN_MEAN_DISTANCE, NAN);
    check(&n, ATTN_SINK_MASS, NAN);
}
END_TEST

/* Statistics are taken beside any other result, of the chosen heads, and repeat their bits. */
START_TEST(same_bits_beside_other_results) {
    enum { HEADS = 4, SIZE = 140 };
    static float bias[HEADS * SIZE * SIZE];
    for (size_t i = 0; i < HEADS * SIZE * SIZE; i++)
        bias[i] = (float)((i * 2654435761u) % 1000u) / 250.0f;
    mapped m;
    make(&m, HEADS, SIZE, SIZE, 0);
    m.sequence.bias = (attn_bias){bias, SIZE * SIZE, SIZE};
    attn_run *alone = run(&m, 1);
    const size_t chosen[] = {3, 1}, rows[] = {7};
    m.request.heads = chosen;
    m.request.head_count = 2;
    m.request.queries = rows;
    m.request.query_count = 1;
    for (unsigned more = 0; more < 3; more++) {
        m.request.want = ATTN_WANT_STATISTICS | (more > 0 ? ATTN_WANT_MAPS : ATTN_WANT_OUTPUTS);
        m.request.average_heads = more == 2;
        attn_run *beside = run(&m, 3);
        for (size_t slot = 0; slot < 2; slot++) {
            double want[ATTN_STATISTICS_OF_HEADS], got[ATTN_STATISTICS_OF_HEADS];
            attn_run_statistics(alone, 0, chosen[slot], want);
            attn_run_statistics(beside, 0, slot, got);
            ck_assert_mem_eq(got, want, ATTN_NEXT_TOKEN * sizeof *got);
            for (size_t key = 0; key < SIZE; key++)
                ck_assert(attn_run_received(beside, 0, slot, key).total ==
                          attn_run_received(alone, 0, chosen[slot], key).total);
        }
        attn_run_free(beside);
    }
    attn_run_free(alone);
}
END_TEST

static int is_vector(const struct dirent *entry) {
    return strstr(entry->d_name, ".safetensors") != NULL;
}

static size_t option(const vector *file, const char *key) {
    return strtoull(vector_option(file, key), NULL, 10);
}

/* The request that a file holds; `tokens` has room. */
static void from_file(mapped *m, const vector *file, uint32_t *tokens) {
    const vector_tensor *bias = vector_get(file, "bias"), *padding = vector_find(file, "padding"),
                        *mask = vector_find(file, "mask"), *labels = vector_find(file, "tokens");
    size_t queries = bias->shape[1], keys = bias->shape[2];
    make(m, bias->shape[0], queries, keys, option(file, "extra_keys"));
    ck_assert(keys <= MOST_POSITIONS && m->layer.heads <= MOST_HEADS && m->layer.extra_keys <= MOST_EXTRA);
    m->sequence.bias = (attn_bias){bias->floats, queries * keys, keys};
    if (padding) m->sequence.padding = padding->bytes;
    if (mask) m->sequence.mask = (attn_mask){mask->bytes, 0, keys};
    for (size_t i = 0; labels && i < keys; i++)
        tokens[i] = labels->bytes[i];
    if (labels) m->sequence.tokens = tokens;
    if (option(file, "cross")) m->request.context = zeros;
    m->request.causal = option(file, "causal") ? ATTN_CAUSAL_SQUARE : ATTN_CAUSAL_OFF;
    m->request.window = option(file, "window");
    m->request.window_given = true;
}

static void check_number(const char *name, const char *what, size_t at, double got, double want) {
    bool agrees = isnan(want) ? isnan(got) : fabs(got - want) <= 2e-6 * fmax(1, fabs(want));
    ck_assert_msg(agrees, "%s: %s of head %zu: got %.9g, want %.9g", name, what, at, got, want);
}

static void check_file(const char *name) {
    char path[1024], words[1024];
    snprintf(path, sizeof path, "%s/%s", STATISTICS_VECTORS, name);
    vector *file = vector_read(path);
    uint32_t tokens[MOST_POSITIONS];
    mapped m;
    from_file(&m, file, tokens);
    attn_run *done = run(&m, 2);
    const vector_tensor *want = vector_get(file, "numbers"), *received = vector_get(file, "received"),
                        *total = vector_get(file, "total");
    ck_assert_uint_eq(want->shape[1], ATTN_STATISTICS_OF_HEADS);
    for (size_t head = 0; head < m.layer.heads; head++) {
        double got[ATTN_STATISTICS_OF_HEADS];
        attn_run_statistics(done, 0, head, got);
        snprintf(words, sizeof words, "%s", vector_option(file, "names"));
        char *rest = words;
        for (size_t i = 0; i < ATTN_STATISTICS_OF_HEADS; i++) {
            const char *word = strsep(&rest, " ");
            ck_assert_str_eq(word, attn_statistic_names[i]);
            check_number(name, word, head, got[i], want->doubles[head * ATTN_STATISTICS_OF_HEADS + i]);
        }
        size_t columns = received->shape[1];
        for (size_t key = 0; key < columns; key++) {
            attn_received column = attn_run_received(done, 0, head, key);
            check_number(name, "received_attention", head, column.mean,
                         received->doubles[head * columns + key]);
            check_number(name, "received_total", head, column.total, total->doubles[head * columns + key]);
        }
    }
    attn_run_free(done);
    vector_free(file);
}

START_TEST(agree_with_numpy) {
    struct dirent **names;
    int count = scandir(STATISTICS_VECTORS, &names, is_vector, alphasort);
    ck_assert_int_ge(count, 13);
    for (int i = 0; i < count; i++) {
        check_file(names[i]->d_name);
        free(names[i]);
    }
    free(names);
}
END_TEST

ATTND_SUITE(statistics) {
    Suite *suite = suite_create("statistics");
    TCase *cases = tcase_create("statistics");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_test(cases, uniform_causal_rows);
    tcase_add_test(cases, identity);
    tcase_add_test(cases, shifted_by_one);
    tcase_add_test(cases, perfect_induction);
    tcase_add_test(cases, coverage_and_gini_of_a_known_row);
    tcase_add_test(cases, same_bits_beside_other_results);
    tcase_add_test(cases, agree_with_numpy);
    suite_add_tcase(suite, cases);
    return suite;
}
