/* The worker pool (pool.h). One mutex guards the queue and every job's counters; a tile is long enough (tens
 * of microseconds at least) that taking it twice a tile does not show, and the order of events stays easy to
 * reason about.
 *
 * The queue holds the jobs that have a tile left to claim in their present stage. A worker takes the first
 * job's next tile and moves the job to the end, so jobs take turns. A job whose tiles are all claimed is off
 * the queue until the last of them returns and opens the next stage. */
#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { MAX_WORKERS = 1024 };

typedef struct worker {
    attn_pool *pool;
    size_t index;
    pthread_t thread;
} worker;

struct attn_pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* the queue may have something, or stopping may be over */
    attn_job *first, *last;
    size_t live; /* submitted jobs whose done has not returned */
    bool stopping;
    size_t worker_count;
    worker workers[];
};

static void enqueue(attn_pool *pool, attn_job *job) {
    job->next = NULL;
    if (pool->last)
        pool->last->next = job;
    else
        pool->first = job;
    pool->last = job;
}

static attn_job *dequeue(attn_pool *pool) {
    attn_job *job = pool->first;
    pool->first = job->next;
    if (!pool->first) pool->last = NULL;
    return job;
}

/* Moves past stages without tiles. False when the job has no stage left. */
static bool has_stage(attn_job *job) {
    while (job->stage < job->stage_count && job->stages[job->stage].tiles == 0)
        job->stage++;
    return job->stage < job->stage_count;
}

/* Ends a job; the lock is held on entry and return, not while `done` runs. */
static void finish(attn_pool *pool, attn_job *job) {
    bool skipped = job->skipped;
    pthread_mutex_unlock(&pool->lock);
    job->done(job->context, skipped);
    pthread_mutex_lock(&pool->lock);
    pool->live--;
    if (pool->live == 0 && pool->stopping) pthread_cond_broadcast(&pool->work);
}

/* All tiles of the present stage are claimed and none runs: the next stage opens, or the job ends. */
static void advance(attn_pool *pool, attn_job *job) {
    job->stage++;
    job->next_tile = 0;
    if (!job->skipped && has_stage(job)) {
        enqueue(pool, job);
        pthread_cond_broadcast(&pool->work);
    } else {
        finish(pool, job);
    }
}

/* Claims and runs one tile of the first job in the queue. */
static void run_one_tile(attn_pool *pool, size_t worker_index) {
    attn_job *job = dequeue(pool);
    const attn_stage *stage = &job->stages[job->stage];
    bool runs = stage->tiles > 0 && !atomic_load_explicit(&job->cancelled, memory_order_relaxed);
    size_t tile = job->next_tile++;
    if (!runs) {
        /* A cancelled job, or one that never had a tile: nothing more is claimed. */
        job->skipped = job->skipped || stage->tiles > 0;
        job->next_tile = stage->tiles;
    } else if (job->next_tile < stage->tiles) {
        enqueue(pool, job);
    }
    bool all_claimed = job->next_tile >= stage->tiles;
    if (runs) {
        job->running++;
        pthread_mutex_unlock(&pool->lock);
        stage->run(job->context, tile, worker_index);
        pthread_mutex_lock(&pool->lock);
        job->running--;
        all_claimed = job->next_tile >= stage->tiles;
    }
    if (all_claimed && job->running == 0) advance(pool, job);
}

static void *worker_main(void *argument) {
    worker *self = argument;
    attn_pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (pool->first)
            run_one_tile(pool, self->index);
        else if (pool->stopping && pool->live == 0)
            break;
        else
            pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Lets the first `count` workers run out of work and joins them. */
static void stop_workers(attn_pool *pool, size_t count) {
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < count; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

/* Starts the threads with every signal blocked: signals belong to the program's main thread. */
static size_t start_workers(attn_pool *pool) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    size_t started = 0;
    for (; started < pool->worker_count; started++) {
        worker *next = &pool->workers[started];
        *next = (worker){.pool = pool, .index = started};
        if (pthread_create(&next->thread, NULL, worker_main, next) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void destroy(attn_pool *pool) {
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

attn_code attn_pool_new(size_t workers, attn_pool **out, attn_error *error) {
    if (workers < 1 || workers > MAX_WORKERS)
        return attn_error_set(error, ATTN_RANGE, NULL, "%zu workers; a pool takes 1 to %d", workers,
                              MAX_WORKERS);
    attn_pool *pool = calloc(1, sizeof *pool + workers * sizeof pool->workers[0]);
    if (!pool)
        return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for a pool of %zu workers", workers);
    pool->worker_count = workers;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    size_t started = start_workers(pool);
    if (started < workers) {
        stop_workers(pool, started);
        destroy(pool);
        return attn_error_set(error, ATTN_NO_MEMORY, NULL,
                              "the system gave %zu of %zu worker threads; fewer workers may do", started,
                              workers);
    }
    *out = pool;
    return ATTN_OK;
}

void attn_pool_free(attn_pool *pool) {
    if (!pool) return;
    stop_workers(pool, pool->worker_count);
    destroy(pool);
}

size_t attn_pool_workers(const attn_pool *pool) {
    return pool->worker_count;
}

void attn_pool_submit(attn_pool *pool, attn_job *job) {
    job->stage = job->next_tile = job->running = 0;
    job->skipped = false;
    pthread_mutex_lock(&pool->lock);
    pool->live++;
    /* A job without any tile ends on a worker too: `done` never runs inside submit. */
    if (!has_stage(job)) job->stage = 0;
    enqueue(pool, job);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

void attn_job_cancel(attn_job *job) {
    atomic_store_explicit(&job->cancelled, true, memory_order_relaxed);
}
