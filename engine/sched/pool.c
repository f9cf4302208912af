/* The worker pool (pool.h). One mutex guards the queue and every job's counters; a tile is long enough (tens
 * of microseconds at least) that taking it twice a tile does not show, and the order of events stays easy to
 * reason about.
 *
 * The queue holds the jobs that have a tile left to claim in their present stage. A worker takes the first
 * job's next tile and moves the job to the end, so jobs take turns. A job whose tiles are all claimed is off
 * the queue until the last of them returns and opens the next stage. */
#include "pool.h"

#include "workspaces.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_WORKERS = 1024, LOOK_OUT_NS = 50000 };

typedef struct worker {
    attn_pool *pool;
    size_t index;
    pthread_t thread;
} worker;

struct attn_pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* the queue may have something, or stopping may be over */
    attn_job *first, *last;
    atomic_size_t queued;       /* written under the lock */
    atomic_size_t shared_tiles; /* written under the lock */
    size_t live;                /* submitted jobs whose done has not returned */
    bool stopping;
    size_t worker_count;
    worker workers[];
};

static void enqueue(attn_pool *pool, attn_job *job) {
    atomic_fetch_add_explicit(&pool->queued, 1, memory_order_relaxed);
    job->next = NULL;
    if (pool->last)
        pool->last->next = job;
    else
        pool->first = job;
    pool->last = job;
}

static attn_job *dequeue(attn_pool *pool) {
    atomic_fetch_sub_explicit(&pool->queued, 1, memory_order_relaxed);
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

/* The jobs whose tile a worker runs as one. */
typedef struct company {
    attn_job *jobs[ATTN_COMPANY];
    void *contexts[ATTN_COMPANY];
    size_t count, tile;
} company;

bool attn_job_is_cancelled(const attn_job *job) {
    return atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

/* Claims the next tile of a job that is off the queue, where it goes back while it has others. */
static void join(attn_pool *pool, company *c, attn_job *job) {
    c->tile = job->next_tile++;
    job->running++;
    c->contexts[c->count] = job->context;
    c->jobs[c->count++] = job;
    if (job->next_tile < job->stages[job->stage].tiles) enqueue(pool, job);
}

static bool may_share(const attn_job *a, const attn_job *b) {
    const attn_sharing *mine = &a->sharing[a->stage], *theirs = &b->sharing[b->stage];
    return mine->run == theirs->run && mine->key == theirs->key && a->next_tile == b->next_tile &&
           a->stages[a->stage].tiles == b->stages[b->stage].tiles && !attn_job_is_cancelled(b);
}

/* Takes out of the queue whoever may share the tile that `job` has next, in their order. */
static size_t take_kin(attn_pool *pool, const attn_job *job, attn_job *kin[ATTN_COMPANY - 1]) {
    size_t count = 0;
    attn_job *before = NULL;
    for (attn_job *at = pool->first, *next; at && count < ATTN_COMPANY - 1; at = next) {
        next = at->next;
        if (!may_share(job, at)) {
            before = at;
            continue;
        }
        kin[count++] = at;
        atomic_fetch_sub_explicit(&pool->queued, 1, memory_order_relaxed);
        if (before)
            before->next = next;
        else
            pool->first = next;
        if (!next) pool->last = before;
    }
    return count;
}

/* A tile of `job` has returned, or none will run: where it was the last of its stage, the job moves on. */
static void settle(attn_pool *pool, attn_job *job) {
    if (job->next_tile >= job->stages[job->stage].tiles && job->running == 0) advance(pool, job);
}

/* Runs the claimed tiles; the lock is held on entry and return, not meanwhile. */
static void run_company(attn_pool *pool, const company *c, size_t worker_index) {
    const attn_job *first = c->jobs[0];
    attn_tile_fn *run = first->stages[first->stage].run;
    attn_together_fn *run_together = first->sharing[first->stage].run;
    if (c->count > 1) atomic_fetch_add_explicit(&pool->shared_tiles, c->count, memory_order_relaxed);
    pthread_mutex_unlock(&pool->lock);
    if (run_together)
        run_together(c->contexts, c->count, c->tile, worker_index);
    else
        run(c->contexts[0], c->tile, worker_index);
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < c->count; i++) { /* one by one: a job that nobody runs may be gone at any moment */
        c->jobs[i]->running--;
        settle(pool, c->jobs[i]);
    }
}

/* Claims and runs one tile of the first job in the queue, and the same tile of its company. */
static void run_one_tile(attn_pool *pool, size_t worker_index) {
    attn_job *job = dequeue(pool);
    size_t tiles = job->stages[job->stage].tiles;
    if (tiles == 0 || attn_job_is_cancelled(job)) { /* never had a tile, or gets no further one */
        job->skipped = job->skipped || tiles > 0;
        job->next_tile = tiles;
        settle(pool, job);
        return;
    }
    company c = {0};
    attn_job *kin[ATTN_COMPANY - 1];
    size_t kin_count = job->sharing[job->stage].run ? take_kin(pool, job, kin) : 0;
    join(pool, &c, job);
    for (size_t i = 0; i < kin_count; i++)
        join(pool, &c, kin[i]);
    run_company(pool, &c, worker_index);
}

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Looks out for work for a moment before sleeping: being woken takes longer than a stage of a small request does. The
 * lock is held on entry and return, not meanwhile. */
static void look_out(attn_pool *pool) {
    pthread_mutex_unlock(&pool->lock);
    uint64_t until = nanoseconds() + LOOK_OUT_NS;
    while (atomic_load_explicit(&pool->queued, memory_order_relaxed) == 0 && nanoseconds() < until)
        relax();
    pthread_mutex_lock(&pool->lock);
}

/* Sleeps until there may be something to do. One worker looks at the clock meanwhile: after a while without work the
 * memory that is kept for the next run goes back. */
static void wait_for_work(attn_pool *pool, size_t worker_index) {
    unsigned idle_ms = worker_index == 0 ? attn_workspaces_idle_ms() : 0;
    if (idle_ms == 0) {
        pthread_cond_wait(&pool->work, &pool->lock);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += idle_ms / 1000;
    until.tv_nsec += (long)(idle_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    bool is_over = pthread_cond_timedwait(&pool->work, &pool->lock, &until) == ETIMEDOUT;
    if (is_over && pool->live == 0) attn_workspaces_trim(0);
}

static void *worker_main(void *argument) {
    worker *self = argument;
    attn_pool *pool = self->pool;
    bool has_worked = false;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (pool->first) {
            run_one_tile(pool, self->index);
            has_worked = true;
        } else if (pool->stopping && pool->live == 0) {
            break;
        } else if (has_worked) {
            look_out(pool);
            has_worked = false;
        } else {
            wait_for_work(pool, self->index);
        }
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
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->work, &clock);
    pthread_condattr_destroy(&clock);
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

size_t attn_pool_shared_tiles(const attn_pool *pool) {
    return atomic_load_explicit(&pool->shared_tiles, memory_order_relaxed);
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
