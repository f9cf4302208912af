/* Opening, draining and stopping the HTTP side (http.h): one libmicrohttpd daemon with one epoll thread for
 * each address. The threads do nothing but move bytes and route; work goes to the pool. */
#include "exchange.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* A connection's pool: headers, and half of it for each piece of a body. An idle connection keeps all of
       it. */
    CONNECTION_MEMORY = 64 * 1024,
    NO_TIMEOUT = 0, /* the reaper's */
};

/* How strictly the library itself judges requests: the level that refuses what could be read in two ways and
 * still takes every ordinary client. The option's name and scale changed between its versions. */
#if MHD_VERSION >= 0x00097701
#define STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define STRICTNESS MHD_OPTION_STRICT_FOR_CLIENT, -1
#endif

/* The library's own complaints: mostly about clients, so not for everybody's eyes. */
__attribute__((format(printf, 2, 0))) static void library_says(void *cls, const char *format,
                                                               va_list arguments) {
    const srv_http *http = cls;
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    const srv_field field = srv_field_string("message", text);
    srv_log_event_limited(http->options.log, SRV_LOG_DEBUG, "microhttpd", "complaint", &field, 1);
}

static struct MHD_Daemon *start_daemon(srv_http *http, int descriptor) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL,
        NULL, srv_exchange_handle, http, MHD_OPTION_EXTERNAL_LOGGER, library_says, http,
        MHD_OPTION_LISTEN_SOCKET, descriptor, STRICTNESS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(http->options.max_connections + SRV_EXTRA_CONNECTIONS), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)NO_TIMEOUT,
        MHD_OPTION_URI_LOG_CALLBACK, srv_exchange_began, http, MHD_OPTION_NOTIFY_COMPLETED,
        srv_exchange_completed, http, MHD_OPTION_NOTIFY_CONNECTION, srv_connection_changed, http,
        MHD_OPTION_END);
}

/* Opens the next address. */
static attn_code open_address(srv_http *http, const srv_http_address *address, attn_error *error) {
    srv_listener *listener = &http->listeners[http->listener_count];
    attn_error why = {0};
    bool is_missing;
    attn_code code = srv_listener_open(address->host, address->port, listener, &is_missing, &why);
    if (code != ATTN_OK && is_missing && http->options.address_count > 1) {
        srv_log_message(http->options.log, SRV_LOG_WARNING, "listen", "%s; going on without it", why.text);
        return ATTN_OK;
    }
    if (code != ATTN_OK) return attn_error_set(error, code, why.where, "%s", why.text);
    http->only_loopback = http->only_loopback && listener->is_loopback;
    http->listener_count++;
    return ATTN_OK;
}

/* Serves the next open address. */
static attn_code serve_address(srv_http *http, attn_error *error) {
    srv_listener *listener = &http->listeners[http->daemon_count];
    struct MHD_Daemon *daemon = start_daemon(http, listener->descriptor);
    if (!daemon)
        return attn_error_set(error, ATTN_IO, listener->address, "cannot serve %s: no thread or memory",
                              listener->address);
    http->daemons[http->daemon_count++] = daemon;
    return ATTN_OK;
}

static srv_http *allocate(const srv_http_options *options) {
    srv_http *http = calloc(1, sizeof *http);
    if (!http) return NULL;
    http->options = *options;
    http->only_loopback = true;
    srv_budget_init(&http->running, options->max_running);
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->resumed, NULL);
    http->listeners = calloc(options->address_count, sizeof *http->listeners);
    http->daemons = calloc(options->address_count, sizeof *http->daemons);
    http->idle_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    http->linger = srv_linger_new();
    http->reaper = srv_reaper_new(http);
    if (http->listeners && http->daemons && http->idle_event >= 0 && http->linger && http->reaper)
        return http;
    srv_http_free(http);
    return NULL;
}

attn_code srv_http_new(const srv_http_options *options, srv_http **out, attn_error *error) {
    srv_http *http = allocate(options);
    if (!http)
        return attn_error_set(error, ATTN_NO_MEMORY, NULL,
                              "no memory, descriptor or thread for the HTTP side");
    attn_code code = ATTN_OK;
    for (size_t i = 0; code == ATTN_OK && i < options->address_count; i++)
        code = open_address(http, &options->addresses[i], error);
    if (code == ATTN_OK && http->listener_count == 0)
        code = attn_error_set(error, ATTN_IO, NULL, "this machine has none of the addresses to listen on");
    while (code == ATTN_OK && http->daemon_count < http->listener_count)
        code = serve_address(http, error);
    if (code == ATTN_OK)
        *out = http;
    else
        srv_http_free(http);
    return code;
}

const char *srv_http_address_open(const srv_http *http, size_t index) {
    return index < http->daemon_count ? http->listeners[index].address : NULL;
}

bool srv_http_is_only_loopback(const srv_http *http) {
    return http->only_loopback;
}

void srv_http_drain(srv_http *http) {
    for (size_t i = 0; i < http->daemon_count; i++) {
        MHD_quiesce_daemon(http->daemons[i]);
        srv_listener_refuse(&http->listeners[i]);
    }
    pthread_mutex_lock(&http->lock);
    http->draining = true;
    /* The read side alone: the library first reads what has arrived, and answers what of it is a request. */
    for (srv_connection *place = http->connections; place; place = place->next) {
        if (place->exchange) continue;
        place->read_ended = true;
        shutdown(place->descriptor, SHUT_RD);
    }
    if (http->open == 0) eventfd_write(http->idle_event, 1);
    pthread_mutex_unlock(&http->lock);
}

int srv_http_idle_event(const srv_http *http) {
    return http->idle_event;
}

size_t srv_http_cancel(srv_http *http) {
    size_t count = 0;
    pthread_mutex_lock(&http->lock);
    http->stopping = true;
    for (srv_connection *place = http->connections; place; place = place->next) {
        srv_exchange *exchange = place->exchange;
        if (!exchange || !exchange->call.job) continue;
        srv_pipeline_cancel(exchange->call.job, SRV_DRAINING);
        count++;
    }
    pthread_mutex_unlock(&http->lock);
    return count;
}

void srv_http_free(srv_http *http) {
    if (!http) return;
    if (http->daemon_count > 0 && !http->draining) srv_http_drain(http);
    /* A daemon that stops with a suspended connection aborts the process. */
    pthread_mutex_lock(&http->lock);
    http->stopping = true;
    while (http->suspended > 0)
        pthread_cond_wait(&http->resumed, &http->lock);
    pthread_mutex_unlock(&http->lock);
    for (size_t i = 0; i < http->daemon_count; i++) {
        MHD_stop_daemon(http->daemons[i]);
    }
    for (size_t i = 0; i < http->listener_count; i++)
        srv_listener_close(&http->listeners[i]);
    srv_reaper_free(http->reaper);
    srv_linger_free(http->linger);
    if (http->idle_event >= 0) close(http->idle_event);
    pthread_cond_destroy(&http->resumed);
    pthread_mutex_destroy(&http->lock);
    free(http->listeners);
    free(http->daemons);
    free(http);
}

const char *srv_http_library_version(void) {
    return MHD_get_version();
}
