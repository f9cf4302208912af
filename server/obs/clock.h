/* Time that only goes forward, for durations. Any thread. */
#ifndef SRV_OBS_CLOCK_H
#define SRV_OBS_CLOCK_H

#include <time.h>

/* Milliseconds since some moment in the past. */
static inline double srv_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The same some milliseconds ago at most, for a fraction of the cost: for deadlines. */
static inline double srv_clock_about_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#endif
