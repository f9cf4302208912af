/* POST /v2/models/{model}/infer: hands the decoder, which has the body, to the pipeline, and counts how it went. */
#include "reply.h"
#include "routes.h"
#include "v2.h"

static void count(srv_call *call, const srv_answer *answer) {
    const srv_timing *timing = &answer->timing;
    srv_v2_name name;
    if (!srv_v2_find(call, &name)) return;
    const srv_inference_sample sample = {
        .succeeded = answer->problem.id == SRV_NO_PROBLEM,
        .batch = answer->batch,
        .parts = {timing->queue, timing->parse, timing->compute, timing->encode},
    };
    srv_inference_add(call->site->inference, srv_v2_number(&name), &sample);
}

/* On a worker. */
static void answered(void *context, srv_answer *answer) {
    srv_call *call = context;
    count(call, answer);
    srv_reply_answer(&call->reply, answer);
    srv_call_finish(call);
}

bool srv_route_v2_infer(srv_call *call) {
    srv_v2_name name;
    if (!srv_v2_find(call, &name)) return false;
    const srv_request request = {.decoder = call->decoder,
                                 .gives = call->gives,
                                 .packs = call->packs,
                                 .query = call->query,
                                 .query_size = call->query_size,
                                 .addressed = {.model = name.model->name,
                                               .has_maps = name.has_maps,
                                               .width = name.model->layers[0].d_model}};
    call->job = srv_pipeline_start(&call->site->service, &request, answered, call);
    if (!call->job)
        return srv_problem_set(&call->reply.problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for a job");
    call->decoder = NULL;
    return true;
}
