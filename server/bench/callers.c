/* Many small requests at once (work.h): what all of them together reach. */
#include "work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { CALLERS = 16, CALLS = 40, QUICK_CALLS = 8, TURNS = 9, QUICK_TURNS = 3 };

/* Threads that ask again as soon as they are answered. */
typedef struct crowd {
    const srv_bench_work *work;
    attn_pool *pool;
    int calls; /* of each */
    atomic_bool failed;
} crowd;

static void *call(void *context) {
    crowd *c = context;
    for (int i = 0; i < c->calls; i++)
        if (!srv_bench_work_run(c->work, c->pool)) atomic_store(&c->failed, true);
    return NULL;
}

static bool all_call(void *context) {
    crowd *c = context;
    pthread_t threads[CALLERS];
    size_t started = 0;
    while (started < CALLERS && pthread_create(&threads[started], NULL, call, c) == 0)
        started++;
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started == CALLERS && !atomic_load(&c->failed);
}

json_t *srv_bench_callers(const srv_bench_options *options, attn_error *error) {
    const srv_bench_shape shape = {1, 16, 384, 12, false, false};
    srv_bench_work work;
    if (srv_bench_work_new(&shape, attn_pool_workers(options->pool), &work, error) != ATTN_OK) return NULL;
    crowd c = {.work = &work, .pool = options->pool, .calls = options->quick ? QUICK_CALLS : CALLS};
    double seconds[TURNS], share[TURNS], limit = 1, flops = (double)(c.calls * CALLERS) * work.flops;
    size_t turns = options->quick ? QUICK_TURNS : TURNS, turn = 0;
    for (; turn < turns; turn++) {
        limit = srv_bench_limit_seconds(options->pool);
        seconds[turn] = srv_bench_seconds(all_call, &c);
        if (limit <= 0 || seconds[turn] <= 0) break;
        share[turn] = flops / seconds[turn] / (srv_bench_limit_flops() / limit);
    }
    srv_bench_work_done(&work);
    if (turn == turns)
        return json_pack("{s:s, s:i, s:f, s:f}", "shape", "1x16 D384 H12", "callers", CALLERS,
                         "requests_per_second", c.calls * CALLERS / srv_bench_median(seconds, turns), "share",
                         srv_bench_median(share, turns));
    attn_error_set(error, ATTN_NO_MEMORY, NULL, "%d callers at once could not be measured", CALLERS);
    return NULL;
}
