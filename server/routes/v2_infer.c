/* POST /v2/models/{model}/infer: hands the decoder, which has the body, to the pipeline, and counts how it went. */
#include "reply.h"
#include "routes.h"
#include "v2.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* Bytes of JSON; SIZE_MAX where there is no such header. */
static bool read_header(srv_call *call, size_t *out) {
    const char *text = call->inference_header;
    *out = SIZE_MAX;
    if (!text) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && digits < 19 && text[digits] == '\0') {
        *out = (size_t)strtoull(text, NULL, 10);
        return true;
    }
    return srv_problem_set(&call->reply.problem, SRV_BAD_BODY, SRV_WHERE_HEADER,
                           "Inference-Header-Content-Length",
                           "found '%.40s'%s; one number of bytes is expected", text,
                           *text == '\0' ? " or the header twice" : "");
}

bool srv_route_v2_infer(srv_call *call) {
    srv_v2_name name;
    size_t text;
    if (!read_header(call, &text) || !srv_v2_find(call, &name)) return false;
    const srv_request request = {.decoder = call->decoder,
                                 .gives = call->gives,
                                 .packs = call->packs,
                                 .query = call->query,
                                 .query_size = call->query_size,
                                 .addressed = {.model = name.model->name,
                                               .has_maps = name.has_maps,
                                               .width = name.model->layers[0].d_model,
                                               .text = text}};
    call->job = srv_pipeline_start(&call->site->service, &request, answered, call);
    if (!call->job)
        return srv_problem_set(&call->reply.problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for a job");
    call->decoder = NULL;
    return true;
}
