/* Cancelling between two tiles (cancelled_run.h). */
#include "cancelled_run.h"

#include "engine/sched/workspaces.h"
#include "tests/unit/engine/sched/blocker.h"

#include <check.h>
#include <pthread.h>

/* The worker does a tile of the run, the first of this job, and after the run has been let go the second. */
typedef struct bystander {
    attn_run *run;
    size_t freed;   /* kept bytes that the second tile finds */
    attn_code code; /* of the run's end; ATTN_OK: none yet */
} bystander;

static void cancel_then_look(void *context, size_t tile, size_t worker) {
    (void)worker;
    bystander *b = context;
    if (tile == 0) attn_run_cancel(b->run);
    if (tile == 1) b->freed = attn_workspaces_kept();
}

static void free_run(void *context, attn_run *ended, attn_code code) {
    ((bystander *)context)->code = code;
    attn_run_free(ended);
}

void cancelled_run_check(const attn_plan *plan) {
    attn_pool *pool = NULL;
    bystander b = {0};
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    attn_workspaces_keep(SIZE_MAX, 0);
    ck_assert_int_eq(attn_run_new(plan, &b.run, NULL), ATTN_OK);
    ck_assert_int_eq(attn_pool_new(1, &pool, NULL), ATTN_OK);
    attn_job blocker = blocker_of(&gate);
    attn_job canceller = {
        .stages = {{cancel_then_look, 2}}, .stage_count = 1, .context = &b, .done = blocker.done};
    pthread_mutex_lock(&gate);
    attn_pool_submit(pool, &blocker);
    attn_run_submit(b.run, pool, free_run, &b);
    attn_pool_submit(pool, &canceller);
    pthread_mutex_unlock(&gate);
    attn_pool_free(pool);
    ck_assert_int_eq(b.code, ATTN_CANCELLED);
    ck_assert_uint_eq(b.freed, plan->bytes);
    attn_workspaces_keep(0, 0);
}
