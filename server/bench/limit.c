/* What this machine can do at best, by all workers of a pool (work.h): multiply, and read memory. */
#include "work.h"

#include <pthread.h>
#include <stdlib.h>

enum { M = 1024, N = 2304, K = 768 };

/* A job of one stage, and the thread that waits for its end. */
typedef struct waited_job {
    attn_job job;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_over;
} waited_job;

static void end_job(void *context, bool cancelled) {
    (void)cancelled;
    waited_job *waited = ((void **)context)[0];
    pthread_mutex_lock(&waited->lock);
    waited->is_over = true;
    pthread_cond_signal(&waited->ended);
    pthread_mutex_unlock(&waited->lock);
}

/* `context` begins with a pointer, which this sets. */
static void run_tiles(attn_pool *pool, attn_tile_fn *run, size_t tiles, void *context) {
    waited_job waited = {
        .job = {.stages = {{run, tiles}}, .stage_count = 1, .context = context, .done = end_job},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .ended = PTHREAD_COND_INITIALIZER};
    ((void **)context)[0] = &waited;
    attn_pool_submit(pool, &waited.job);
    pthread_mutex_lock(&waited.lock);
    while (!waited.is_over)
        pthread_cond_wait(&waited.ended, &waited.lock);
    pthread_mutex_unlock(&waited.lock);
}

typedef struct product {
    waited_job *waited;
    attn_pool *pool;
    float *a, *b, *c; /* M×K, N×K, M×N */
} product;

/* One worker's columns. */
static void multiply(void *context, size_t tile, size_t worker) {
    (void)worker;
    const product *p = context;
    size_t workers = attn_pool_workers(p->pool), begin = N * tile / workers, end = N * (tile + 1) / workers;
    attn_gemm(true, M, end - begin, K, 1, p->a, K, p->b + begin * K, K, 0, p->c + begin, N);
}

static bool multiply_all(void *context) {
    product *p = context;
    run_tiles(p->pool, multiply, attn_pool_workers(p->pool), p);
    return true;
}

double srv_bench_limit_flops(void) {
    return 2.0 * (double)M * (double)N * (double)K;
}

double srv_bench_limit_seconds(attn_pool *pool) {
    enum { FLOATS = M * K + N * K + M * N };
    float *floats = malloc(FLOATS * sizeof *floats);
    for (size_t i = 0; floats && i < FLOATS; i++)
        floats[i] = (float)(i % 13) / 13.0F;
    product p = {.pool = pool, .a = floats, .b = floats + M * K, .c = floats + M * K + N * K};
    double seconds = floats ? srv_bench_seconds(multiply_all, &p) : -1;
    free(floats);
    return seconds;
}

/* Pieces of two arrays, smaller than caches. */
typedef struct reading {
    waited_job *waited;
    attn_pool *pool;
    const float *first, *second;
    size_t floats; /* of each */
    atomic_uint sink;
} reading;

enum { PIECE = 65536, LANES = 64 };

static float sum(const float *values, size_t count) {
    float lanes[LANES] = {0}, total = 0;
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += values[i + lane];
    for (size_t lane = 0; lane < LANES; lane++)
        total += lanes[lane];
    return total;
}

static void read_piece(void *context, size_t tile, size_t worker) {
    (void)worker;
    reading *r = context;
    size_t begin = tile * PIECE, count = r->floats - begin < PIECE ? r->floats - begin : PIECE;
    bool is_odd = sum(r->first + begin, count) + sum(r->second + begin, count) > 1;
    atomic_fetch_add_explicit(&r->sink, is_odd, memory_order_relaxed);
}

static bool read_all(void *context) {
    reading *r = context;
    run_tiles(r->pool, read_piece, (r->floats + PIECE - 1) / PIECE, r);
    return true;
}

double srv_bench_read_seconds(attn_pool *pool, const float *first, const float *second, size_t floats) {
    reading r = {.pool = pool, .first = first, .second = second, .floats = floats};
    return srv_bench_seconds(read_all, &r);
}
