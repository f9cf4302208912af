/* Listing connections (connection.h) as libmicrohttpd opens and closes them. */
#include "exchange.h"

#include "server/obs/clock.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

void srv_connection_enter(srv_connection *place, srv_phase phase, double now, double allowed) {
    atomic_store_explicit(&place->deadline, now + allowed, memory_order_relaxed);
    atomic_store_explicit(&place->phase, (int)phase, memory_order_release);
}

bool srv_connection_bytes(const srv_connection *place, uint64_t *sent, uint64_t *taken) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(place->descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return false;
    *sent = info.tcpi_bytes_received;
    *taken = info.tcpi_bytes_acked;
    return true;
}

/* Without memory for its place the connection is closed at once: nothing could watch over it. */
static void connection_opened(srv_http *http, struct MHD_Connection *connection, void **place) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    srv_connection *new = calloc(1, sizeof *new);
    *place = new;
    if (!new) {
        shutdown(info->connect_fd, SHUT_RDWR);
        return;
    }
    new->descriptor = info->connect_fd;
    pthread_mutex_lock(&http->lock);
    new->is_extra = http->open >= http->options.max_connections;
    const srv_http_times *times = &http->options.times;
    srv_connection_enter(new, SRV_PHASE_IDLE, srv_clock_about_ms(),
                         new->is_extra ? times->headers : times->idle);
    new->next = http->connections;
    if (new->next) new->next->previous = new;
    http->connections = new;
    http->open++;
    if (http->draining) {
        new->read_ended = true;
        shutdown(new->descriptor, SHUT_RD);
    }
    pthread_mutex_unlock(&http->lock);
}

static void connection_closed(srv_http *http, srv_connection *place) {
    /* Some errors of the parser end a request without a word about it. */
    if (place->exchange) srv_exchange_end(place->exchange, MHD_REQUEST_TERMINATED_WITH_ERROR);
    pthread_mutex_lock(&http->lock);
    if (place->next) place->next->previous = place->previous;
    if (place->previous)
        place->previous->next = place->next;
    else
        http->connections = place->next;
    http->open--;
    if (http->draining && http->open == 0) eventfd_write(http->idle_event, 1);
    pthread_mutex_unlock(&http->lock);
    free(place->spare);
    free(place);
}

void srv_connection_changed(void *cls, struct MHD_Connection *connection, void **place,
                            enum MHD_ConnectionNotificationCode what) {
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        connection_opened(cls, connection, place);
    else if (*place)
        connection_closed(cls, *place);
}
