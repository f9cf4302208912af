/* The documents (model_facts.h). A file is told by its base name: where it lies on this machine is no
 * client's business; operators find the whole path in the log. */
#include "model_facts.h"

#include <string.h>

/* null where the layer takes any width. */
static json_t *width(size_t number) {
    return number > 0 ? json_integer((json_int_t)number) : json_null();
}

json_t *srv_model_summary(const srv_models *models, size_t index) {
    const attn_model *model = srv_models_at(models, index);
    const attn_layer *layer = &model->layers[0];
    return json_pack("{s:s, s:s, s:I, s:o, s:I, s:I, s:b}", "name", model->name, "family", model->family,
                     "layers", (json_int_t)model->layer_count, "d_model", width(layer->d_model), "heads",
                     (json_int_t)layer->heads, "kv_heads", (json_int_t)layer->kv_heads, "default",
                     index == 0);
}

json_t *srv_layer_document(const attn_model *model, size_t index) {
    const attn_layer *layer = &model->layers[index];
    json_t *biases = json_pack("{s:b, s:b, s:b, s:b}", "query", layer->bq != NULL, "key", layer->bk != NULL,
                               "value", layer->bv != NULL, "output", layer->bo != NULL);
    json_t *scale = layer->scale == 0 && attn_layer_is_parameter_free(layer)
                        ? json_null()
                        : json_real((double)layer->scale);
    return json_pack(
        "{s:s, s:I, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:b, s:o, s:I, s:s, "
        "s:b, s:I}",
        "model", model->name, "layer", (json_int_t)index, "name", layer->name, "cross", layer->is_cross,
        "parameter_free", attn_layer_is_parameter_free(layer), "d_model", width(layer->d_model), "d_key",
        width(layer->d_key), "d_value", width(layer->d_value), "d_out", width(layer->d_out), "heads",
        (json_int_t)layer->heads, "kv_heads", (json_int_t)layer->kv_heads, "head_dim", width(layer->head_dim),
        "value_dim", width(layer->value_dim), "biases", biases, "output_projection", layer->wo != NULL,
        "scale", scale, "extra_keys", (json_int_t)layer->extra_keys, "position", "none", "causal",
        layer->causal == ATTN_CAUSAL_SQUARE, "window", (json_int_t)layer->window);
}

json_t *srv_model_document(const srv_models *models, size_t index) {
    const attn_model *model = srv_models_at(models, index);
    json_t *document = srv_model_summary(models, index), *layers = json_array();
    for (size_t i = 0; i < model->layer_count; i++)
        json_array_append_new(layers, srv_layer_document(model, i));
    const char *slash = model->file ? strrchr(model->file, '/') : NULL;
    json_t *rest =
        json_pack("{s:s?, s:I, s:s?, s:s?, s:o}", "dtype", model->file ? attn_dtype_name(model->dtype) : NULL,
                  "bytes", (json_int_t)model->bytes, "file", slash ? slash + 1 : model->file, "digest",
                  srv_models_digest(models, index), "layer_list", layers);
    json_object_update(document, rest);
    json_decref(rest);
    return document;
}
