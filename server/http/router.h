/* The table of verb, path and handler, and how a request finds its row. Pure; any thread. */
#ifndef SRV_HTTP_ROUTER_H
#define SRV_HTTP_ROUTER_H

#include "server/auth/keys.h"
#include "server/http/call.h"

typedef struct srv_route {
    const char *method;  /* "GET" (which answers HEAD too) or "POST" */
    const char *path;    /* as srv_target_matches takes it; also the route's name in the log */
    srv_right right;     /* what a key must be good for, where keys are asked for */
    bool needs_models;   /* 503 until they are loaded */
    bool takes_query;    /* `start` reads it */
    bool ignores_query;  /* without either a query is a 422 */
    bool ignores_accept; /* one format is written, and clients do not say what they take */
    bool ignores_names;  /* nobody reads what stands at the {…} places of the path: it may be anything */
    bool is_quiet;       /* asked for all the time, by probes: logged at level debug, not info */
    /* A body is collected, and the headers choose the formats of body and answer; NULL: a body is passed over */
    const srv_codecs *codecs;
    const char *
        produces; /* without those, the media type that Accept must let through; NULL: whatever Accept says */
    /* One of the two. `answer` fills in the reply at once, on the HTTP thread: no work of any size. `start`
     * hands the request to the workers, and srv_call_finish follows from there; false: the reply holds why it
     * cannot. */
    void (*answer)(srv_call *call);
    bool (*start)(srv_call *call);
} srv_route;

typedef struct srv_routes {
    const srv_route *rows;
    size_t count;
} srv_routes;

enum { SRV_ALLOW_SIZE = 64 };

/* Where a request leads. */
typedef struct srv_match {
    const srv_route *route;     /* NULL: `OPTIONS *`, or nowhere */
    bool is_options;            /* asks what there is: the path is known, and no handler runs */
    char allow[SRV_ALLOW_SIZE]; /* the methods that the path takes, for the Allow header */
} srv_match;

/* Finds the row for a request. False with the 404 or 405 in *problem, which refers to out->allow. */
bool srv_route_find(const srv_routes *routes, const char *method, const srv_target *target, srv_match *out,
                    srv_parameters *parameters, srv_problem *problem);

#endif
