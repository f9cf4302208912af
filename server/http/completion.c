/* The end of an exchange, however it came about: the single exit. */
#include "exchange.h"

#include <stdlib.h>
#include <sys/socket.h>

/* The connection waits for its next request, unless there is to be none. */
static void leave(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    srv_connection *place = exchange->place;
    uint64_t sent = 0, taken = 0;
    srv_connection_bytes(place, &sent, &taken);
    atomic_store(&place->progress, sent);
    srv_connection_enter(place, SRV_PHASE_IDLE,
                         place->is_extra ? http->options.times.headers : http->options.times.idle);
    pthread_mutex_lock(&http->lock);
    http->active--;
    place->exchange = NULL;
    if (http->draining) {
        place->read_ended = true;
        shutdown(place->descriptor, SHUT_RD);
    }
    pthread_mutex_unlock(&http->lock);
}

void srv_exchange_end(srv_exchange *exchange, enum MHD_RequestTerminationCode how) {
    srv_http *http = exchange->http;
    srv_exchange_record(exchange, how);
    srv_body_done(&exchange->body, http->options.memory);
    free(exchange->call.body);
    free(exchange->call.reply.body);
    srv_budget_give(http->options.memory, exchange->call.held + exchange->call.reply.held);
    leave(exchange);
    free(exchange);
}

void srv_exchange_completed(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_RequestTerminationCode how) {
    (void)cls, (void)connection;
    srv_exchange *exchange = *context;
    *context = NULL;
    if (exchange) srv_exchange_end(exchange, how);
}
