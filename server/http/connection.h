/* An open connection: listed from accept to close, so that draining finds the idle ones and the reaper those whose
 * time is over.
 *
 * The phase and the deadline are written by the HTTP thread of the connection, and moved on by the reaper where it
 * sees progress that no callback tells of; the rest belongs to the lock of the srv_http. A phase is entered by
 * setting what belongs to it first, so that a reader in between is lenient at worst. */
#ifndef SRV_HTTP_CONNECTION_H
#define SRV_HTTP_CONNECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum srv_phase {
    SRV_PHASE_IDLE,    /* waits for a request */
    SRV_PHASE_HEADERS, /* a request has begun */
    SRV_PHASE_BODY,    /* its headers are judged */
    SRV_PHASE_WORKERS, /* suspended: the library does not look at the socket */
    SRV_PHASE_ANSWER,  /* the answer goes out */
} srv_phase;

#define SRV_UNSEEN UINT64_MAX

typedef struct srv_connection {
    struct srv_connection *previous, *next;
    int descriptor;
    struct srv_exchange *exchange; /* the request on it; NULL: idle */
    struct srv_exchange *spare;    /* the HTTP thread's: memory for the next one; NULL: none */
    bool is_extra;                 /* beyond the limit: told so, and closed */
    bool read_ended;               /* its read side has been shut by us */

    atomic_bool is_cut; /* its time is over: shut down by the reaper */
    _Atomic int phase;
    _Atomic double deadline; /* milliseconds; INFINITY: none */
    /* Bytes that had come (idle) or been taken (answer) when last looked at; SRV_UNSEEN: nobody has since. */
    _Atomic uint64_t progress;
} srv_connection;

/* Enters a phase that may last for `allowed` milliseconds from `now` on. */
void srv_connection_enter(srv_connection *place, srv_phase phase, double now, double allowed);

/* Bytes that the peer has sent and that it has taken, as TCP counts them; false where it does not. */
bool srv_connection_bytes(const srv_connection *place, uint64_t *sent, uint64_t *taken);

#endif
