/* The memory of runs, kept from one run to the next: pages fresh from the system cost a small request more than its
 * arithmetic. There is one store for the whole process, as memory is the process's; any thread.
 *
 * Nothing is kept until attn_workspaces_keep allows it. What is kept is exact: a block that is used again for less gives
 * the pages behind that back to the system first. */
#ifndef ATTN_SCHED_WORKSPACES_H
#define ATTN_SCHED_WORKSPACES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct attn_workspace {
    void *memory;    /* aligned to 64; holds anything */
    size_t capacity; /* bytes of it */
    size_t used;     /* the first so many were asked for; those behind them hold no page */
} attn_workspace;

/* At most `most` bytes are kept, and none after `idle_ms` milliseconds without work (0: however long that is); pools
 * look at the clock. */
void attn_workspaces_keep(size_t most, unsigned idle_ms);
unsigned attn_workspaces_idle_ms(void);

/* At least `bytes` bytes, kept ones where they suffice. False without memory. */
bool attn_workspace_take(size_t bytes, attn_workspace *out);
/* Keeps it for the next, or frees it. One without memory is fine. */
void attn_workspace_give(attn_workspace *workspace);

/* Frees kept memory, the oldest first, until at most `most` bytes are kept. */
void attn_workspaces_trim(size_t most);

/* Bytes that are kept for the next run; the most bytes that runs have had at the same time. */
size_t attn_workspaces_kept(void);
size_t attn_workspaces_high_water(void);

#endif
