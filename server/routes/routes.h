/* The table of resources and their handlers, one file a resource. Adding one = one file + one
 * row in table.c. */
#ifndef SRV_ROUTES_ROUTES_H
#define SRV_ROUTES_ROUTES_H

#include "site.h"

extern const srv_routes srv_route_table;

bool srv_route_attention(srv_call *call);
void srv_route_example(srv_call *call);
void srv_route_index(srv_call *call);
void srv_route_layer(srv_call *call);
void srv_route_limits(srv_call *call);
void srv_route_live(srv_call *call);
void srv_route_metrics(srv_call *call);
void srv_route_model(srv_call *call);
void srv_route_models(srv_call *call);
void srv_route_openapi(srv_call *call);
void srv_route_ready(srv_call *call);
void srv_route_version(srv_call *call);

/* The Open Inference Protocol. */
bool srv_route_v2_infer(srv_call *call);
void srv_route_v2_server(srv_call *call);
void srv_route_v2_live(srv_call *call);
void srv_route_v2_ready(srv_call *call);
void srv_route_v2_model(srv_call *call);
void srv_route_v2_model_ready(srv_call *call);
void srv_route_v2_config(srv_call *call);
void srv_route_v2_stats(srv_call *call);
void srv_route_v2_index(srv_call *call);
void srv_route_v2_not_offered(srv_call *call);

#endif
