/* The thread that ends what has taken too long, since the library's own timeout sees inactivity only and nothing at all
 * while a connection is suspended. Every tenth of a second it looks at each connection:
 *
 *   past its deadline          shut down; the library drops it and says so as for any that broke
 *   idle, yet bytes came       the time for a request's headers has begun
 *   receiving, peer has ended  its read side is shut, since the library can miss that (see below)
 *   with the workers           cancelled where the peer is gone or its own time is over; half-closed is gone
 *   answering, bytes taken     it gets more time
 *
 * All under the lock of the srv_http, which closing takes too: a descriptor that is listed is open. */
#include "exchange.h"

#include "server/obs/clock.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum {
    TICK_MS = 100,
    IDLE_TICKS = 8, /* idle connections are many, and are looked at every so many ticks */
};

struct srv_reaper {
    srv_http *http;
    pthread_t thread;
    pthread_cond_t wake;
    bool stopping;
};

static void cut(srv_http *http, srv_connection *place, int phase) {
    atomic_store(&place->is_cut, true);
    atomic_store(&place->deadline, INFINITY);
    shutdown(place->descriptor, SHUT_RDWR);
    /* With an exchange, that one counts and logs it. */
    if (!place->exchange && phase == SRV_PHASE_HEADERS)
        srv_metrics_end(http->options.metrics, SRV_END_HEADER_DEADLINE);
}

/* Moves a deadline that is still the one that was read. */
static void extend(srv_connection *place, double seen, double deadline) {
    atomic_compare_exchange_strong(&place->deadline, &seen, deadline);
}

static void look_idle(const srv_http *http, srv_connection *place, double deadline, double now) {
    uint64_t sent, taken, seen = SRV_UNSEEN;
    int idle = SRV_PHASE_IDLE;
    if (!srv_connection_bytes(place, &sent, &taken)) return;
    if (atomic_compare_exchange_strong(&place->progress, &seen, sent) || sent <= seen) return;
    if (atomic_compare_exchange_strong(&place->phase, &idle, SRV_PHASE_HEADERS))
        extend(place, deadline, now + http->options.times.headers);
}

static void look_answer(const srv_http *http, srv_connection *place, double deadline, double now) {
    uint64_t sent, taken;
    if (!srv_connection_bytes(place, &sent, &taken) || taken <= atomic_load(&place->progress)) return;
    atomic_store(&place->progress, taken);
    extend(place, deadline, now + http->options.times.stalled_reader);
}

static bool has_peer_ended(const srv_connection *place) {
    /* Where we have shut the read side ourselves, only a break tells. */
    short events = place->read_ended ? 0 : POLLRDHUP;
    struct pollfd event = {.fd = place->descriptor, .events = events};
    return poll(&event, 1, 0) > 0 && (event.revents & (events | POLLERR | POLLHUP));
}

/* An end that came together with the last bytes of a request that is not complete goes unnoticed by the library.
 * Shutting the read side wakes it; what has arrived is still read. */
static void look_receiving(srv_connection *place) {
    if (place->read_ended || !has_peer_ended(place)) return;
    place->read_ended = true;
    shutdown(place->descriptor, SHUT_RD);
}

static void look_working(const srv_connection *place) {
    srv_job *job = place->exchange ? place->exchange->call.job : NULL;
    if (!job) return;
    if (has_peer_ended(place))
        srv_pipeline_cancel(job, SRV_CLIENT_GONE);
    else
        srv_pipeline_check_time(job);
}

static void look(srv_http *http, srv_connection *place, double now, bool idle_too) {
    int phase = atomic_load(&place->phase);
    double deadline = atomic_load(&place->deadline);
    if (now > deadline) {
        cut(http, place, phase);
        return;
    }
    switch ((srv_phase)phase) {
    case SRV_PHASE_IDLE:
        if (idle_too || atomic_load(&place->progress) == SRV_UNSEEN) look_idle(http, place, deadline, now);
        break;
    case SRV_PHASE_HEADERS:
    case SRV_PHASE_BODY: look_receiving(place); break;
    case SRV_PHASE_WORKERS: look_working(place); break;
    case SRV_PHASE_ANSWER: look_answer(http, place, deadline, now); break;
    }
}

static struct timespec next_tick(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += TICK_MS * 1000000L;
    time.tv_sec += time.tv_nsec / 1000000000L;
    time.tv_nsec %= 1000000000L;
    return time;
}

static void *reap(void *context) {
    srv_reaper *reaper = context;
    srv_http *http = reaper->http;
    pthread_mutex_lock(&http->lock);
    for (unsigned round = 0; !reaper->stopping; round++) {
        double now = srv_clock_ms();
        for (srv_connection *place = http->connections; place; place = place->next)
            look(http, place, now, round % IDLE_TICKS == 0);
        const struct timespec tick = next_tick();
        pthread_cond_timedwait(&reaper->wake, &http->lock, &tick);
    }
    pthread_mutex_unlock(&http->lock);
    return NULL;
}

static bool start(srv_reaper *reaper) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&reaper->thread, NULL, reap, reaper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

srv_reaper *srv_reaper_new(srv_http *http) {
    srv_reaper *reaper = calloc(1, sizeof *reaper);
    if (!reaper) return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&reaper->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    reaper->http = http;
    if (start(reaper)) return reaper;
    pthread_cond_destroy(&reaper->wake);
    free(reaper);
    return NULL;
}

void srv_reaper_free(srv_reaper *reaper) {
    if (!reaper) return;
    pthread_mutex_lock(&reaper->http->lock);
    reaper->stopping = true;
    pthread_cond_signal(&reaper->wake);
    pthread_mutex_unlock(&reaper->http->lock);
    pthread_join(reaper->thread, NULL);
    pthread_cond_destroy(&reaper->wake);
    free(reaper);
}
