/* Maps asked for in less than whole rows, their mean over heads and their k largest weights, against the
 * whole maps of the same random requests. */
#include "random_request.h"

#include "suites.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 150 };
static const uint64_t first_seed = 20180611;

/* The rows of a rank-3 (or, averaged over heads, rank-2) view, which are packed. */
typedef struct rows {
    const float *data;
    size_t heads, count, width; /* count: rows of one head */
} rows;

static rows rows_of(const attn_run *run, attn_result what, size_t n) {
    attn_view view = attn_run_view(run, what, n);
    if (view.rank == 2) return (rows){view.data, 1, view.shape[0], view.shape[1]};
    ck_assert_uint_eq(view.rank, 3);
    return (rows){view.data, view.shape[0], view.shape[1], view.shape[2]};
}

static void check_mean(const random_request *random, const attn_run *whole, const attn_run *mean, size_t n) {
    rows all = rows_of(whole, ATTN_MAPS, n), one = rows_of(mean, ATTN_MAPS, n);
    ck_assert_uint_eq(attn_run_view(mean, ATTN_MAPS, n).rank, 2);
    ck_assert(one.count == all.count && one.width == all.width);
    size_t map = all.count * all.width;
    for (size_t i = 0; i < map; i++) {
        double sum = 0;
        for (size_t h = 0; h < all.heads; h++)
            sum += (double)all.data[h * map + i];
        double want = sum / (double)all.heads, got = (double)one.data[i];
        ck_seed(fabs(got - want) <= 1e-6, random, "sequence %zu, mean[%zu]: got %.9g, want %.9g", n, i, got,
                want);
    }
}

/* One row's k largest, in falling order and ties to the lower key, and what they leave. */
static void check_largest(const random_request *random, const float *row, size_t width, const int32_t *keys,
                          const float *weights, size_t k, float rest) {
    double left = 0;
    for (size_t j = 0; j < width; j++)
        left += (double)row[j];
    for (size_t i = 0; i < k; i++) {
        if (keys[i] < 0) { /* padded: no key of non-zero weight is left */
            ck_seed(keys[i] == -1 && weights[i] == 0 && fabs(left) <= 1e-6, random, "entry %zu is padded", i);
            continue;
        }
        size_t key = (size_t)keys[i];
        ck_seed(key < width && weights[i] == row[key] && weights[i] > 0, random,
                "entry %zu: key %zu, weight %.9g", i, key, (double)weights[i]);
        ck_seed(i == 0 || weights[i] < weights[i - 1] ||
                    (weights[i] == weights[i - 1] && keys[i - 1] >= 0 && keys[i] > keys[i - 1]),
                random, "entry %zu is out of order", i);
        left -= (double)weights[i];
    }
    size_t larger = 0;
    for (size_t j = 0; j < width; j++)
        larger += row[j] > weights[k - 1];
    ck_seed(larger < k, random, "%zu keys outweigh the last of %zu", larger, k);
    ck_seed(fabs((double)rest - left) <= 1e-6, random, "the rest is %.9g, want %.9g", (double)rest, left);
}

static void check_top_scores(const random_request *random, const rows *scores, const rows *top,
                             const int32_t *keys) {
    for (size_t i = 0; i < top->heads * top->count; i++)
        for (size_t c = 0; c < top->width; c++) {
            int32_t key = keys[i * top->width + c];
            float got = top->data[i * top->width + c];
            float want = key < 0 ? -INFINITY : scores->data[i * scores->width + (size_t)key];
            ck_seed(got == want, random, "row %zu, score %zu: got %.9g, want %.9g", i, c, (double)got,
                    (double)want);
        }
}

static void check_top(const random_request *random, const attn_run *base, const attn_run *run, size_t n,
                      size_t k) {
    rows all = rows_of(base, ATTN_MAPS, n), top = rows_of(run, ATTN_MAPS, n);
    attn_view rest = attn_run_view(run, ATTN_REST, n);
    const int32_t *keys = attn_run_top_keys(run, n);
    ck_assert(top.heads == all.heads && top.count == all.count && top.width == k);
    ck_assert_uint_eq(attn_view_count(&rest), all.heads * all.count);
    for (size_t i = 0; i < all.heads * all.count; i++)
        check_largest(random, all.data + i * all.width, all.width, keys + i * k, top.data + i * k, k,
                      rest.data[i]);
    if (random->request.want & ATTN_WANT_SCORES) {
        rows whole_scores = rows_of(base, ATTN_SCORES, n), scores = rows_of(run, ATTN_SCORES, n);
        check_top_scores(random, &whole_scores, &scores, keys);
    }
}

/* The fewest keys of a sequence; a larger k than these leaves entries without a key. */
static size_t narrowest(const attn_request *request) {
    size_t width = SIZE_MAX;
    for (size_t n = 0; n < request->sequence_count; n++)
        if (request->sequences[n].keys < width) width = request->sequences[n].keys;
    return width;
}

START_TEST(reduced_maps_agree_with_whole_ones) {
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        random_request random;
        random_request_init(&random, first_seed + round);
        attn_request *request = &random.request;
        bool average = random_below(&random, 2) == 0;
        request->want = ATTN_WANT_MAPS | (average ? 0 : ATTN_WANT_SCORES) |
                        (random_below(&random, 2) == 0 ? ATTN_WANT_OUTPUTS : 0);
        attn_run *base = random_request_run(&random, pool);
        if (average) {
            request->average_heads = true;
            attn_run *mean = random_request_run(&random, pool);
            for (size_t n = 0; n < request->sequence_count; n++)
                check_mean(&random, base, mean, n);
            attn_run_free(base);
            base = mean;
        }
        request->top_k = 1 + random_below(&random, narrowest(request) + 3);
        attn_run *top = random_request_run(&random, pool);
        for (size_t n = 0; n < request->sequence_count; n++)
            check_top(&random, base, top, n, request->top_k);
        attn_run_free(top);
        attn_run_free(base);
        random_request_done(&random);
    }
    attn_pool_free(pool);
}
END_TEST

ATTND_SUITE(reduced_maps) {
    Suite *suite = suite_create("reduced_maps");
    TCase *cases = tcase_create("random requests");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_test(cases, reduced_maps_agree_with_whole_ones);
    suite_add_tcase(suite, cases);
    return suite;
}
