/* The Open Inference Protocol: the server and its names. Source: https://github.com/kserve/open-inference-protocol,
 * specification/protocol/inference_rest.md. */
#include "v2.h"

#include "reply.h"
#include "routes.h"
#include "server/codec/oip.h"
#include "server/version.h"

#include <stdio.h>
#include <string.h>

size_t srv_v2_names(const srv_models *models) {
    return 2 * srv_models_count(models);
}

srv_v2_name srv_v2_name_at(const srv_models *models, size_t number) {
    srv_v2_name name = {
        .index = number / 2, .model = srv_models_at(models, number / 2), .has_maps = number % 2 == 1};
    snprintf(name.text, sizeof name.text, "%s%s", name.model->name, name.has_maps ? SRV_OIP_MAPS : "");
    return name;
}

size_t srv_v2_number(const srv_v2_name *name) {
    return 2 * name->index + name->has_maps;
}

bool srv_v2_find(srv_call *call, srv_v2_name *out) {
    const srv_models *models = call->site->service.models;
    const char *wanted = call->parameters.text[0], *version = call->parameters.text[1];
    size_t number = 0, count = srv_v2_names(models);
    for (; number < count; number++) {
        *out = srv_v2_name_at(models, number);
        if (strcmp(out->text, wanted) == 0) break;
    }
    if (number == count) {
        char names[256];
        srv_models_names(models, names, sizeof names);
        return srv_problem_set(
            &call->reply.problem, SRV_MODEL_NOT_FOUND, SRV_WHERE_NONE, NULL,
            "no model '%.70s'; there are %s, and each with " SRV_OIP_MAPS " behind its name", wanted, names);
    }
    if (*version == '\0' || strcmp(version, SRV_OIP_VERSION) == 0) return true;
    return srv_problem_set(&call->reply.problem, SRV_MODEL_NOT_FOUND, SRV_WHERE_NONE, NULL,
                           "no version '%.20s' of model '%s'; there is " SRV_OIP_VERSION, version, out->text);
}

bool srv_v2_is_ready(srv_call *call) {
    srv_problem *problem = &call->reply.problem;
    if (atomic_load(&call->site->draining))
        return srv_problem_set(problem, SRV_DRAINING, SRV_WHERE_NONE, NULL, "the daemon is stopping");
    if (srv_models_are_ready(call->site->service.models)) return true;
    return srv_problem_set(problem, SRV_LOADING, SRV_WHERE_NONE, NULL, "the models are being loaded");
}

void srv_route_v2_server(srv_call *call) {
    srv_reply_json(&call->reply,
                   json_pack("{s:s, s:s, s:[s, s, s]}", "name", "attnd", "version", SRV_VERSION.version,
                             "extensions", "binary_tensor_data", "model_configuration", "statistics"));
}

void srv_route_v2_live(srv_call *call) {
    srv_reply_json(&call->reply, json_pack("{s:b}", "live", 1));
}

void srv_route_v2_ready(srv_call *call) {
    if (srv_v2_is_ready(call)) srv_reply_json(&call->reply, json_pack("{s:b}", "ready", 1));
}

/* What there is, not what could be loaded: nothing can. */
void srv_route_v2_index(srv_call *call) {
    const srv_models *models = call->site->service.models;
    json_t *list = json_array();
    for (size_t i = 0; i < srv_v2_names(models); i++) {
        srv_v2_name name = srv_v2_name_at(models, i);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", name.text, "version",
                                              SRV_OIP_VERSION, "state", "READY", "reason", ""));
    }
    srv_reply_json(&call->reply, list);
}

void srv_route_v2_not_offered(srv_call *call) {
    srv_problem_set(&call->reply.problem, SRV_NOT_IMPLEMENTED, SRV_WHERE_NONE, NULL,
                    "an extension of the protocol that is not offered; GET /v2 lists those that are");
}
