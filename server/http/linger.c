/* The thread that reads on after a refusal (linger.h). */
#include "linger.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PLACES = 64,
    SECONDS = 10,
    PIECE = 1 << 20,
};
#define MOST_BYTES ((size_t)256 << 20) /* of one client */

typedef struct guest {
    int descriptor; /* -1: the place is free */
    time_t until;
    size_t bytes;
} guest;

struct srv_linger {
    pthread_t thread;
    int wake;
    pthread_mutex_t lock; /* guards what follows; a place that is taken is the thread's alone to free */
    bool stopping;
    guest guests[PLACES];
};

static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* Throws away what has come; false when the guest is to be let go. */
static bool read_on(guest *g) {
    /* MSG_TRUNC: TCP drops the bytes without copying them. */
    ssize_t got = recv(g->descriptor, NULL, PIECE, MSG_TRUNC | MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    g->bytes += (size_t)got;
    return got > 0 && g->bytes < MOST_BYTES;
}

/* One round: waits for something to happen, reads, and lets go. False when it is time to stop. */
static bool attend(srv_linger *linger) {
    struct pollfd events[PLACES + 1] = {{.fd = linger->wake, .events = POLLIN}};
    bool any = false;
    pthread_mutex_lock(&linger->lock);
    bool stopping = linger->stopping;
    for (int i = 0; i < PLACES; i++) {
        events[i + 1] = (struct pollfd){.fd = linger->guests[i].descriptor, .events = POLLIN};
        any = any || linger->guests[i].descriptor >= 0;
    }
    pthread_mutex_unlock(&linger->lock);
    if (stopping) return false;
    poll(events, PLACES + 1, any ? 1000 : -1);
    if (events[0].revents & POLLIN) {
        eventfd_t count;
        eventfd_read(linger->wake, &count);
    }
    for (int i = 0; i < PLACES; i++) {
        guest *g = &linger->guests[i];
        if (events[i + 1].fd < 0) continue;
        bool stays = g->until > now() && (events[i + 1].revents == 0 || read_on(g));
        if (stays) continue;
        pthread_mutex_lock(&linger->lock);
        close(g->descriptor);
        g->descriptor = -1;
        pthread_mutex_unlock(&linger->lock);
    }
    return true;
}

static void *linger_main(void *context) {
    while (attend(context))
        continue;
    return NULL;
}

static bool start(srv_linger *linger) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&linger->thread, NULL, linger_main, linger);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

static void destroy(srv_linger *linger) {
    if (linger->wake >= 0) close(linger->wake);
    pthread_mutex_destroy(&linger->lock);
    free(linger);
}

srv_linger *srv_linger_new(void) {
    srv_linger *linger = calloc(1, sizeof *linger);
    if (!linger) return NULL;
    for (int i = 0; i < PLACES; i++)
        linger->guests[i].descriptor = -1;
    pthread_mutex_init(&linger->lock, NULL);
    linger->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (linger->wake >= 0 && start(linger)) return linger;
    destroy(linger);
    return NULL;
}

void srv_linger_take(srv_linger *linger, int descriptor) {
    pthread_mutex_lock(&linger->lock);
    for (int i = 0; i < PLACES; i++) {
        guest *g = &linger->guests[i];
        if (g->descriptor >= 0) continue;
        *g = (guest){.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0), .until = now() + SECONDS};
        break;
    }
    pthread_mutex_unlock(&linger->lock);
    eventfd_write(linger->wake, 1);
}

void srv_linger_free(srv_linger *linger) {
    if (!linger) return;
    pthread_mutex_lock(&linger->lock);
    linger->stopping = true;
    pthread_mutex_unlock(&linger->lock);
    eventfd_write(linger->wake, 1);
    pthread_join(linger->thread, NULL);
    for (int i = 0; i < PLACES; i++) {
        if (linger->guests[i].descriptor >= 0) close(linger->guests[i].descriptor);
    }
    destroy(linger);
}
