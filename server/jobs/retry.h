/* When to come back. */
#ifndef SRV_JOBS_RETRY_H
#define SRV_JOBS_RETRY_H

#include <stddef.h>

/* Seconds (1 … 30) after which what is queued should be done: `queued` requests at `service_ms` of a worker's
 * time each. Pure; any thread. */
unsigned srv_retry_after(double service_ms, size_t queued, size_t workers);

#endif
