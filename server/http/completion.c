/* The end of an exchange, however it came about: the single exit. */
#include "exchange.h"

#include "server/obs/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* What recent requests took of the workers' time counts most: an eighth of each new one. Under the lock. */
static void learn_time(srv_http *http, const srv_timing *timing) {
    double took = timing->parse + timing->compute + timing->encode;
    http->service_time += (took - http->service_time) / 8;
}

/* The connection waits for its next request, unless there is to be none. */
static void leave(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    srv_connection *place = exchange->place;
    const srv_http_times *times = &http->options.times;
    pthread_mutex_lock(&http->lock);
    /* How many bytes have come the reaper asks when it comes by: asking the kernel at each request's end is dear. */
    atomic_store(&place->progress, SRV_UNSEEN);
    srv_connection_enter(place, SRV_PHASE_IDLE, srv_clock_about_ms(),
                         place->is_extra ? times->headers : times->idle);
    if (exchange->call.reply.has_timing) learn_time(http, &exchange->call.reply.timing);
    http->active--;
    place->exchange = NULL;
    if (http->draining) {
        place->read_ended = true;
        shutdown(place->descriptor, SHUT_RD);
    }
    pthread_mutex_unlock(&http->lock);
}

/* Its memory, to the connection where the next request can use it. */
static void give_back(srv_exchange *exchange) {
    srv_connection *place = exchange->place;
    if (place->spare || strlen(exchange->target) >= SRV_SHORT_TARGET)
        free(exchange);
    else
        place->spare = exchange;
}

void srv_exchange_end(srv_exchange *exchange, enum MHD_RequestTerminationCode how) {
    srv_reply *reply = &exchange->call.reply;
    if (reply->stream) reply->timing.encode = srv_stream_ms(reply->stream);
    srv_exchange_record(exchange, how);
    srv_decoder_free(exchange->call.decoder);
    free(reply->body);
    srv_stream_close(reply->stream);
    leave(exchange);
    give_back(exchange);
}

void srv_exchange_completed(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_RequestTerminationCode how) {
    (void)cls, (void)connection;
    srv_exchange *exchange = *context;
    *context = NULL;
    if (exchange) srv_exchange_end(exchange, how);
}
