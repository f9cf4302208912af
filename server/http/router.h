/* The table of verb, path and handler, and how a request finds its row. Pure; any thread. */
#ifndef SRV_HTTP_ROUTER_H
#define SRV_HTTP_ROUTER_H

#include "server/http/call.h"

typedef struct srv_route {
    const char *method; /* "GET" (which answers HEAD too) or "POST" */
    const char *path;   /* as srv_target_matches takes it; also the route's name in the log */
    bool needs_models;  /* 503 until they are loaded */
    bool takes_query;   /* `start` reads it */
    bool ignores_query; /* without either a query is a 422 */
    bool is_quiet;      /* asked for all the time, by probes: logged at level debug, not info */
    bool takes_json;    /* a body is collected and must be of a JSON media type; else it is passed over */
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

/* The row for a request; NULL with the 404 or 405 in *problem. */
const srv_route *srv_route_find(const srv_routes *routes, const char *method, const srv_target *target,
                                srv_parameters *parameters, srv_problem *problem);

#endif
