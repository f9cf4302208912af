/* POST /v1/attention: hands the body to the pipeline. */
#include "routes.h"

/* On a worker. */
static void answered(void *context, srv_answer *answer) {
    srv_call *call = context;
    srv_reply *reply = &call->reply;
    reply->problem = answer->problem;
    reply->status = 200;
    reply->content_type = "application/json";
    reply->body = answer->body;
    reply->size = answer->size;
    reply->held = answer->held;
    reply->has_timing = true;
    reply->timing = answer->timing;
    srv_call_finish(call);
}

bool srv_route_attention(srv_call *call) {
    call->job = srv_pipeline_start(&call->site->service, call->body, call->body_size, call->held, call->query,
                                   call->query_size, answered, call);
    if (!call->job)
        return srv_problem_set(&call->reply.problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for a job");
    call->body = NULL;
    call->body_size = call->held = 0;
    return true;
}
