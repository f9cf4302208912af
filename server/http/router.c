/* Routing (router.h): the path first, then the method, so that a known path with a wrong method is a 405. */
#include "router.h"

#include <string.h>

static bool answers(const srv_route *route, const char *method) {
    return strcmp(route->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

const srv_route *srv_route_find(const srv_routes *routes, const char *method, const srv_target *target,
                                srv_parameters *parameters, srv_problem *problem) {
    if (strcmp(method, "CONNECT") == 0) {
        /* Its target is no path: there is nothing here to connect to. */
        srv_problem_set(problem, SRV_METHOD_NOT_ALLOWED, SRV_WHERE_NONE, NULL,
                        "method CONNECT; this is no proxy");
        problem->allow = "GET, HEAD, POST";
        return NULL;
    }
    const srv_route *other = NULL;
    for (size_t i = 0; i < routes->count; i++) {
        const srv_route *route = &routes->rows[i];
        if (!srv_target_matches(target, route->path, parameters)) continue;
        if (answers(route, method)) return route;
        other = route;
    }
    if (other) {
        const char *allow = strcmp(other->method, "GET") == 0 ? "GET, HEAD" : other->method;
        srv_problem_set(problem, SRV_METHOD_NOT_ALLOWED, SRV_WHERE_NONE, NULL, "method %.16s; %s takes %s",
                        method, other->path, allow);
        problem->allow = allow;
    } else {
        srv_problem_set(problem, SRV_NOT_FOUND, SRV_WHERE_NONE, NULL, "no resource '%.*s'; GET / lists them",
                        (int)(target->path_size < 200 ? target->path_size : 200), target->path);
    }
    return NULL;
}
