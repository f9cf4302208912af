/* A job that holds a worker, so that what is submitted meanwhile waits together. */
#ifndef TESTS_UNIT_ENGINE_SCHED_BLOCKER_H
#define TESTS_UNIT_ENGINE_SCHED_BLOCKER_H

#include "engine/sched/pool.h"

#include <pthread.h>

/* One tile that ends when the gate can be locked. Gate and job must outlive the pool. */
attn_job blocker_of(pthread_mutex_t *gate);

#endif
