/* The bucket (rate.h). */
#include "rate.h"

#include <math.h>

/* Thirty years: sums with a clock cannot wrap. */
static const double LONGEST_SLACK = 1e18;

void srv_rate_init(srv_rate *rate, double per_second, double burst) {
    double interval = 1e9 / per_second;
    rate->interval = interval < 1 ? 1 : (uint64_t)llround(interval);
    rate->slack = (uint64_t)llround(fmin((burst - 1) * (double)rate->interval, LONGEST_SLACK));
    atomic_store(&rate->next, 0);
}

bool srv_rate_take(srv_rate *rate, uint64_t now, uint64_t *wait) {
    *wait = 0;
    if (rate->interval == 0) return true;
    uint_fast64_t next = atomic_load(&rate->next), from;
    do {
        from = next > now ? next : now;
        if (from - now > rate->slack) {
            *wait = from - now - rate->slack;
            return false;
        }
    } while (!atomic_compare_exchange_weak(&rate->next, &next, from + rate->interval));
    return true;
}
