/* Where lines go: a descriptor that may be a pipe whose reader has stopped. Nobody waits for that: while it takes nothing,
 * lines are lost, and counted. Any thread. */
#ifndef SRV_OBS_OUTLET_H
#define SRV_OBS_OUTLET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct srv_outlet {
    int descriptor;
    pthread_mutex_t lock;
    atomic_size_t lost; /* lines, since that was last told */
} srv_outlet;

#define SRV_OUTLET(number) {.descriptor = (number), .lock = PTHREAD_MUTEX_INITIALIZER}

/* Writes a line of at most PIPE_BUF bytes, whole and without waiting; false where it cannot be written now. */
bool srv_outlet_write(srv_outlet *outlet, const char *line, size_t size);

#endif
