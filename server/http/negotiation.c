/* What the headers choose where a route leaves a choice: the format of the body, and format and coding of the answer
 * (RFC 9110, 12). HTTP thread. */
#include "exchange.h"

#include "server/http/media.h"

#include <strings.h>

bool srv_negotiate_body(srv_exchange *exchange, const srv_framing *framing, srv_problem *problem) {
    const srv_route *route = exchange->match.route;
    if (!route->codecs) return true;
    exchange->call.takes = srv_codec_of_body(route->codecs, framing->content_type);
    if (!exchange->call.takes) {
        char types[256];
        srv_codecs_read(route->codecs, types, sizeof types);
        return srv_problem_set(problem, SRV_UNSUPPORTED_MEDIA_TYPE, SRV_WHERE_HEADER, "Content-Type",
                               "Content-Type '%.100s'; %s is read, and none as %s", framing->content_type,
                               types, route->codecs->rows->type);
    }
    if (!srv_coding_of(framing->content_encoding, &exchange->call.coding))
        return srv_problem_set(problem, SRV_UNSUPPORTED_MEDIA_TYPE, SRV_WHERE_HEADER, "Content-Encoding",
                               "Content-Encoding '%.100s'; gzip, deflate or none is accepted",
                               framing->content_encoding);
    return true;
}

/* Values that an answer's header may have, and what all lines of the request's say of them. */
typedef struct acceptance {
    const char *header;
    const char *values[SRV_MAX_CODECS]; /* NULL: cannot be written */
    srv_preference preferences[SRV_MAX_CODECS];
    size_t count;
    const char *line; /* the last one that says something; NULL: none does */
} acceptance;

static enum MHD_Result accept_line(void *cls, enum MHD_ValueKind kind, const char *key, const char *value) {
    (void)kind;
    acceptance *a = cls;
    if (strcasecmp(key, a->header) != 0 || srv_media_is_nothing(value)) return MHD_YES;
    a->line = value;
    for (size_t i = 0; i < a->count; i++)
        if (a->values[i]) srv_media_prefer(value, a->values[i], &a->preferences[i]);
    return MHD_YES;
}

static bool is_better(const srv_preference *a, const srv_preference *b) {
    return a->weight != b->weight ? a->weight > b->weight : a->closeness > b->closeness;
}

/* The place of the value that the client likes best, of equals the one that it names, of those the first;
 * count: none is accepted. */
static size_t choose(const acceptance *a) {
    size_t best = a->count;
    for (size_t i = 0; i < a->count; i++) {
        if (a->preferences[i].weight == 0) continue;
        if (best == a->count || is_better(&a->preferences[i], &a->preferences[best])) best = i;
    }
    return best;
}

/* Uncompressed goes always, whatever the client says; it is chosen where that names it and likes it best. */
static srv_coding choose_coding(const srv_exchange *exchange) {
    static const srv_coding codings[] = {SRV_CODING_GZIP, SRV_CODING_DEFLATE, SRV_CODING_IDENTITY};
    acceptance a = {.header = "Accept-Encoding", .values = {"gzip", "deflate", "identity"}, .count = 3};
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, accept_line, &a);
    if (a.preferences[2].closeness < 3) a.preferences[2] = (srv_preference){0};
    size_t chosen = choose(&a);
    return chosen < a.count ? codings[chosen] : SRV_CODING_IDENTITY;
}

static bool refuse(const char *line, const char *path, const char *types, srv_problem *problem) {
    return srv_problem_set(problem, SRV_NOT_ACCEPTABLE, SRV_WHERE_HEADER, "Accept",
                           "Accept '%.100s'; %s answers with %s", line, path, types);
}

bool srv_negotiate_answer(srv_exchange *exchange, srv_problem *problem) {
    const srv_route *route = exchange->match.route;
    const srv_codecs *codecs = route->codecs;
    if (!codecs && !route->produces) return true;
    acceptance a = {.header = "Accept", .values = {route->produces}, .count = codecs ? codecs->count : 1};
    for (size_t i = 0; codecs && i < a.count; i++)
        a.values[i] = codecs->rows[i].encode ? codecs->rows[i].type : NULL;
    if (!route->ignores_accept)
        MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, accept_line, &a);
    size_t chosen = a.line ? choose(&a) : 0;
    if (chosen == a.count) {
        char types[256];
        if (codecs) srv_codecs_written(codecs, types, sizeof types);
        return refuse(a.line, route->path, codecs ? types : route->produces, problem);
    }
    if (!codecs) return true;
    exchange->call.gives = codecs->rows + chosen;
    exchange->call.packs = choose_coding(exchange);
    return true;
}
