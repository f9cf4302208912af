/* One worker that takes turns: jobs that wait for each other at a gate, and a run that is cancelled between two tiles. */
#ifndef TESTS_UNIT_ENGINE_ATTENTION_TURNS_H
#define TESTS_UNIT_ENGINE_ATTENTION_TURNS_H

#include "engine/attention/request.h"

#include <pthread.h>

/* A job of one tile that holds its worker until the gate can be locked. The gate must outlive the pool. */
attn_job turns_blocker(pthread_mutex_t *gate);

/* Runs a plan on one worker, cancels it after its first tile and asserts that its memory is back before the worker's next
 * turn has ended. The plan must have more than two tiles. */
void turns_check_cancelled_run(const attn_plan *plan);

#endif
