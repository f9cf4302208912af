/* How often a kind of event may be told: what clients can cause at will must not fill a disk. Of each kind (an
 * event and a reason) SRV_REPEATS_MOST are let through in a second, the rest is counted, and the count is told
 * later. The clock is the caller's. Any thread. */
#ifndef SRV_OBS_REPEATS_H
#define SRV_OBS_REPEATS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { SRV_REPEATS_MOST = 10, SRV_REPEATS_KINDS = 64 };

typedef struct srv_repeat {
    const char *event, *reason; /* static storage */
    double since;               /* when its second began, in milliseconds */
    size_t passed, left_out;    /* in it */
} srv_repeat;

typedef struct srv_repeats {
    pthread_mutex_t lock;
    srv_repeat kinds[SRV_REPEATS_KINDS]; /* where more come up, the last ones share a place */
    size_t count;
    atomic_size_t left_out; /* all that has not been told: 0 saves the lock */
} srv_repeats;

void srv_repeats_init(srv_repeats *repeats);
void srv_repeats_done(srv_repeats *repeats);

/* Whether an event that happens now may be told. */
bool srv_repeats_pass(srv_repeats *repeats, const char *event, const char *reason, double now);
/* Takes out a kind of which some were left out in a second that is over (to be called before srv_repeats_pass,
 * which begins the next); false where there is none. */
bool srv_repeats_take(srv_repeats *repeats, double now, srv_repeat *out);

#endif
