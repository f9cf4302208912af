/* From a reply to what goes over the wire: headers, problem documents, and the last word of a connection on
 * which the library can queue nothing. HTTP thread. */
#include "exchange.h"

#include "server/codec/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char problem_type[] = "application/problem+json";

/* Turns a problem into its document. Without memory the answer is the bare status. */
static void settle(srv_exchange *exchange) {
    srv_reply *reply = &exchange->call.reply;
    if (reply->problem.id == SRV_NO_PROBLEM) return;
    free(reply->body);
    reply->status = srv_problem_status(&reply->problem);
    reply->content_type = problem_type;
    reply->body = srv_problem_document(&reply->problem, exchange->id, &reply->size);
    if (!reply->body) reply->size = 0;
}

/* Seconds after which a 503 may be tried again. */
static unsigned retry_after(const srv_reply *reply) {
    if (reply->problem.retry_after > 0) return reply->problem.retry_after;
    return reply->status == 503 ? 1 : 0;
}

static void add_header(struct MHD_Response *response, const char *name, const char *value) {
    /* Fails without memory only; the answer is still right without it. */
    (void)MHD_add_response_header(response, name, value);
}

static void add_timing(const srv_exchange *exchange, struct MHD_Response *response) {
    const srv_timing *timing = &exchange->call.reply.timing;
    char value[160];
    snprintf(value, sizeof value, "read;dur=%.3f, parse;dur=%.3f, queue;dur=%.3f, compute;dur=%.3f",
             exchange->ended - exchange->began, timing->parse, timing->queue,
             timing->compute + timing->encode);
    add_header(response, "Server-Timing", value);
}

static void add_headers(const srv_exchange *exchange, struct MHD_Response *response) {
    const srv_reply *reply = &exchange->call.reply;
    char number[16];
    add_header(response, "Content-Type", reply->content_type);
    add_header(response, "X-Request-Id", exchange->id);
    if (reply->problem.allow) add_header(response, "Allow", reply->problem.allow);
    if (retry_after(reply) > 0) {
        snprintf(number, sizeof number, "%u", retry_after(reply));
        add_header(response, "Retry-After", number);
    }
    if (reply->has_timing) add_timing(exchange, response);
    if (exchange->closes) add_header(response, "Connection", "close");
}

enum MHD_Result srv_answer_queue(srv_exchange *exchange) {
    srv_reply *reply = &exchange->call.reply;
    settle(exchange);
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(reply->size, reply->body, free);
    if (!response) return MHD_NO;
    reply->body = NULL;
    add_headers(exchange, response);
    exchange->stage = SRV_STAGE_QUEUED;
    exchange->status = reply->status;
    exchange->sent = strcmp(exchange->method, "HEAD") == 0 ? 0 : reply->size;
    enum MHD_Result queued = MHD_queue_response(exchange->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return queued;
}

void srv_answer_last_word(srv_exchange *exchange) {
    srv_reply *reply = &exchange->call.reply;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    settle(exchange);
    char head[512];
    int size = snprintf(head, sizeof head,
                        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nX-Request-Id: %s\r\n"
                        "Connection: close\r\n\r\n",
                        reply->status, MHD_get_reason_phrase_for((unsigned)reply->status),
                        reply->content_type, reply->size, exchange->id);
    srv_text text = {0};
    srv_text_append(&text, head, (size_t)size);
    srv_text_append(&text, reply->body, reply->size);
    /* Nothing else is in flight on this socket, so a few hundred bytes always fit its buffer. */
    if (info && !text.failed &&
        send(info->connect_fd, text.data, text.size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)text.size) {
        exchange->status = reply->status;
        exchange->sent = reply->size;
    }
    srv_text_done(&text);
}
