/* The headers of the Fetch standard's CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol): they stand
 * on every answer of ours to a page of an allowed origin, errors included. Without credentials: keys travel in
 * headers that a page sets itself. HTTP thread. */
#include "exchange.h"

static const char EXPOSED[] =
    "X-Request-Id, Server-Timing, Retry-After, ETag, Inference-Header-Content-Length, X-Attention-Encoding";
static const char ACCEPTED[] =
    "Content-Type, Content-Encoding, Authorization, X-API-Key, X-Request-Id, traceparent, "
    "Inference-Header-Content-Length";
/* Two hours, the longest that a browser grants. */
static const char MAX_AGE[] = "7200";

void srv_cors_headers(const srv_exchange *exchange, srv_header_fn *add, void *to) {
    /* A refusal is the same document whatever is accepted. */
    bool is_negotiated = exchange->call.gives && exchange->call.reply.problem.id == SRV_NO_PROBLEM;
    add(to, "Vary", is_negotiated ? "Origin, Accept, Accept-Encoding" : "Origin");
    if (!exchange->origin) return;
    add(to, "Access-Control-Allow-Origin", exchange->origin);
    add(to, "Access-Control-Expose-Headers", EXPOSED);
    add(to, "Timing-Allow-Origin", exchange->origin);
    if (!exchange->is_preflight) return;
    add(to, "Access-Control-Allow-Methods", exchange->match.allow);
    add(to, "Access-Control-Allow-Headers", ACCEPTED);
    add(to, "Access-Control-Max-Age", MAX_AGE);
}
