/* Routing (router.h): the path first, then the method, so that a known path with a wrong method is a 405. */
#include "router.h"

#include <string.h>

static bool answers(const srv_route *route, const char *method) {
    return strcmp(route->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

static void add_method(char allow[SRV_ALLOW_SIZE], const char *method) {
    size_t used = strlen(allow);
    if (used + strlen(method) + sizeof ", " > SRV_ALLOW_SIZE) return;
    if (used > 0) {
        memcpy(allow + used, ", ", sizeof ", ");
        used += 2;
    }
    memcpy(allow + used, method, strlen(method) + 1);
}

static bool refuse_method(const char *method, const char *path, srv_match *out, srv_problem *problem) {
    srv_problem_set(problem, SRV_METHOD_NOT_ALLOWED, SRV_WHERE_NONE, NULL, "method %.16s; %s takes %s",
                    method, path, out->allow);
    problem->allow = out->allow;
    return false;
}

/* What concerns the daemon, not a path: `OPTIONS *`, and CONNECT, whose target is no path. */
static bool find_pathless(const char *method, srv_match *out, srv_problem *problem) {
    add_method(out->allow, "GET");
    add_method(out->allow, "HEAD");
    add_method(out->allow, "POST");
    add_method(out->allow, "OPTIONS");
    out->is_options = strcmp(method, "OPTIONS") == 0;
    return out->is_options || refuse_method(method, "the daemon, which is no proxy,", out, problem);
}

bool srv_route_find(const srv_routes *routes, const char *method, const srv_target *target, srv_match *out,
                    srv_parameters *parameters, srv_problem *problem) {
    bool is_options = strcmp(method, "OPTIONS") == 0;
    *out = (srv_match){0};
    if (strcmp(method, "CONNECT") == 0 ||
        (is_options && target->path_size == 1 && target->path[0] == '*' && !target->query))
        return find_pathless(method, out, problem);

    const srv_route *known = NULL;
    for (size_t i = 0; i < routes->count; i++) {
        const srv_route *route = &routes->rows[i];
        if (!srv_target_matches(target, route->path, route->ignores_names ? NULL : parameters)) continue;
        if (answers(route, method)) {
            out->route = route;
            return true;
        }
        if (!known) known = route;
        add_method(out->allow, route->method);
        if (strcmp(route->method, "GET") == 0) add_method(out->allow, "HEAD");
    }
    if (!known) {
        return srv_problem_set(problem, SRV_NOT_FOUND, SRV_WHERE_NONE, NULL,
                               "no resource '%.*s'; GET / lists them",
                               (int)(target->path_size < 200 ? target->path_size : 200), target->path);
    }
    add_method(out->allow, "OPTIONS");
    out->route = known;
    out->is_options = is_options;
    return is_options || refuse_method(method, known->path, out, problem);
}
