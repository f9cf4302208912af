/* What a request costs in bytes, told before anything of that size is allocated. Pure; any thread. */
#ifndef SRV_JOBS_COST_H
#define SRV_JOBS_COST_H

#include "server/codec/ask.h"

#include <stddef.h>

/* Upper bound for the tree that a JSON text becomes while it is read, from a count of its commas and brackets;
 * SIZE_MAX where it overflows. */
size_t srv_cost_of_tree(const char *text, size_t size);

/* Upper bound for the text of the answer to a planned request; SIZE_MAX where it overflows. */
size_t srv_cost_of_answer(const srv_ask *ask, const attn_plan *plan);

/* Of everything in it but the tensors. */
size_t srv_cost_of_small_text(const srv_ask *ask, const attn_plan *plan);

/* Upper bound for the memory that sending that answer takes beside the run: the list of its parts, and the text that
 * is written ahead of the reader; SIZE_MAX where it overflows. */
size_t srv_cost_of_sending(const srv_ask *ask, const attn_plan *plan);

#endif
