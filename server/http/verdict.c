/* What the headers decide: the refusals that they alone justify, in the order in which these win, and the room
 * that the body gets. No byte of the body has been looked at. HTTP thread. */
#include "exchange.h"

#include "config/cfg.h"
#include "server/codec/inflater.h"
#include "server/codec/utf8.h"
#include "server/http/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The parser's own limit lies above: what it refuses itself gets no document of ours. */
enum {
    MAX_HEADER_BYTES = 32 * 1024,
    LONGEST_SHOWN = 100 /* bytes of a client's word that a problem repeats */
};

static bool check_size(const srv_exchange *exchange, srv_problem *problem) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!info || info->header_size <= MAX_HEADER_BYTES) return true;
    return srv_problem_set(problem, SRV_HEADERS_TOO_LARGE, SRV_WHERE_NONE, NULL,
                           "a header section of %zu bytes; the limit is %d", info->header_size,
                           MAX_HEADER_BYTES);
}

/* Whether this daemon is meant: against web pages whose name has been made to lead here (DNS rebinding). */
static bool check_host(srv_exchange *exchange, const char *host, srv_problem *problem) {
    const srv_http *http = exchange->http;
    if (!host || srv_host_is_loopback(host) || srv_host_is_listed(http->options.hosts, host)) return true;
    if (!http->only_loopback && http->options.hosts.count == 0) return true;
    srv_utf8_clean(exchange->stranger, sizeof exchange->stranger, host);
    return srv_problem_set(problem, SRV_MISDIRECTED, SRV_WHERE_HEADER, "Host",
                           "host '%.*s' is not served here; localhost, loopback addresses and the names of "
                           "setting server.hosts are",
                           LONGEST_SHOWN, host);
}

/* Whether it is an origin that a browser sends and the setting takes: neither null nor a pattern. */
static bool is_a_page_s(const char *origin) {
    return strstr(origin, "://") && !strchr(origin, '*') && !cfg_origin_wanted(origin);
}

static bool check_origin(srv_exchange *exchange, const srv_framing *framing, srv_problem *problem) {
    const char *origin = framing->origin;
    if (!origin || exchange->origin) return true;
    srv_utf8_clean(exchange->stranger, sizeof exchange->stranger, origin);
    char remedy[LONGEST_SHOWN + 40] = "";
    if (strlen(origin) <= LONGEST_SHOWN && is_a_page_s(origin))
        snprintf(remedy, sizeof remedy, "; --cors-origin %s allows it", origin);
    return srv_problem_set(problem, SRV_FORBIDDEN_ORIGIN, SRV_WHERE_HEADER, "Origin",
                           "origin '%.*s'; this host and those of setting server.cors_origins are allowed%s",
                           LONGEST_SHOWN, origin, remedy);
}

static bool check_declared(const srv_exchange *exchange, const srv_framing *framing, srv_problem *problem) {
    size_t limit = exchange->http->options.max_body;
    if (framing->declared <= limit) return true;
    return srv_problem_set(problem, SRV_BODY_TOO_LARGE, SRV_WHERE_HEADER, "Content-Length",
                           "a body of %zu bytes; the limit is %zu (setting limits.max_body)",
                           framing->declared, limit);
}

/* Bytes of JSON, as Inference-Header-Content-Length says them. */
static bool read_head(const char *text, size_t *out, srv_problem *problem) {
    if (!text) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && digits < 19 && text[digits] == '\0') {
        *out = (size_t)strtoull(text, NULL, 10);
        return true;
    }
    return srv_problem_set(problem, SRV_BAD_BODY, SRV_WHERE_HEADER, "Inference-Header-Content-Length",
                           "found '%.40s'%s; one number of bytes is expected", text,
                           *text == '\0' ? " or the header twice" : "");
}

/* Who is let in has room for what the body will probably need. */
static bool open_decoder(srv_exchange *exchange, const srv_framing *framing, srv_problem *problem) {
    const srv_http_options *options = &exchange->http->options;
    srv_call *call = &exchange->call;
    call->decoder = call->coding == SRV_CODING_IDENTITY
                        ? srv_decoder_new(call->takes, options->memory, options->max_json)
                        : srv_inflater_new(call->coding, options->max_body, call->takes, options->memory,
                                           options->max_json);
    if (!call->decoder) {
        problem->retry_after = 1;
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for a body");
    }
    return (!call->takes->has_head || read_head(framing->inference_header, &call->decoder->head, problem)) &&
           srv_share_expect(&call->decoder->share, framing->declared, problem);
}

/* Whether there is room at this moment. What needs no models (probes, counters) is always answered. */
static bool check_room(srv_exchange *exchange, const srv_framing *framing, srv_problem *problem) {
    const srv_route *route = exchange->match.route;
    srv_http *http = exchange->http;
    if (!route->needs_models) return true;
    if (!srv_models_are_ready(http->options.models))
        return srv_problem_set(problem, SRV_LOADING, SRV_WHERE_NONE, NULL, "the models are being loaded");
    if (exchange->place->is_extra)
        return srv_problem_set(problem, SRV_TOO_MANY_CONNECTIONS, SRV_WHERE_NONE, NULL,
                               "%zu connection%s open; no more are served at this moment (setting "
                               "limits.max_connections)",
                               http->options.max_connections,
                               http->options.max_connections == 1 ? " is" : "s are");
    if (!route->start) return true;
    if (srv_budget_taken(&http->running) >= http->running.limit) return srv_refuse_queue(http, problem);
    return !route->codecs || open_decoder(exchange, framing, problem);
}

bool srv_verdict_query(const srv_exchange *exchange, srv_problem *problem) {
    const srv_route *route = exchange->match.route;
    const char *query = exchange->call.query;
    if (!query || route->ignores_query || route->takes_query) return true;
    query += strspn(query, "&");
    if (*query == '\0') return true;
    char name[64] = "";
    size_t size = strcspn(query, "=&");
    if (size >= sizeof name) size = sizeof name - 1;
    memcpy(name, query, size);
    return srv_problem_set(problem, SRV_UNKNOWN_FIELD, SRV_WHERE_PARAMETER, name,
                           "query parameter '%s'; %s takes none", name, route->path);
}

bool srv_refuse_queue(const srv_http *http, srv_problem *problem) {
    return srv_problem_set(problem, SRV_QUEUE_FULL, SRV_WHERE_NONE, NULL,
                           "%zu requests are running or waiting; no more are taken at this moment (setting "
                           "limits.max_waiting)",
                           http->running.limit);
}

/* Whom the request says it is for: an absolute target's word goes before Host's. NULL: it does not say. */
static const char *wanted_host(const srv_target *target, const srv_framing *framing, char buffer[264]) {
    if (!target->authority) return framing->host[0] ? framing->host : NULL;
    size_t size = target->authority_size < 263 ? target->authority_size : 263;
    memcpy(buffer, target->authority, size);
    buffer[size] = '\0';
    return buffer;
}

void srv_verdict_origin(srv_exchange *exchange, const srv_framing *framing) {
    if (!framing->origin) return;
    srv_target target = srv_target_split(exchange->target);
    char buffer[264];
    const char *host = wanted_host(&target, framing, buffer);
    if (srv_origin_is_allowed(exchange->http->options.cors_origins, framing->origin) ||
        (host && srv_origin_is_own(framing->origin, host)))
        exchange->origin = framing->origin;
}

void srv_verdict(srv_exchange *exchange, const srv_framing *framing) {
    srv_http *http = exchange->http;
    srv_problem *problem = &exchange->call.reply.problem;
    srv_target target = srv_target_split(exchange->target);
    char buffer[264];
    const char *host = wanted_host(&target, framing, buffer);
    if (!check_size(exchange, problem) || !check_host(exchange, host, problem)) return;
    bool is_found = srv_route_find(&http->options.routes, exchange->method, &target, &exchange->match,
                                   &exchange->call.parameters, problem);
    if (!is_found || !check_origin(exchange, framing, problem)) return;
    const srv_route *route = exchange->match.route;
    exchange->call.query = target.query;
    exchange->call.query_size = target.query_size;
    exchange->is_preflight = framing->is_preflight && exchange->origin && exchange->match.is_options;
    if (exchange->match.is_options) return;
    bool changes_nothing = strcmp(route->method, "GET") == 0;
    if (srv_credential_check(exchange, framing, route->right, problem) &&
        srv_negotiate_body(exchange, framing, problem) && srv_negotiate_answer(exchange, problem) &&
        check_declared(exchange, framing, problem) && srv_credential_take(exchange, problem) &&
        check_room(exchange, framing, problem) && !changes_nothing)
        srv_verdict_query(exchange, problem);
}
