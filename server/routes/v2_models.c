/* GET /v2/models/{model}, its readiness and its configuration (model configuration extension:
 * https://github.com/triton-inference-server/server, docs/protocol/extension_model_configuration.md). Shapes are those
 * of a model's first layer. */
#include "reply.h"
#include "routes.h"
#include "server/codec/oip.h"
#include "v2.h"

/* -1 where any number will do. */
static json_t *axis(size_t number) {
    return json_integer(number > 0 ? (json_int_t)number : -1);
}

static json_t *any(void) {
    return json_integer(-1);
}

static json_t *input_shape(const attn_layer *layer, size_t which) {
    const size_t widths[] = {layer->d_model, layer->d_key, layer->d_value};
    if (srv_oip_inputs[which].is_mask) return json_pack("[o, o]", any(), any());
    return json_pack("[o, o, o]", any(), any(), axis(widths[which]));
}

static json_t *output_shape(const attn_layer *layer, size_t which) {
    if (which == 0) return json_pack("[o, o, o]", any(), any(), axis(layer->d_out));
    return json_pack("[o, o, o, o]", any(), axis(layer->heads), any(), any());
}

/* Whether a layer computes nothing without it. */
static bool is_needed(const attn_layer *layer, size_t which) {
    bool has_widths = !attn_layer_is_parameter_free(layer);
    if (which == 0) return true;
    if (which == 1) return layer->is_cross || (has_widths && layer->d_key != layer->d_model);
    return which == 2 && has_widths && layer->d_value != layer->d_key;
}

static json_t *metadata_inputs(const attn_layer *layer) {
    json_t *list = json_array();
    for (size_t i = 0; i < SRV_OIP_INPUTS; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", srv_oip_inputs[i].name, "datatype",
                                              srv_oip_inputs[i].is_mask ? "BOOL" : "FP32", "shape",
                                              input_shape(layer, i)));
    return list;
}

static json_t *metadata_outputs(const srv_v2_name *name) {
    json_t *list = json_array();
    for (size_t i = 0; i < (name->has_maps ? 2 : 1); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", srv_oip_outputs[i], "datatype",
                                              "FP32", "shape", output_shape(&name->model->layers[0], i)));
    return list;
}

void srv_route_v2_model(srv_call *call) {
    srv_v2_name name;
    if (!srv_v2_find(call, &name)) return;
    srv_reply_json(&call->reply,
                   json_pack("{s:s, s:[s], s:s, s:o, s:o}", "name", name.text, "versions", SRV_OIP_VERSION,
                             "platform", "attnd", "inputs", metadata_inputs(&name.model->layers[0]),
                             "outputs", metadata_outputs(&name)));
}

void srv_route_v2_model_ready(srv_call *call) {
    srv_v2_name name;
    if (!srv_v2_is_ready(call) || !srv_v2_find(call, &name)) return;
    srv_reply_json(&call->reply, json_pack("{s:s, s:b}", "name", name.text, "ready", 1));
}

static json_t *config_inputs(const attn_layer *layer) {
    json_t *list = json_array();
    for (size_t i = 0; i < SRV_OIP_INPUTS; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:b}", "name", srv_oip_inputs[i].name, "data_type",
                                        srv_oip_inputs[i].is_mask ? "TYPE_BOOL" : "TYPE_FP32", "dims",
                                        input_shape(layer, i), "optional", !is_needed(layer, i)));
    return list;
}

static json_t *config_outputs(const srv_v2_name *name) {
    json_t *list = json_array();
    for (size_t i = 0; i < (name->has_maps ? 2 : 1); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", srv_oip_outputs[i], "data_type",
                                              "TYPE_FP32", "dims", output_shape(&name->model->layers[0], i)));
    return list;
}

/* max_batch_size 0: the batch axis is part of the shapes. */
void srv_route_v2_config(srv_call *call) {
    srv_v2_name name;
    if (!srv_v2_find(call, &name)) return;
    srv_reply_json(&call->reply,
                   json_pack("{s:s, s:s, s:s, s:{s:{s:i}}, s:i, s:o, s:o}", "name", name.text, "platform",
                             "attnd", "backend", "attnd", "version_policy", "latest", "num_versions", 1,
                             "max_batch_size", 0, "input", config_inputs(&name.model->layers[0]), "output",
                             config_outputs(&name)));
}
