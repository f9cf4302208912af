/* What a client is told when a request is refused: one row of the table below, and where in the request.
 *
 * The table is the only place that knows HTTP status numbers of errors. A problem is a plain value with fixed
 * buffers; the first one wins (setting a set problem changes nothing). */
#ifndef SRV_PROBLEM_H
#define SRV_PROBLEM_H

#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>

/* id, status, stable code. Rows stand in the order in which they win where several apply (docs: the HTTP
 * contract). */
#define SRV_PROBLEMS(X)                                                                                      \
    X(SRV_NO_PROBLEM, 200, "ok")                                                                             \
    X(SRV_BAD_HTTP, 400, "bad_http")                                                                         \
    X(SRV_HEADERS_TOO_LARGE, 431, "headers_too_large")                                                       \
    X(SRV_MISDIRECTED, 421, "misdirected")                                                                   \
    X(SRV_NOT_FOUND, 404, "not_found")                                                                       \
    X(SRV_METHOD_NOT_ALLOWED, 405, "method_not_allowed")                                                     \
    X(SRV_FORBIDDEN_ORIGIN, 403, "forbidden_origin")                                                         \
    X(SRV_UNAUTHORIZED, 401, "unauthorized")                                                                 \
    X(SRV_FORBIDDEN, 403, "forbidden")                                                                       \
    X(SRV_UNSUPPORTED_MEDIA_TYPE, 415, "unsupported_media_type")                                             \
    X(SRV_NOT_ACCEPTABLE, 406, "not_acceptable")                                                             \
    X(SRV_BODY_TOO_LARGE, 413, "body_too_large")                                                             \
    X(SRV_RATE_LIMITED, 429, "rate_limited")                                                                 \
    X(SRV_TOO_MANY_CONNECTIONS, 503, "too_many_connections")                                                 \
    X(SRV_QUEUE_FULL, 503, "queue_full")                                                                     \
    X(SRV_LOADING, 503, "loading")                                                                           \
    X(SRV_DRAINING, 503, "draining")                                                                         \
    X(SRV_BAD_JSON, 400, "bad_json")                                                                         \
    X(SRV_BAD_BODY, 400, "bad_body")                                                                         \
    X(SRV_MODEL_NOT_FOUND, 404, "model_not_found")                                                           \
    X(SRV_LAYER_NOT_FOUND, 404, "layer_not_found")                                                           \
    X(SRV_BAD_PARAMETER, 422, "bad_parameter")                                                               \
    X(SRV_UNKNOWN_FIELD, 422, "unknown_field")                                                               \
    X(SRV_MISSING_FIELD, 422, "missing_field")                                                               \
    X(SRV_NOT_SUPPORTED, 422, "not_supported")                                                               \
    X(SRV_NOT_IMPLEMENTED, 501, "not_implemented")                                                           \
    X(SRV_WRONG_TYPE, 422, "wrong_type")                                                                     \
    X(SRV_SHAPE_MISMATCH, 422, "shape_mismatch")                                                             \
    X(SRV_OUT_OF_RANGE, 422, "out_of_range")                                                                 \
    X(SRV_AMBIGUOUS_CAUSAL, 422, "ambiguous_causal")                                                         \
    X(SRV_CONFLICT, 422, "conflict")                                                                         \
    X(SRV_NOT_FINITE, 422, "not_finite")                                                                     \
    X(SRV_NOT_REPRESENTABLE, 422, "not_representable")                                                       \
    X(SRV_NEEDS_TOO_MUCH_MEMORY, 413, "needs_too_much_memory")                                               \
    X(SRV_PICTURE_TOO_LARGE, 413, "picture_too_large")                                                       \
    X(SRV_MEMORY_TAKEN, 503, "memory_taken")                                                                 \
    X(SRV_DEADLINE, 504, "deadline")                                                                         \
    X(SRV_CLIENT_GONE, 499, "client_gone") /* nobody is left to be answered: for the log */                  \
    X(SRV_INTERNAL, 500, "internal")

typedef enum srv_problem_id {
#define X(id, status, code) id,
    SRV_PROBLEMS(X)
#undef X
} srv_problem_id;

/* What `where` is: the member's name in the problem document. */
typedef enum srv_where_kind {
    SRV_WHERE_NONE,
    SRV_WHERE_POINTER,   /* a JSON Pointer into the body (RFC 6901) */
    SRV_WHERE_OFFSET,    /* a byte offset into the body, in decimal */
    SRV_WHERE_PARAMETER, /* a query parameter */
    SRV_WHERE_HEADER,    /* a request header */
} srv_where_kind;

typedef struct srv_problem {
    srv_problem_id id;
    srv_where_kind where_kind;
    char where[ATTN_WHERE_SIZE];
    char detail[ATTN_TEXT_SIZE]; /* one line of valid UTF-8: what was found and what would be accepted */
    unsigned retry_after;        /* seconds, for 503 and 429; 0: no header */
    const char *allow;           /* for 405: the Allow header; outlives the problem */
} srv_problem;

int srv_problem_status(const srv_problem *problem);
const char *srv_problem_code(const srv_problem *problem);

void srv_problem_clear(srv_problem *problem);

/* Sets a problem unless one is set already. Detail is made one line of valid UTF-8 (bad bytes become U+FFFD,
 * control characters '?'), cut where it is too long. Returns false, so that `return srv_problem_set(…)` reads
 * well. */
__attribute__((format(printf, 5, 6))) bool srv_problem_set(srv_problem *problem, srv_problem_id id,
                                                           srv_where_kind kind, const char *where,
                                                           const char *format, ...);

/* The problem that an engine error becomes; ATTN_CODES are mapped in one table. Returns false. */
bool srv_problem_from_engine(srv_problem *problem, const attn_error *error);

/* The problem+json document (RFC 9457) on a line, malloc'ed and NUL-terminated, its length in *size; NULL without
 * memory. `with_error`: the detail also as the member `error`, the one that the Open Inference Protocol has. */
char *srv_problem_document(const srv_problem *problem, const char *request_id, bool with_error, size_t *size);

#endif
