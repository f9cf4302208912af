/* A few queries over many keys (work.h): there is nothing to do but to read keys and values once. */
#include "work.h"

#include <stdio.h>

enum { WIDTH = 128, KEYS = 131072, QUICK_KEYS = 16384, TURNS = 9, QUICK_TURNS = 3 };

typedef struct timed_work {
    const srv_bench_work *work;
    attn_pool *pool;
} timed_work;

static bool run_work(void *context) {
    const timed_work *timed = context;
    return srv_bench_work_run(timed->work, timed->pool);
}

static json_t *measure(size_t queries, size_t keys, const srv_bench_options *options, attn_error *error) {
    srv_bench_work work;
    if (srv_bench_work_few(queries, keys, WIDTH, attn_pool_workers(options->pool), &work, error) != ATTN_OK)
        return NULL;
    timed_work timed = {&work, options->pool};
    double ours[TURNS], share[TURNS];
    size_t turns = options->quick ? QUICK_TURNS : TURNS, turn = 0;
    for (; turn < turns; turn++) {
        double reading = srv_bench_read_seconds(options->pool, work.context, work.values, keys * WIDTH);
        ours[turn] = srv_bench_seconds(run_work, &timed);
        if (reading <= 0 || ours[turn] <= 0) break;
        share[turn] = reading / ours[turn];
    }
    srv_bench_work_done(&work);
    if (turn < turns) {
        attn_error_set(error, ATTN_NO_MEMORY, NULL, "%zu queries over %zu keys could not be measured",
                       queries, keys);
        return NULL;
    }
    double seconds = srv_bench_median(ours, turns), bytes = 2 * (double)(keys * WIDTH * sizeof(float));
    return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f}", "queries", (json_int_t)queries, "keys",
                     (json_int_t)keys, "width", (json_int_t)WIDTH, "ms", seconds * 1e3,
                     "gigabytes_per_second", bytes / seconds / 1e9, "share", srv_bench_median(share, turns));
}

json_t *srv_bench_few_queries(const srv_bench_options *options, attn_error *error) {
    json_t *list = json_array();
    for (size_t queries = 1; list && queries <= 8; queries *= 2) {
        json_t *row = measure(queries, options->quick ? QUICK_KEYS : KEYS, options, error);
        if (json_array_append_new(list, row) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}
