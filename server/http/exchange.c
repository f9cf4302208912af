/* The request state machine (exchange.h). What libmicrohttpd asks of it:
 *
 *   - an answer queued in the first call closes the connection, so a refusal is remembered and, as a rule,
 *     queued in the last call, after the body has been swallowed: the client reads it, and the connection stays
 *     in step;
 *   - in mid-body nothing can be queued;
 *   - suspend first, then hand over; whoever resumes holds the lock;
 *   - a last call that neither queues nor suspends would spin. */
#include "exchange.h"

#include "server/obs/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static srv_connection *place_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Zeroed, with room for a target of that size. What the last request on the connection left serves again, since most
 * targets are short. */
static srv_exchange *allocate(srv_connection *place, size_t size) {
    srv_exchange *spare = place->spare;
    if (size > SRV_SHORT_TARGET) return calloc(1, sizeof *spare + size);
    place->spare = NULL;
    return spare ? memset(spare, 0, sizeof *spare) : calloc(1, sizeof *spare + SRV_SHORT_TARGET);
}

void *srv_exchange_began(void *cls, const char *target, struct MHD_Connection *connection) {
    srv_http *http = cls;
    size_t size = strlen(target) + 1;
    srv_connection *place = place_of(connection);
    srv_exchange *exchange = place ? allocate(place, size) : NULL;
    if (!exchange) return NULL;
    memcpy(exchange->target, target, size);
    /* The library would parse the query into arguments, which costs it a pool that some queries overflow. The
     * text is its own writable buffer, const in name only; ending it behind the '?' leaves
     * nothing to parse. */
    char *query = strchr((char *)(uintptr_t)target, '?');
    if (query) query[1] = '\0';

    exchange->http = http;
    exchange->connection = connection;
    exchange->place = place;
    exchange->call.site = http->options.site;
    exchange->began = exchange->ended = srv_clock_ms();
    exchange->closes = place->is_extra;
    /* The time of the headers runs from their first byte, where that has been seen. */
    if (atomic_load(&place->phase) != SRV_PHASE_HEADERS)
        srv_connection_enter(place, SRV_PHASE_HEADERS, exchange->began, http->options.times.headers);
    pthread_mutex_lock(&http->lock);
    http->active++;
    place->exchange = exchange;
    pthread_mutex_unlock(&http->lock);
    return exchange;
}

/* Queues the reply; at once (before the last byte of the request) the connection cannot stay in step. */
static enum MHD_Result answer(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    if (exchange->call.reply.problem.id == SRV_CLIENT_GONE) return MHD_NO;
    exchange->closes = exchange->closes || http->draining;
    atomic_store(&exchange->place->progress, 0);
    srv_connection_enter(exchange->place, SRV_PHASE_ANSWER, srv_clock_about_ms(),
                         http->options.times.stalled_reader);
    return srv_answer_queue(exchange);
}

/* The body's last byte must come by then; each of its bytes within the time of a stall. */
static void await_body(srv_exchange *exchange, double now) {
    const srv_http_times *times = &exchange->http->options.times;
    size_t size = exchange->declared > exchange->received ? exchange->declared : exchange->received;
    double end = exchange->body_deadline + times->body_mebibyte * ((double)size / (1 << 20));
    atomic_store(&exchange->place->deadline, fmin(end, now + times->stalled_body));
}

static enum MHD_Result on_headers(srv_exchange *exchange, const char *method, const char *version) {
    srv_http *http = exchange->http;
    srv_problem *problem = &exchange->call.reply.problem;
    srv_framing framing;
    double now = srv_clock_about_ms();
    size_t length = strnlen(method, sizeof exchange->method - 1);
    memcpy(exchange->method, method, length);
    exchange->stage = SRV_STAGE_BODY;
    bool is_sound = srv_framing_read(exchange, method, version, &framing, problem);
    srv_request_id(exchange->id, framing.request_id);
    srv_verdict_origin(exchange, &framing);
    if (is_sound) srv_verdict(exchange, &framing);
    exchange->declared = framing.declared;
    exchange->body_deadline = now + http->options.times.body;
    await_body(exchange, now);
    atomic_store(&exchange->place->phase, SRV_PHASE_BODY);
    if (problem->id == SRV_NO_PROBLEM) return MHD_YES;

    /* A client that waits for leave is told no; what is not framed soundly or too long to swallow is not
     * read. */
    exchange->refused = now;
    bool is_too_long = framing.declared > http->options.max_body + http->options.max_swallow;
    if (is_sound && !framing.expects && !is_too_long) return MHD_YES;
    srv_linger_take(http->linger, exchange->place->descriptor);
    exchange->closes = true;
    return answer(exchange);
}

/* A piece of the body: for the decoder where the route has one, else swallowed within bounds. */
static enum MHD_Result on_piece(srv_exchange *exchange, const char *data, size_t *data_size) {
    const srv_http_options *options = &exchange->http->options;
    srv_problem *problem = &exchange->call.reply.problem;
    double now = srv_clock_ms();
    size_t size = *data_size;
    *data_size = 0;
    exchange->received += size;
    await_body(exchange, now);
    if (exchange->received > options->max_body) {
        srv_problem_set(problem, SRV_BODY_TOO_LARGE, SRV_WHERE_NONE, NULL,
                        "a body of more than %zu bytes (setting limits.max_body)", options->max_body);
    }
    srv_call *call = &exchange->call;
    if (problem->id == SRV_NO_PROBLEM && call->decoder) srv_decoder_feed(call->decoder, data, size, problem);
    if (problem->id == SRV_NO_PROBLEM) return MHD_YES;

    srv_decoder_free(call->decoder);
    call->decoder = NULL;
    if (exchange->refused == 0) exchange->refused = now;
    if (exchange->received <= options->max_body + options->max_swallow &&
        now <= exchange->refused + options->times.swallow)
        return MHD_YES;
    srv_linger_take(exchange->http->linger, exchange->place->descriptor);
    srv_answer_last_word(exchange);
    return MHD_NO;
}

/* Hands the request to the workers: suspended first, so that resuming cannot come before. False, and nothing has
 * happened, where the daemon waits for the workers no more. */
static bool hand_over(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    srv_call *call = &exchange->call;
    pthread_mutex_lock(&http->lock);
    bool is_late = http->stopping, started = false;
    if (!is_late) {
        MHD_suspend_connection(exchange->connection);
        exchange->stage = SRV_STAGE_WORKERS;
        srv_connection_enter(exchange->place, SRV_PHASE_WORKERS, exchange->ended, INFINITY);
        http->suspended++;
        started = exchange->match.route->start(call);
    }
    pthread_mutex_unlock(&http->lock);
    if (!is_late && !started) srv_call_finish(call);
    return !is_late;
}

static enum MHD_Result start(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    srv_problem *problem = &exchange->call.reply.problem;
    if (!srv_budget_take(&http->running, 1)) {
        srv_refuse_queue(http, problem);
        return answer(exchange);
    }
    if (hand_over(exchange)) return MHD_YES;
    srv_budget_give(&http->running, 1);
    srv_problem_set(problem, SRV_DRAINING, SRV_WHERE_NONE, NULL, "the daemon is stopping");
    return answer(exchange);
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
    const srv_route *route = exchange->match.route;
    exchange->ended = srv_clock_ms();
    if (exchange->call.reply.problem.id != SRV_NO_PROBLEM) return answer(exchange);
    if (exchange->match.is_options) {
        exchange->call.reply.status = MHD_HTTP_NO_CONTENT;
        return answer(exchange);
    }
    if (route->start) return start(exchange);
    route->answer(&exchange->call);
    srv_verdict_query(exchange, &exchange->call.reply.problem);
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
