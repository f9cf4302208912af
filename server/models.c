/* The list of served models and how it is filled. */
#include "models.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model's digest: written once, then announced. */
typedef struct digest {
    char text[SRV_DIGEST_SIZE];
    atomic_bool is_known;
} digest;

struct srv_models {
    attn_model **list;
    digest *digests; /* beside the list, from the publication on; NULL without memory: never known */
    size_t count;
    atomic_bool ready; /* set after the last change: whoever sees it sees the list */
};

srv_models *srv_models_new(void) {
    srv_models *models = calloc(1, sizeof *models);
    if (models) atomic_init(&models->ready, false);
    return models;
}

void srv_models_free(srv_models *models) {
    if (!models) return;
    for (size_t i = 0; i < models->count; i++)
        attn_model_free(models->list[i]);
    free(models->list);
    free(models->digests);
    free(models);
}

attn_code srv_models_add(srv_models *models, attn_model *model, attn_error *error) {
    if (srv_models_find(models, model->name)) {
        return attn_error_set(error, ATTN_CONFLICT, NULL, "two models are named '%s'; names must differ",
                              model->name);
    }
    attn_model **list = realloc(models->list, (models->count + 1) * sizeof(attn_model *));
    if (!list) return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the list of models");
    models->list = list;
    models->list[models->count++] = model;
    return ATTN_OK;
}

/* Adds what a loader made, or frees it. */
static attn_code take(srv_models *models, attn_code loaded, attn_model *model, attn_error *error) {
    if (loaded != ATTN_OK) return loaded;
    attn_code code = srv_models_add(models, model, error);
    if (code != ATTN_OK) attn_model_free(model);
    return code;
}

static attn_code load_demo(srv_models *models, attn_error *error) {
    static const struct {
        const char *name;
        attn_seed_spec spec;
    } seeded[] = {
        {"tiny", {.d_model = 4, .heads = 2, .layers = 1, .seed = 1}},
        {"demo", {.d_model = 512, .heads = 8, .layers = 2, .seed = 42}},
    };
    attn_model *model = NULL;
    for (size_t i = 0; i < sizeof seeded / sizeof seeded[0]; i++) {
        attn_code code = attn_model_seeded(seeded[i].name, &seeded[i].spec, &model, error);
        code = take(models, code, model, error);
        if (code != ATTN_OK) return code;
    }
    attn_code code = attn_model_parameter_free("plain", &model, error);
    return take(models, code, model, error);
}

attn_code srv_models_load(srv_models *models, const attn_model_source *sources, size_t count,
                          attn_error *error) {
    if (count == 0) return load_demo(models, error);
    for (size_t i = 0; i < count; i++) {
        attn_model *model = NULL;
        attn_code code = attn_model_load(&sources[i], &model, error);
        code = take(models, code, model, error);
        if (code != ATTN_OK) return code;
    }
    return ATTN_OK;
}

void srv_models_publish(srv_models *models) {
    models->digests = calloc(models->count, sizeof *models->digests);
    atomic_store(&models->ready, true);
}

bool srv_models_are_ready(const srv_models *models) {
    return atomic_load(&models->ready);
}

size_t srv_models_count(const srv_models *models) {
    return models->count;
}

const attn_model *srv_models_at(const srv_models *models, size_t index) {
    return models->list[index];
}

const attn_model *srv_models_find(const srv_models *models, const char *name) {
    if (!name) return models->count > 0 ? models->list[0] : NULL;
    for (size_t i = 0; i < models->count; i++) {
        if (strcmp(models->list[i]->name, name) == 0) return models->list[i];
    }
    return NULL;
}

const attn_layer *srv_models_layer(const attn_model *model, const char *index_or_name) {
    const attn_layer *layer = attn_model_layer_named(model, index_or_name);
    if (layer) return layer;
    size_t index = 0;
    for (const char *c = index_or_name; *c != '\0' || c == index_or_name; c++) {
        bool is_digit = *c >= '0' && *c <= '9';
        if (!is_digit || __builtin_mul_overflow(index, (size_t)10, &index) ||
            __builtin_add_overflow(index, (size_t)(*c - '0'), &index))
            return NULL;
    }
    return attn_model_layer(model, index);
}

void srv_models_layers(const attn_model *model, char *out, size_t size) {
    const char *first = model->layers[0].name;
    size_t last = model->layer_count - 1;
    if (last == 0)
        snprintf(out, size, "its only layer is 0 ('%.64s')", first);
    else
        snprintf(out, size, "its layers are 0 ('%.64s') to %zu ('%.64s')", first, last,
                 model->layers[last].name);
}

const char *srv_models_digest(const srv_models *models, size_t index) {
    const digest *one = models->digests ? &models->digests[index] : NULL;
    return one && atomic_load(&one->is_known) ? one->text : NULL;
}

void srv_models_set_digest(srv_models *models, size_t index, const char *text) {
    if (!models->digests) return;
    digest *one = &models->digests[index];
    snprintf(one->text, sizeof one->text, "%s", text);
    atomic_store(&one->is_known, true);
}

void srv_models_names(const srv_models *models, char *out, size_t size) {
    static const char more[] = ", …";
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < models->count; i++) {
        const char *name = models->list[i]->name;
        if (used + strlen(name) + 4 + sizeof more > size) {
            if (used + sizeof more <= size) memcpy(out + used, more, sizeof more);
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s'%s'", i ? ", " : "", name);
    }
}
