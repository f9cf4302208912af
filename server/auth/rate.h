/* How often somebody may ask: a token bucket, kept as the time from which the next request conforms (the generic cell
 * rate algorithm's virtual scheduling, ITU-T I.371, annex A): one number, changed by compare and exchange. Any thread,
 * no lock. The clock is the caller's. */
#ifndef SRV_AUTH_RATE_H
#define SRV_AUTH_RATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct srv_rate {
    uint64_t interval; /* nanoseconds from one request to the next; 0: no limit */
    uint64_t slack;    /* how far ahead of its time a request may come: burst − 1 intervals */
    atomic_uint_fast64_t next;
} srv_rate;

/* `per_second` > 0, `burst` ≥ 1: that many requests at once after a rest. */
void srv_rate_init(srv_rate *rate, double per_second, double burst);

/* Whether a request that comes now may pass, which it then has. Where not, *wait is the time until one may. Both
 * in nanoseconds. */
bool srv_rate_take(srv_rate *rate, uint64_t now, uint64_t *wait);

#endif
