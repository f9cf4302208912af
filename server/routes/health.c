/* GET /livez, /healthz and /readyz: whether the process lives, and whether it wants requests. */
#include "reply.h"
#include "routes.h"

/* Probes come often, and their text is always the same. */
static void fine(srv_call *call) {
    srv_text text = {0};
    srv_text_append_string(&text, "{\"status\":\"ok\"}\n");
    srv_reply_text(&call->reply, "application/json", &text);
}

void srv_route_live(srv_call *call) {
    fine(call);
}

void srv_route_ready(srv_call *call) {
    srv_problem *problem = &call->reply.problem;
    if (atomic_load(&call->site->draining)) {
        srv_problem_set(problem, SRV_DRAINING, SRV_WHERE_NONE, NULL, "the daemon is stopping");
    } else if (!srv_models_are_ready(call->site->service.models)) {
        srv_problem_set(problem, SRV_LOADING, SRV_WHERE_NONE, NULL, "the models are being loaded");
    } else {
        fine(call);
    }
}
