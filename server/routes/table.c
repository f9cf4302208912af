/* Verb, path, handler. Open to everybody, keys or not: probes, and what is the same in every installation. Probes and
 * /metrics take any query and any Accept: their callers cannot be taught. */
#include "routes.h"

static const char json[] = "application/json";

/* The Open Inference Protocol: rows that only read, for a path with a version and one without. */
#define READS(PATH, RIGHT, ANSWER)                                                                           \
    {.method = "GET", .path = PATH, .right = RIGHT, .needs_models = true, .produces = json, .answer = ANSWER}
#define READS_MODEL(REST, RIGHT, ANSWER)                                                                     \
    READS("/v2/models/{model}" REST, RIGHT, ANSWER),                                                         \
        READS("/v2/models/{model}/versions/{version}" REST, RIGHT, ANSWER)
#define PROBES(PATH, RIGHT, ANSWER)                                                                          \
    {.method = "GET", .path = PATH, .right = RIGHT, .ignores_query = true, .is_quiet = true, .answer = ANSWER}
#define INFERS(PATH)                                                                                         \
    {.method = "POST",                                                                                       \
     .path = PATH,                                                                                           \
     .right = SRV_RIGHT_INFER,                                                                               \
     .needs_models = true,                                                                                   \
     .takes_query = true,                                                                                    \
     .ignores_accept = true,                                                                                 \
     .codecs = &srv_codecs_inference,                                                                        \
     .start = srv_route_v2_infer}
#define NOT_OFFERED(METHOD, PATH)                                                                            \
    {.method = METHOD,                                                                                       \
     .path = PATH,                                                                                           \
     .ignores_query = true,                                                                                  \
     .ignores_names = true,                                                                                  \
     .answer = srv_route_v2_not_offered}
#define NO_SHARED_MEMORY(KIND)                                                                               \
    NOT_OFFERED("GET", "/v2/" KIND "/status"), NOT_OFFERED("GET", "/v2/" KIND "/region/{region}/status"),    \
        NOT_OFFERED("POST", "/v2/" KIND "/region/{region}/register"),                                        \
        NOT_OFFERED("POST", "/v2/" KIND "/region/{region}/unregister"),                                      \
        NOT_OFFERED("POST", "/v2/" KIND "/unregister")

static const srv_route rows[] = {
    {.method = "POST",
     .path = "/v1/attention",
     .right = SRV_RIGHT_INFER,
     .needs_models = true,
     .takes_query = true,
     .codecs = &srv_codecs_attention,
     .start = srv_route_attention},
    {.method = "GET",
     .path = "/v1/models",
     .right = SRV_RIGHT_READ,
     .needs_models = true,
     .produces = json,
     .answer = srv_route_models},
    {.method = "GET",
     .path = "/v1/models/{model}/example",
     .right = SRV_RIGHT_READ,
     .needs_models = true,
     .produces = json,
     .answer = srv_route_example},
    {.method = "GET",
     .path = "/v1/models/{model}",
     .right = SRV_RIGHT_READ,
     .needs_models = true,
     .produces = json,
     .answer = srv_route_model},
    {.method = "GET",
     .path = "/v1/models/{model}/layers/{layer}",
     .right = SRV_RIGHT_READ,
     .needs_models = true,
     .produces = json,
     .answer = srv_route_layer},
    {.method = "GET",
     .path = "/v1/limits",
     .right = SRV_RIGHT_READ,
     .needs_models = true,
     .produces = json,
     .answer = srv_route_limits},
    {.method = "GET", .path = "/livez", .ignores_query = true, .is_quiet = true, .answer = srv_route_live},
    {.method = "GET", .path = "/readyz", .ignores_query = true, .is_quiet = true, .answer = srv_route_ready},
    {.method = "GET", .path = "/healthz", .ignores_query = true, .is_quiet = true, .answer = srv_route_live},
    {.method = "GET",
     .path = "/metrics",
     .right = SRV_RIGHT_METRICS,
     .ignores_query = true,
     .is_quiet = true,
     .answer = srv_route_metrics},
    {.method = "GET",
     .path = "/version",
     .right = SRV_RIGHT_READ,
     .produces = json,
     .answer = srv_route_version},
    {.method = "GET",
     .path = "/openapi.json",
     .needs_models = true,
     .produces = json,
     .answer = srv_route_openapi},
    {.method = "GET",
     .path = "/",
     .needs_models = true,
     .ignores_query = true,
     .produces = "text/plain",
     .answer = srv_route_index},
    READS("/v2", SRV_RIGHT_READ, srv_route_v2_server),
    PROBES("/v2/health/live", SRV_RIGHT_NONE, srv_route_v2_live),
    PROBES("/v2/health/ready", SRV_RIGHT_NONE, srv_route_v2_ready),
    READS("/v2/models/stats", SRV_RIGHT_METRICS, srv_route_v2_stats),
    READS_MODEL("", SRV_RIGHT_READ, srv_route_v2_model),
    READS_MODEL("/config", SRV_RIGHT_READ, srv_route_v2_config),
    READS_MODEL("/stats", SRV_RIGHT_METRICS, srv_route_v2_stats),
    PROBES("/v2/models/{model}/ready", SRV_RIGHT_READ, srv_route_v2_model_ready),
    PROBES("/v2/models/{model}/versions/{version}/ready", SRV_RIGHT_READ, srv_route_v2_model_ready),
    INFERS("/v2/models/{model}/infer"),
    INFERS("/v2/models/{model}/versions/{version}/infer"),
    {.method = "POST",
     .path = "/v2/repository/index",
     .right = SRV_RIGHT_READ,
     .needs_models = true,
     .produces = json,
     .answer = srv_route_v2_index},
    NOT_OFFERED("POST", "/v2/repository/models/{model}/load"),
    NOT_OFFERED("POST", "/v2/repository/models/{model}/unload"),
    NO_SHARED_MEMORY("systemsharedmemory"),
    NO_SHARED_MEMORY("cudasharedmemory"),
    NOT_OFFERED("GET", "/v2/logging"),
    NOT_OFFERED("POST", "/v2/logging"),
    NOT_OFFERED("GET", "/v2/trace/setting"),
    NOT_OFFERED("POST", "/v2/trace/setting"),
    NOT_OFFERED("GET", "/v2/models/{model}/trace/setting"),
    NOT_OFFERED("POST", "/v2/models/{model}/trace/setting"),
};

const srv_routes srv_route_table = {.rows = rows, .count = sizeof rows / sizeof rows[0]};
