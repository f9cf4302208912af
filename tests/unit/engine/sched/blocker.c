/* A job that holds a worker (blocker.h). */
#include "blocker.h"

#include <check.h>

static void wait_at_gate(void *context, size_t tile, size_t worker) {
    (void)tile, (void)worker;
    pthread_mutex_lock(context);
    pthread_mutex_unlock(context);
}

static void has_ended(void *context, bool cancelled) {
    (void)context;
    ck_assert(!cancelled);
}

attn_job blocker_of(pthread_mutex_t *gate) {
    return (attn_job){.stages = {{wait_at_gate, 1}}, .stage_count = 1, .context = gate, .done = has_ended};
}
