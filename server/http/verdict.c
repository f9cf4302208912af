/* What the headers decide: the refusals that they alone justify, in the order in which these win, and the room
 * that the body gets. No byte of the body has been looked at. HTTP thread. */
#include "exchange.h"

#include "server/http/media.h"
#include "server/http/origin.h"

#include <string.h>
#include <strings.h>

/* The parser's own limit lies above: what it refuses itself gets no document of ours. */
enum { MAX_HEADER_BYTES = 32 * 1024 };

static bool check_size(const srv_exchange *exchange, srv_problem *problem) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!info || info->header_size <= MAX_HEADER_BYTES) return true;
    return srv_problem_set(problem, SRV_HEADERS_TOO_LARGE, SRV_WHERE_NONE, NULL,
                           "a header section of %zu bytes; the limit is %d", info->header_size,
                           MAX_HEADER_BYTES);
}

/* Whether this daemon is meant: against web pages whose name has been made to lead here (DNS rebinding). */
static bool check_host(const srv_exchange *exchange, const char *host, srv_problem *problem) {
    const srv_http *http = exchange->http;
    if (!host || srv_host_is_loopback(host) || srv_host_is_listed(http->options.hosts, host)) return true;
    if (!http->only_loopback && http->options.hosts.count == 0) return true;
    return srv_problem_set(problem, SRV_MISDIRECTED, SRV_WHERE_HEADER, "Host",
                           "host '%.100s' is not served here; localhost, loopback addresses and the names of "
                           "setting server.hosts are",
                           host);
}

static bool check_origin(const srv_exchange *exchange, const srv_framing *framing, srv_problem *problem) {
    if (!framing->origin || exchange->origin) return true;
    return srv_problem_set(problem, SRV_FORBIDDEN_ORIGIN, SRV_WHERE_HEADER, "Origin",
                           "origin '%.100s'; this host and those of setting server.cors_origins are allowed",
                           framing->origin);
}

static bool check_content(const srv_route *route, const srv_framing *framing, srv_problem *problem) {
    if (!route->takes_json) return true;
    if (!srv_media_is_json(framing->content_type))
        return srv_problem_set(
            problem, SRV_UNSUPPORTED_MEDIA_TYPE, SRV_WHERE_HEADER, "Content-Type",
            "Content-Type '%.100s'; application/json, text/plain, application/x-www-form-urlencoded or none "
            "is read as JSON",
            framing->content_type);
    if (!srv_coding_is_identity(framing->content_encoding))
        return srv_problem_set(problem, SRV_UNSUPPORTED_MEDIA_TYPE, SRV_WHERE_HEADER, "Content-Encoding",
                               "Content-Encoding '%.100s'; a body without coding is accepted",
                               framing->content_encoding);
    return true;
}

typedef struct acceptance {
    const char *type, *refused; /* the last Accept line that does not let it through */
    bool is_accepted;
} acceptance;

static enum MHD_Result accept_line(void *cls, enum MHD_ValueKind kind, const char *key, const char *value) {
    (void)kind;
    acceptance *a = cls;
    if (strcasecmp(key, "Accept") != 0) return MHD_YES;
    if (srv_media_is_accepted(value, a->type))
        a->is_accepted = true;
    else
        a->refused = value;
    return MHD_YES;
}

static bool check_accept(const srv_exchange *exchange, const srv_route *route, srv_problem *problem) {
    acceptance a = {.type = route->produces};
    if (!route->produces) return true;
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, accept_line, &a);
    if (a.is_accepted || !a.refused) return true;
    return srv_problem_set(problem, SRV_NOT_ACCEPTABLE, SRV_WHERE_HEADER, "Accept",
                           "Accept '%.100s'; %s answers with %s", a.refused, route->path, route->produces);
}

static bool check_declared(const srv_exchange *exchange, const srv_framing *framing, srv_problem *problem) {
    size_t limit = exchange->http->options.max_body;
    if (framing->declared <= limit) return true;
    return srv_problem_set(problem, SRV_BODY_TOO_LARGE, SRV_WHERE_HEADER, "Content-Length",
                           "a body of %zu bytes; the limit is %zu (setting limits.max_body)",
                           framing->declared, limit);
}

/* Whether there is room at this moment. What needs no models (probes, counters) is always answered. */
static bool check_room(srv_exchange *exchange, const srv_route *route, size_t declared_size,
                       srv_problem *problem) {
    srv_http *http = exchange->http;
    if (!route->needs_models) return true;
    if (!srv_models_are_ready(http->options.models))
        return srv_problem_set(problem, SRV_LOADING, SRV_WHERE_NONE, NULL, "the models are being loaded");
    if (exchange->place->is_extra)
        return srv_problem_set(problem, SRV_TOO_MANY_CONNECTIONS, SRV_WHERE_NONE, NULL,
                               "%zu connections are open; no more are served at this moment (setting "
                               "limits.max_connections)",
                               http->options.max_connections);
    if (!route->start) return true;
    if (srv_budget_taken(&http->running) >= http->running.limit) return srv_refuse_queue(http, problem);
    return !route->takes_json ||
           srv_body_expect(&exchange->body, http->options.memory, declared_size, problem);
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

bool srv_refuse_queue(const srv_http *http, srv_problem *problem) {
    return srv_problem_set(problem, SRV_QUEUE_FULL, SRV_WHERE_NONE, NULL,
                           "%zu requests are running or waiting; no more are taken at this moment (setting "
                           "limits.max_waiting)",
                           http->running.limit);
}

/* Whom the request says it is for: an absolute target's word goes before Host's. NULL: it does not say. */
static const char *wanted_host(const srv_target *target, const srv_framing *framing, char buffer[256]) {
    if (!target->authority) return framing->host[0] ? framing->host : NULL;
    size_t size = target->authority_size < 255 ? target->authority_size : 255;
    memcpy(buffer, target->authority, size);
    buffer[size] = '\0';
    return buffer;
}

void srv_verdict_origin(srv_exchange *exchange, const srv_framing *framing) {
    srv_target target = srv_target_split(exchange->target);
    char buffer[256];
    const char *host = wanted_host(&target, framing, buffer);
    if (!framing->origin) return;
    if (srv_origin_is_allowed(exchange->http->options.cors_origins, framing->origin) ||
        (host && srv_origin_is_own(framing->origin, host)))
        exchange->origin = framing->origin;
}

void srv_verdict(srv_exchange *exchange, const srv_framing *framing) {
    srv_http *http = exchange->http;
    srv_problem *problem = &exchange->call.reply.problem;
    srv_target target = srv_target_split(exchange->target);
    char buffer[256];
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
    if (check_content(route, framing, problem) && check_accept(exchange, route, problem) &&
        check_declared(exchange, framing, problem) && check_room(exchange, route, framing->declared, problem))
        check_query(route, &target, problem);
}
