/* POST /v1/attention: hands the decoder, which has the body, to the pipeline. */
#include "reply.h"
#include "routes.h"

/* On a worker. */
static void answered(void *context, srv_answer *answer) {
    srv_call *call = context;
    srv_reply_answer(&call->reply, answer);
    srv_call_finish(call);
}

bool srv_route_attention(srv_call *call) {
    const srv_request request = {.decoder = call->decoder,
                                 .gives = call->gives,
                                 .packs = call->packs,
                                 .query = call->query,
                                 .query_size = call->query_size};
    call->job = srv_pipeline_start(&call->site->service, &request, answered, call);
    if (!call->job)
        return srv_problem_set(&call->reply.problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for a job");
    call->decoder = NULL;
    return true;
}
