/* From a reply to what goes over the wire: headers, problem documents, and the last word of a connection on
 * which the library can queue nothing. HTTP thread. */
#include "exchange.h"

#include "server/codec/text.h"
#include "server/jobs/retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char problem_type[] = "application/problem+json";

/* Turns a problem into its document, under /v2 with the member that clients of that protocol read. Without memory the
 * answer is the bare status. */
static void settle(srv_exchange *exchange) {
    srv_reply *reply = &exchange->call.reply;
    if (reply->problem.id == SRV_NO_PROBLEM) return;
    free(reply->body);
    reply->status = srv_problem_status(&reply->problem);
    srv_target target = srv_target_split(exchange->target);
    bool is_inference = srv_target_is_below(&target, "/v2");
    reply->content_type = is_inference ? "application/json" : problem_type;
    reply->body = srv_problem_document(&reply->problem, exchange->id, is_inference, &reply->size);
    if (!reply->body) reply->size = 0;
}

/* Seconds after which a 503 may be tried again: when what is queued now should be done. */
static unsigned retry_after(srv_exchange *exchange) {
    const srv_reply *reply = &exchange->call.reply;
    srv_http *http = exchange->http;
    if (reply->status != 503) return reply->problem.retry_after;
    pthread_mutex_lock(&http->lock);
    double service_time = http->service_time;
    pthread_mutex_unlock(&http->lock);
    return srv_retry_after(service_time, srv_budget_taken(&http->running), http->options.workers);
}

static void add_timing(const srv_exchange *exchange, srv_header_fn *add, void *to) {
    const srv_timing *timing = &exchange->call.reply.timing;
    char value[160];
    snprintf(value, sizeof value, "read;dur=%.3f, parse;dur=%.3f, queue;dur=%.3f, compute;dur=%.3f",
             exchange->ended - exchange->began, timing->parse, timing->queue,
             timing->compute + timing->encode);
    add(to, "Server-Timing", value);
}

static void each_header(srv_exchange *exchange, srv_header_fn *add, void *to) {
    const srv_reply *reply = &exchange->call.reply;
    const char *allow = exchange->match.is_options ? exchange->match.allow : reply->problem.allow;
    unsigned seconds = retry_after(exchange);
    char number[24];
    if (reply->content_type) add(to, "Content-Type", reply->content_type);
    if (reply->coding != SRV_CODING_IDENTITY)
        add(to, "Content-Encoding", reply->coding == SRV_CODING_GZIP ? "gzip" : "deflate");
    if (reply->stream && reply->head > 0) {
        snprintf(number, sizeof number, "%zu", reply->head);
        add(to, "Inference-Header-Content-Length", number);
    }
    add(to, "X-Request-Id", exchange->id);
    if (allow) add(to, "Allow", allow);
    if (reply->status == 415) add(to, "Accept-Encoding", "gzip, deflate");
    if (reply->problem.id == SRV_UNAUTHORIZED) add(to, "WWW-Authenticate", "Bearer realm=\"attnd\"");
    if (seconds > 0) {
        snprintf(number, sizeof number, "%u", seconds);
        add(to, "Retry-After", number);
    }
    if (reply->has_timing) add_timing(exchange, add, to);
    srv_cors_headers(exchange, add, to);
    if (exchange->closes) add(to, "Connection", "close");
}

static void add_to_response(void *to, const char *name, const char *value) {
    /* Fails without memory only; the answer is still right without it. */
    (void)MHD_add_response_header(to, name, value);
}

static struct MHD_Response *whole_response(srv_exchange *exchange) {
    srv_reply *reply = &exchange->call.reply;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(reply->size, reply->body, free);
    if (response) reply->body = NULL;
    exchange->sent = strcmp(exchange->method, "HEAD") == 0 ? 0 : reply->size;
    return response;
}

enum MHD_Result srv_answer_queue(srv_exchange *exchange) {
    srv_reply *reply = &exchange->call.reply;
    settle(exchange);
    struct MHD_Response *response =
        reply->stream ? srv_streaming_response(exchange) : whole_response(exchange);
    if (!response) return MHD_NO;
    each_header(exchange, add_to_response, response);
    exchange->stage = SRV_STAGE_QUEUED;
    exchange->status = reply->status;
    enum MHD_Result queued = MHD_queue_response(exchange->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return queued;
}

static void add_to_text(void *to, const char *name, const char *value) {
    srv_text_append_string(to, name);
    srv_text_append_string(to, ": ");
    srv_text_append_string(to, value);
    srv_text_append_string(to, "\r\n");
}

void srv_answer_last_word(srv_exchange *exchange) {
    srv_reply *reply = &exchange->call.reply;
    settle(exchange);
    exchange->closes = true;
    char line[128];
    srv_text text = {0};
    snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\nContent-Length: %zu\r\n", reply->status,
             MHD_get_reason_phrase_for((unsigned)reply->status), reply->size);
    srv_text_append_string(&text, line);
    each_header(exchange, add_to_text, &text);
    srv_text_append_string(&text, "\r\n");
    srv_text_append(&text, reply->body, reply->size);
    /* Nothing else is in flight on this socket, so a few hundred bytes always fit its buffer. */
    if (!text.failed && send(exchange->place->descriptor, text.data, text.size,
                             MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)text.size) {
        exchange->status = reply->status;
        exchange->sent = reply->size;
    }
    srv_text_done(&text);
}
