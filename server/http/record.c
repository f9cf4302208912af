/* What is kept of a finished exchange: its log line, its counts, and how it ended where no answer tells. Any
 * thread that ends exchanges. */
#include "exchange.h"
#include "server/obs/clock.h"

enum { WORKERS_FIELDS = 4 }; /* of a line, at its end: only for what came to the workers */

static void log_line(const srv_exchange *exchange, enum MHD_RequestTerminationCode how) {
    const srv_reply *reply = &exchange->call.reply;
    const srv_timing *timing = &reply->timing;
    const srv_route *route = exchange->match.route;
    const srv_log *log = exchange->http->options.log;
    bool is_refused = reply->problem.id != SRV_NO_PROBLEM;
    /* Whom a wrong key or origin keeps out is told though it asks again and again; a 503 is a probe's answer. */
    bool is_kept_out = exchange->status >= 400 && exchange->status < 500;
    bool is_quiet = route && route->is_quiet && !is_kept_out;
    srv_log_level level = exchange->status == 500 ? SRV_LOG_ERROR : is_quiet ? SRV_LOG_DEBUG : SRV_LOG_INFO;
    if (!srv_log_has(log, level)) return;
    const srv_field fields[] = {
        srv_field_string("id", exchange->id[0] ? exchange->id : NULL),
        srv_field_string("method", exchange->method[0] ? exchange->method : NULL),
        srv_field_string("route", route ? route->path : "none"),
        srv_field_count("status", (size_t)exchange->status),
        srv_field_string("key", exchange->key ? exchange->key->name : NULL),
        srv_field_string("code", is_refused ? srv_problem_code(&reply->problem) : NULL),
        srv_field_string("host", reply->problem.id == SRV_MISDIRECTED ? exchange->stranger : NULL),
        srv_field_string("origin", reply->problem.id == SRV_FORBIDDEN_ORIGIN ? exchange->stranger : NULL),
        srv_field_string("end", how == MHD_REQUEST_TERMINATED_COMPLETED_OK ? NULL
                                : exchange->place->is_cut                  ? "deadline"
                                                                           : "cut"),
        srv_field_count("in", exchange->received),
        srv_field_count("out", exchange->sent),
        srv_field_ms("read", exchange->ended - exchange->began),
        srv_field_ms("total", srv_clock_ms() - exchange->began),
        srv_field_ms("queue", timing->queue),
        srv_field_ms("parse", timing->parse),
        srv_field_ms("compute", timing->compute),
        srv_field_ms("encode", timing->encode),
    };
    size_t count = sizeof fields / sizeof fields[0] - (reply->has_timing ? 0 : WORKERS_FIELDS);
    bool is_answered = exchange->status != 0 && exchange->status < 400;
    if (is_answered || exchange->status == 500) {
        srv_log_event(log, level, "request", fields, count);
    } else {
        const char *reason = is_refused ? srv_problem_code(&reply->problem) : "cut";
        srv_log_event_limited(log, level, "request", reason, fields, count);
    }
}

/* Stages that a request did not come to are not counted as short. */
static void count_stage(srv_metrics *metrics, srv_time_stage stage, double milliseconds) {
    if (milliseconds > 0) srv_metrics_time(metrics, stage, milliseconds);
}

static void count_times(const srv_exchange *exchange, srv_metrics *metrics) {
    const srv_timing *timing = &exchange->call.reply.timing;
    srv_metrics_time(metrics, SRV_TIME_READ, exchange->ended - exchange->began);
    count_stage(metrics, SRV_TIME_QUEUE, timing->queue);
    count_stage(metrics, SRV_TIME_PARSE, timing->parse);
    count_stage(metrics, SRV_TIME_COMPUTE, timing->compute);
    count_stage(metrics, SRV_TIME_ENCODE, timing->encode);
    srv_metrics_time(metrics, SRV_TIME_TOTAL, srv_clock_ms() - exchange->began);
}

/* An exchange that the library did not bring to its end. */
static void count_cut(const srv_exchange *exchange, srv_metrics *metrics) {
    bool timed_out = exchange->place->is_cut;
    switch (exchange->stage) {
    case SRV_STAGE_HEADERS:
        srv_metrics_end(metrics, timed_out ? SRV_END_HEADER_DEADLINE : SRV_END_PARSER);
        break;
    case SRV_STAGE_BODY:
        /* With a status: the last word has been said. */
        if (exchange->status == 0)
            srv_metrics_end(metrics, timed_out ? SRV_END_BODY_DEADLINE : SRV_END_CLIENT_GONE);
        break;
    case SRV_STAGE_WORKERS:
    case SRV_STAGE_READY:
    case SRV_STAGE_QUEUED:
        srv_metrics_end(metrics, timed_out ? SRV_END_READER_DEADLINE : SRV_END_CLIENT_GONE);
        break;
    }
}

void srv_exchange_record(const srv_exchange *exchange, enum MHD_RequestTerminationCode how) {
    const srv_http_options *options = &exchange->http->options;
    const srv_route *found = exchange->match.route;
    size_t route = found ? (size_t)(found - options->routes.rows) : options->routes.count;
    log_line(exchange, how);
    if (exchange->status != 0) srv_metrics_count(options->metrics, route, exchange->method, exchange->status);
    if (exchange->call.reply.has_timing) count_times(exchange, options->metrics);
    if (how != MHD_REQUEST_TERMINATED_COMPLETED_OK && how != MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN)
        count_cut(exchange, options->metrics);
}
