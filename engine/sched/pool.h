/* The worker pool: jobs made of stages, stages made of tiles.
 *
 * A tile is a piece of work of some ten microseconds to some milliseconds; workers claim tiles one at a time,
 * taking turns between the jobs that run, so a large job spreads over all workers and a small one waits for
 * one tile at most. The last tile of a stage opens the next; after the last stage the job's `done` runs once,
 * on a worker. How a job is cut into tiles depends on its shape alone, never on the number of workers: that
 * is what makes results repeat their bits.
 *
 * Company: where tiles of several jobs read the same large thing (a layer's weights), a worker that takes one of them
 * takes the same tile of every job that waits in the queue with it, and runs them as one. Nobody waits for company: who
 * is alone in the queue is run alone.
 *
 * Any thread may submit and cancel; nothing here allocates after attn_pool_new. */
#ifndef ATTN_SCHED_POOL_H
#define ATTN_SCHED_POOL_H

#include "../base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct attn_pool attn_pool;
typedef struct attn_job attn_job;

/* Runs tile `tile` of a stage. `worker` is 0 … workers-1 and tells which scratch memory is free to use: no
 * two tiles run at the same time under the same number. */
typedef void attn_tile_fn(void *context, size_t tile, size_t worker);

typedef struct attn_stage {
    attn_tile_fn *run;
    size_t tiles; /* 0: the stage is passed over */
} attn_stage;

/* Runs tile `tile` for `count` jobs at once; contexts[i] is that of job i. What comes out must not depend on who else
 * is there. */
typedef void attn_together_fn(void *const *contexts, size_t count, size_t tile, size_t worker);

/* Which other jobs a stage's tiles may be run with: those whose present stage has the same `run` and `key`, as many
 * tiles, and the same tile next. With `run` NULL: none. */
typedef struct attn_sharing {
    attn_together_fn *run;
    const void *key;
} attn_sharing;

enum {
    ATTN_JOB_STAGES = 4,
    ATTN_COMPANY = 16, /* the most jobs of one tile */
};

/* Filled by the caller up to `done`, zero behind it; must stay in place until `done` has been called, which
 * may free it: the pool does not touch a job after calling `done`. */
struct attn_job {
    attn_stage stages[ATTN_JOB_STAGES];
    attn_sharing sharing[ATTN_JOB_STAGES]; /* where `run` is set it replaces the stage's */
    size_t stage_count;
    void *context; /* handed to the tiles and to done */
    /* On a worker, no lock held; cancelled: some tile did not run. */
    void (*done)(void *context, bool cancelled);

    /* The pool's own. */
    attn_job *next;
    size_t stage, next_tile, running;
    bool skipped;
    atomic_bool cancelled;
};

/* How many workers this process should have: the processors it may run on (affinity), at most its cgroup's
 * CPU quota rounded up (v2 cpu.max, v1 cpu.cfs_quota_us), at least 1. */
size_t attn_pool_default_workers(void);

/* Starts `workers` threads (1 … 1024) with all signals blocked. Errors: ATTN_RANGE, ATTN_NO_MEMORY. */
attn_code attn_pool_new(size_t workers, attn_pool **out, attn_error *error);

/* Waits for every submitted job to finish, then joins the threads. NULL is fine. */
void attn_pool_free(attn_pool *pool);

size_t attn_pool_workers(const attn_pool *pool);

/* How many tiles have been run in company so far, each job's counted. Any thread. */
size_t attn_pool_shared_tiles(const attn_pool *pool);

/* Queues a job. Never fails and never waits. */
void attn_pool_submit(attn_pool *pool, attn_job *job);

/* Asks that no further tile of the job starts; tiles that run finish. `done` is called all the same. Safe at
 * any time from submit on; after `done` only attn_job_is_cancelled sees it. */
void attn_job_cancel(attn_job *job);
/* For tiles that take long: whether to give up. */
bool attn_job_is_cancelled(const attn_job *job);

#endif
