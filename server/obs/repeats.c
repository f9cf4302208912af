/* Counting repeats (repeats.h). */
#include "repeats.h"

#include <string.h>

#define WINDOW 1000.0 /* milliseconds */

void srv_repeats_init(srv_repeats *repeats) {
    *repeats = (srv_repeats){0};
    pthread_mutex_init(&repeats->lock, NULL);
}

void srv_repeats_done(srv_repeats *repeats) {
    pthread_mutex_destroy(&repeats->lock);
}

/* The place of a kind, a new one where it has none. Under the lock. */
static srv_repeat *find(srv_repeats *repeats, const char *event, const char *reason, double now) {
    for (size_t i = 0; i < repeats->count; i++) {
        srv_repeat *kind = &repeats->kinds[i];
        if (strcmp(kind->event, event) == 0 && strcmp(kind->reason, reason) == 0) return kind;
    }
    if (repeats->count == SRV_REPEATS_KINDS) return &repeats->kinds[SRV_REPEATS_KINDS - 1];
    srv_repeat *kind = &repeats->kinds[repeats->count++];
    *kind = (srv_repeat){.event = event, .reason = reason, .since = now};
    return kind;
}

bool srv_repeats_pass(srv_repeats *repeats, const char *event, const char *reason, double now) {
    pthread_mutex_lock(&repeats->lock);
    srv_repeat *kind = find(repeats, event, reason, now);
    /* What was left out stays until it has been told. */
    if (now - kind->since >= WINDOW) {
        kind->since = now;
        kind->passed = 0;
    }
    bool passes = kind->passed < SRV_REPEATS_MOST;
    if (passes) {
        kind->passed++;
    } else {
        kind->left_out++;
        atomic_fetch_add(&repeats->left_out, 1);
    }
    pthread_mutex_unlock(&repeats->lock);
    return passes;
}

bool srv_repeats_take(srv_repeats *repeats, double now, srv_repeat *out) {
    bool is_there = false;
    if (atomic_load(&repeats->left_out) == 0) return false;
    pthread_mutex_lock(&repeats->lock);
    for (size_t i = 0; i < repeats->count && !is_there; i++) {
        srv_repeat *kind = &repeats->kinds[i];
        if (kind->left_out == 0 || now - kind->since < WINDOW) continue;
        *out = *kind;
        atomic_fetch_sub(&repeats->left_out, kind->left_out);
        kind->left_out = 0;
        is_there = true;
    }
    pthread_mutex_unlock(&repeats->lock);
    return is_there;
}
