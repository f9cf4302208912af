/* How much memory this process may still use. */
#ifndef SRV_JOBS_FREE_MEMORY_H
#define SRV_JOBS_FREE_MEMORY_H

#include <stddef.h>

/* Bytes that the machine has available (MemAvailable) or this process's cgroup has left, whichever is less.
 * Where neither can be read: 1 GiB. Any thread. */
size_t srv_free_memory(void);

#endif
