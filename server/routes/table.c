/* Verb, path, handler. */
#include "routes.h"

static const char json[] = "application/json";

static const srv_route rows[] = {
    {.method = "POST",
     .path = "/v1/attention",
     .needs_models = true,
     .takes_query = true,
     .takes_json = true,
     .produces = json,
     .start = srv_route_attention},
    {.method = "GET",
     .path = "/v1/models",
     .needs_models = true,
     .produces = json,
     .answer = srv_route_models},
    {.method = "GET",
     .path = "/v1/models/{model}/example",
     .needs_models = true,
     .produces = json,
     .answer = srv_route_example},
    {.method = "GET",
     .path = "/v1/models/{model}",
     .needs_models = true,
     .produces = json,
     .answer = srv_route_model},
    {.method = "GET",
     .path = "/v1/models/{model}/layers/{layer}",
     .needs_models = true,
     .produces = json,
     .answer = srv_route_layer},
    {.method = "GET",
     .path = "/v1/limits",
     .needs_models = true,
     .produces = json,
     .answer = srv_route_limits},
    {.method = "GET", .path = "/livez", .ignores_query = true, .is_quiet = true, .answer = srv_route_live},
    {.method = "GET", .path = "/readyz", .ignores_query = true, .is_quiet = true, .answer = srv_route_ready},
    {.method = "GET", .path = "/healthz", .ignores_query = true, .is_quiet = true, .answer = srv_route_live},
    {.method = "GET", .path = "/metrics", .is_quiet = true, .answer = srv_route_metrics},
    {.method = "GET", .path = "/version", .answer = srv_route_version},
    {.method = "GET", .path = "/", .needs_models = true, .ignores_query = true, .answer = srv_route_index},
};

const srv_routes srv_route_table = {.rows = rows, .count = sizeof rows / sizeof rows[0]};
