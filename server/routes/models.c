/* GET /v1/models, /v1/models/{model}, its layers and its example. */
#include "reply.h"
#include "routes.h"
#include "server/codec/json.h"
#include "server/model_facts.h"

#include <string.h>

void srv_route_models(srv_call *call) {
    const srv_models *models = call->site->service.models;
    json_t *list = json_array();
    for (size_t i = 0; i < srv_models_count(models); i++)
        json_array_append_new(list, srv_model_summary(models, i));
    srv_reply_json(&call->reply, json_pack("{s:o}", "models", list));
}

/* The place in the list of the model that the path names; the list's size, with a 404, where there is none. */
static size_t find(srv_call *call) {
    const srv_models *models = call->site->service.models;
    const char *name = call->parameters.text[0];
    size_t count = srv_models_count(models);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(srv_models_at(models, i)->name, name) == 0) return i;
    }
    char names[256];
    srv_models_names(models, names, sizeof names);
    srv_problem_set(&call->reply.problem, SRV_MODEL_NOT_FOUND, SRV_WHERE_NONE, NULL,
                    "no model '%.64s'; there are %s", name, names);
    return count;
}

void srv_route_model(srv_call *call) {
    const srv_models *models = call->site->service.models;
    size_t index = find(call);
    if (index < srv_models_count(models)) srv_reply_json(&call->reply, srv_model_document(models, index));
}

void srv_route_layer(srv_call *call) {
    const srv_models *models = call->site->service.models;
    size_t index = find(call);
    if (index == srv_models_count(models)) return;
    const attn_model *model = srv_models_at(models, index);
    const char *wanted = call->parameters.text[1];
    const attn_layer *layer = srv_models_layer(model, wanted), *layers = model->layers;
    if (layer) {
        srv_reply_json(&call->reply, srv_layer_document(model, (size_t)(layer - layers)));
        return;
    }
    char known[SRV_LAYERS_SIZE];
    srv_models_layers(model, known, sizeof known);
    srv_problem_set(&call->reply.problem, SRV_LAYER_NOT_FOUND, SRV_WHERE_NONE, NULL,
                    "no layer '%.64s' in model '%s'; %s", wanted, model->name, known);
}

void srv_route_example(srv_call *call) {
    const srv_models *models = call->site->service.models;
    size_t index = find(call);
    if (index == srv_models_count(models)) return;
    const attn_model *model = srv_models_at(models, index);
    srv_text text = {0};
    srv_json_example(model->name, 0, &model->layers[0], &text);
    srv_reply_text(&call->reply, "application/json", &text);
}
