/* What becomes of a run's memory when it is cancelled between two tiles. */
#ifndef TESTS_UNIT_ENGINE_ATTENTION_CANCELLED_RUN_H
#define TESTS_UNIT_ENGINE_ATTENTION_CANCELLED_RUN_H

#include "engine/attention/request.h"

/* Runs a plan on one worker, cancels it after its first tile and asserts that its memory is back within one further turn of
 * the worker. The plan must have more than two tiles. */
void cancelled_run_check(const attn_plan *plan);

#endif
