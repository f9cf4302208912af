/* GET /v1/models and /v1/models/{m}/example. */
#include "reply.h"
#include "routes.h"
#include "server/codec/json.h"

static json_t *describe(const attn_model *model, bool is_default) {
    const attn_layer *layer = &model->layers[0];
    json_t *width = layer->d_model > 0 ? json_integer((json_int_t)layer->d_model) : json_null();
    return json_pack("{s:s, s:s, s:I, s:o, s:I, s:I, s:b}", "name", model->name, "family", model->family,
                     "layers", (json_int_t)model->layer_count, "d_model", width, "heads",
                     (json_int_t)layer->heads, "kv_heads", (json_int_t)layer->kv_heads, "default",
                     is_default);
}

void srv_route_models(srv_call *call) {
    const srv_models *models = call->site->service.models;
    json_t *list = json_array();
    for (size_t i = 0; i < srv_models_count(models); i++)
        json_array_append_new(list, describe(srv_models_at(models, i), i == 0));
    srv_reply_json(&call->reply, json_pack("{s:o}", "models", list));
}

void srv_route_example(srv_call *call) {
    const srv_models *models = call->site->service.models;
    const attn_model *model = srv_models_find(models, call->parameter);
    if (!model) {
        char names[256];
        srv_models_names(models, names, sizeof names);
        srv_problem_set(&call->reply.problem, SRV_MODEL_NOT_FOUND, SRV_WHERE_NONE, NULL,
                        "no model '%.64s'; there are %s", call->parameter, names);
        return;
    }
    srv_text text = {0};
    srv_json_example(model->name, 0, &model->layers[0], &text);
    srv_reply_text(&call->reply, "application/json", &text);
}
