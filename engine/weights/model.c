/* A model's beginning, look-ups and end, and the one model that has no weights at all. */
#include "model.h"

#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool attn_model_name_is_valid(const char *name) {
    static const char accepted[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    static const char reserved[] = "-maps"; /* the map-returning twin of a model bears it */
    if (name == NULL) return false;
    size_t size = strnlen(name, ATTN_MODEL_NAME_SIZE), tail = sizeof reserved - 1;
    if (size == 0 || size == ATTN_MODEL_NAME_SIZE || strspn(name, accepted) != size) return false;
    return size < tail || strcmp(name + size - tail, reserved) != 0;
}

attn_code attn_model_begin(const char *name, const char *family, size_t layer_count, attn_model **out,
                           attn_error *error) {
    if (!attn_model_name_is_valid(name))
        return attn_error_set(
            error, ATTN_RANGE, NULL,
            "model name '%.70s'; 1 to 64 of A-Z a-z 0-9 . _ - that do not end in '-maps' are "
            "accepted",
            name != NULL ? name : "");
    attn_model *model = calloc(1, sizeof *model);
    if (model == NULL) goto no_memory;
    model->storage = attn_storage_new();
    if (model->storage == NULL) goto no_memory;
    model->layers = attn_storage_take(model->storage, layer_count, sizeof *model->layers);
    if (model->layers == NULL) goto no_memory;
    snprintf(model->name, sizeof model->name, "%s", name);
    model->family = family;
    model->dtype = ATTN_F32;
    model->layer_count = layer_count;
    *out = model;
    return ATTN_OK;
no_memory:
    attn_model_free(model);
    return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for model '%s'", name);
}

void attn_layer_set_index_name(attn_layer *layer, size_t index) {
    snprintf(layer->name, sizeof layer->name, "layers.%zu", index);
}

attn_code attn_model_parameter_free(const char *name, attn_model **out, attn_error *error) {
    attn_model *model = NULL;
    attn_code code = attn_model_begin(name, "parameter-free", 1, &model, error);
    if (code != ATTN_OK) return code;
    attn_layer *layer = &model->layers[0];
    attn_layer_set_index_name(layer, 0);
    layer->heads = layer->kv_heads = 1;
    layer->causal = ATTN_CAUSAL_OFF;
    *out = model;
    return ATTN_OK;
}

const attn_layer *attn_model_layer(const attn_model *model, size_t index) {
    return index < model->layer_count ? &model->layers[index] : NULL;
}

const attn_layer *attn_model_layer_named(const attn_model *model, const char *name) {
    for (size_t i = 0; i < model->layer_count; i++)
        if (strcmp(model->layers[i].name, name) == 0) return &model->layers[i];
    return NULL;
}

void attn_model_free(attn_model *model) {
    if (model == NULL) return;
    attn_storage_free(model->storage);
    free(model);
}
