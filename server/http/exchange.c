/* The request state machine (exchange.h). What libmicrohttpd asks of it:
 *
 *   - an answer queued in the first call closes the connection, so a refusal is remembered and, as a rule,
 * queued in the last call, after the body has been swallowed: the client reads it, and the connection stays
 * in step;
 *   - in mid-body nothing can be queued;
 *   - suspend first, then hand over; whoever resumes holds the lock;
 *   - a last call that neither queues nor suspends would spin. */
#include "exchange.h"

#include "server/http/media.h"
#include "server/obs/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* How much of a body is swallowed beyond the limit before the connection is given up. */
#define SWALLOWED_BEYOND ((size_t)64 << 20)

static srv_connection *place_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void connection_opened(srv_http *http, struct MHD_Connection *connection, void **place) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    srv_connection *new = calloc(1, sizeof *new);
    *place = new;
    if (!new) return; /* served all the same; draining will not find it while it is idle */
    new->descriptor = info->connect_fd;
    pthread_mutex_lock(&http->lock);
    new->next = http->connections;
    if (new->next) new->next->previous = new;
    http->connections = new;
    http->open++;
    if (http->draining) shutdown(new->descriptor, SHUT_RD);
    pthread_mutex_unlock(&http->lock);
}

static void connection_closed(srv_http *http, srv_connection *place) {
    pthread_mutex_lock(&http->lock);
    if (place->next) place->next->previous = place->previous;
    if (place->previous)
        place->previous->next = place->next;
    else
        http->connections = place->next;
    http->open--;
    pthread_mutex_unlock(&http->lock);
    free(place);
}

void srv_connection_changed(void *cls, struct MHD_Connection *connection, void **place,
                            enum MHD_ConnectionNotificationCode what) {
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        connection_opened(cls, connection, place);
    else if (*place)
        connection_closed(cls, *place);
}

void srv_connection_check_end(const srv_connection *place) {
    struct pollfd event = {.fd = place->descriptor, .events = POLLRDHUP};
    if (poll(&event, 1, 0) > 0 && (event.revents & POLLRDHUP)) shutdown(place->descriptor, SHUT_RD);
}

void *srv_exchange_began(void *cls, const char *target, struct MHD_Connection *connection) {
    srv_http *http = cls;
    size_t size = strlen(target) + 1;
    srv_exchange *exchange = calloc(1, sizeof *exchange + size);
    if (!exchange) return NULL;
    memcpy(exchange->target, target, size);
    /* The library would parse the query into arguments, which costs it a pool that some queries overflow. The
     * text is its own writable buffer, const in name only; ending it behind the '?' leaves nothing to parse.
     */
    char *query = strchr((char *)(uintptr_t)target, '?');
    if (query) query[1] = '\0';

    exchange->http = http;
    exchange->connection = connection;
    exchange->place = place_of(connection);
    exchange->call.site = http->options.site;
    exchange->began = exchange->ended = srv_clock_ms();
    pthread_mutex_lock(&http->lock);
    http->active++;
    if (exchange->place) exchange->place->exchange = exchange;
    pthread_mutex_unlock(&http->lock);
    return exchange;
}

/* A query where the route takes none: naming the parameter beats ignoring it. */
static bool check_query(const srv_route *route, const srv_target *target, srv_problem *problem) {
    if (!target->query || target->query_size == 0 || route->ignores_query || route->takes_query) return true;
    char name[64] = "";
    size_t size = strcspn(target->query, "=&");
    if (size >= sizeof name) size = sizeof name - 1;
    memcpy(name, target->query, size);
    return srv_problem_set(problem, SRV_UNKNOWN_FIELD, SRV_WHERE_PARAMETER, name,
                           "query parameter '%s'; %s takes none", name, route->path);
}

/* Everything that the headers decide, in the order in which refusals win. */
static void judge(srv_exchange *exchange, const srv_framing *framing) {
    srv_http *http = exchange->http;
    srv_problem *problem = &exchange->call.reply.problem;
    srv_target target = srv_target_split(exchange->target);
    const srv_route *route =
        srv_route_find(&http->options.routes, exchange->method, &target, &exchange->call.parameters, problem);
    exchange->route = route;
    exchange->call.query = target.query;
    exchange->call.query_size = target.query_size;
    if (!route) return;
    if (route->takes_json && !srv_media_is_json(framing->content_type)) {
        srv_problem_set(
            problem, SRV_UNSUPPORTED_MEDIA_TYPE, SRV_WHERE_HEADER, "Content-Type",
            "Content-Type '%.100s'; application/json, text/plain, application/x-www-form-urlencoded or "
            "none is read as JSON",
            framing->content_type);
    }
    if (framing->declared > http->options.max_body) {
        srv_problem_set(problem, SRV_BODY_TOO_LARGE, SRV_WHERE_HEADER, "Content-Length",
                        "a body of %zu bytes; the limit is %zu (setting limits.max_body)", framing->declared,
                        http->options.max_body);
    }
    if (route->needs_models && !srv_models_are_ready(http->options.models)) {
        srv_problem_set(problem, SRV_LOADING, SRV_WHERE_NONE, NULL, "the models are being loaded");
    }
    if (problem->id == SRV_NO_PROBLEM && route->takes_json)
        srv_body_expect(&exchange->body, http->options.memory, framing->declared, problem);
    check_query(route, &target, problem);
}

/* Queues the reply; at once (before the last byte of the request) the connection cannot stay in step. */
static enum MHD_Result answer(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    pthread_mutex_lock(&http->lock);
    exchange->closes = exchange->closes || http->draining;
    pthread_mutex_unlock(&http->lock);
    return srv_answer_queue(exchange);
}

static enum MHD_Result on_headers(srv_exchange *exchange, const char *method, const char *version) {
    srv_http *http = exchange->http;
    srv_problem *problem = &exchange->call.reply.problem;
    srv_framing framing;
    size_t length = strnlen(method, sizeof exchange->method - 1);
    memcpy(exchange->method, method, length);
    exchange->stage = SRV_STAGE_BODY;
    bool is_sound = srv_framing_read(exchange->connection, version, &framing, problem);
    srv_request_id(exchange->id, framing.request_id);
    if (is_sound) judge(exchange, &framing);
    if (problem->id == SRV_NO_PROBLEM) return MHD_YES;

    /* A client that waits for leave is told no; what is not framed soundly or too long to swallow is not
     * read. */
    bool is_too_long = framing.declared > http->options.max_body + SWALLOWED_BEYOND;
    if (is_sound && !framing.expects && !is_too_long) return MHD_YES;
    if (is_too_long && exchange->place) srv_linger_take(http->linger, exchange->place->descriptor);
    exchange->closes = true;
    return answer(exchange);
}

/* A piece of the body: kept where the route wants it, else swallowed within bounds. */
static enum MHD_Result on_piece(srv_exchange *exchange, const char *data, size_t *data_size) {
    const srv_http_options *options = &exchange->http->options;
    srv_problem *problem = &exchange->call.reply.problem;
    size_t size = *data_size;
    *data_size = 0;
    exchange->received += size;
    if (exchange->received > options->max_body) {
        srv_problem_set(problem, SRV_BODY_TOO_LARGE, SRV_WHERE_NONE, NULL,
                        "a body of more than %zu bytes (setting limits.max_body)", options->max_body);
    }
    if (problem->id == SRV_NO_PROBLEM && exchange->route->takes_json)
        srv_body_append(&exchange->body, options->memory, data, size, problem);
    if (problem->id != SRV_NO_PROBLEM) srv_body_done(&exchange->body, options->memory);
    if (exchange->place) srv_connection_check_end(exchange->place);
    if (exchange->received <= options->max_body + SWALLOWED_BEYOND) return MHD_YES;
    if (exchange->place) srv_linger_take(exchange->http->linger, exchange->place->descriptor);
    srv_answer_last_word(exchange);
    return MHD_NO;
}

/* Hands the request to the workers: suspended first, so that resuming cannot come before. */
static enum MHD_Result start(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    srv_call *call = &exchange->call;
    if (!srv_budget_take(&http->running, 1)) {
        srv_problem_set(&call->reply.problem, SRV_QUEUE_FULL, SRV_WHERE_NONE, NULL,
                        "%zu requests are running or waiting; no more are taken at this moment (setting "
                        "limits.max_waiting)",
                        http->running.limit);
        return answer(exchange);
    }
    call->body = exchange->body.data;
    call->body_size = exchange->body.size;
    call->held = exchange->body.held;
    exchange->body = (srv_body){0};

    MHD_suspend_connection(exchange->connection);
    pthread_mutex_lock(&http->lock);
    exchange->stage = SRV_STAGE_WORKERS;
    http->suspended++;
    bool started = exchange->route->start(call);
    pthread_mutex_unlock(&http->lock);
    if (!started) srv_call_finish(call);
    return MHD_YES;
}

void srv_call_finish(srv_call *call) {
    srv_exchange *exchange = (srv_exchange *)call;
    srv_http *http = exchange->http;
    srv_budget_give(&http->running, 1); /* a client that reads slowly keeps no one else waiting */
    pthread_mutex_lock(&http->lock);
    call->job = NULL;
    exchange->stage = SRV_STAGE_READY;
    MHD_resume_connection(exchange->connection);
    http->suspended--;
    if (http->suspended == 0) pthread_cond_broadcast(&http->resumed);
    pthread_mutex_unlock(&http->lock);
}

srv_load srv_call_load(const srv_call *call) {
    srv_http *http = ((const srv_exchange *)call)->http;
    pthread_mutex_lock(&http->lock);
    srv_load load = {.connections = http->open, .requests = http->active};
    pthread_mutex_unlock(&http->lock);
    return load;
}

/* The request is complete. */
static enum MHD_Result on_end(srv_exchange *exchange) {
    exchange->ended = srv_clock_ms();
    if (exchange->call.reply.problem.id != SRV_NO_PROBLEM) return answer(exchange);
    if (exchange->route->start) return start(exchange);
    exchange->route->answer(&exchange->call);
    return answer(exchange);
}

enum MHD_Result srv_exchange_handle(void *cls, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data,
                                    size_t *data_size, void **context) {
    (void)cls, (void)connection, (void)url;
    srv_exchange *exchange = *context;
    if (!exchange) return MHD_NO; /* there was no memory for it */
    switch (exchange->stage) {
    case SRV_STAGE_HEADERS: return on_headers(exchange, method, version);
    case SRV_STAGE_BODY: return *data_size > 0 ? on_piece(exchange, data, data_size) : on_end(exchange);
    case SRV_STAGE_READY: return answer(exchange);
    case SRV_STAGE_WORKERS:
    case SRV_STAGE_QUEUED:
        break; /* suspended, or answered early: nothing to do until it is resumed or closed */
    }
    return MHD_YES;
}

void srv_exchange_completed(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_RequestTerminationCode how) {
    (void)connection;
    srv_http *http = cls;
    srv_exchange *exchange = *context;
    *context = NULL;
    if (!exchange) return;
    srv_exchange_record(exchange, how);
    srv_body_done(&exchange->body, http->options.memory);
    free(exchange->call.body);
    free(exchange->call.reply.body);
    srv_budget_give(http->options.memory, exchange->call.held + exchange->call.reply.held);

    pthread_mutex_lock(&http->lock);
    http->active--;
    if (exchange->place) {
        exchange->place->exchange = NULL;
        if (http->draining) shutdown(exchange->place->descriptor, SHUT_RD);
    }
    if (http->draining && http->active == 0) eventfd_write(http->idle_event, 1);
    pthread_mutex_unlock(&http->lock);
    free(exchange);
}
