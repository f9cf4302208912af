/* attnd check: a dry run of serve. Keys are read, each model is loaded and let go of, so that memory is needed for one at a
 * time, and all that cannot be loaded are told. Opens no port. */
#include "cli.h"
#include "server/cli/settings.h"
#include "server/models.h"

#include <stdlib.h>

static void print_model(const attn_model *model) {
    const attn_layer *layer = &model->layers[0];
    char width[24] = "any";
    if (layer->d_model > 0) snprintf(width, sizeof width, "%zu", layer->d_model);
    printf("%s: %s, layers %zu, d_model %s, heads %zu, bytes %zu", model->name, model->family,
           model->layer_count, width, layer->heads, model->bytes);
    if (model->unused_count > 0)
        printf(", unused tensors %zu of %zu", model->unused_count, model->tensor_count);
    printf("%s%s\n", model->file ? ", file " : "", model->file ? model->file : "");
}

/* Loads these and prints them; false after a complaint. No sources: the demo models. */
static bool check(const attn_model_source *sources, size_t count) {
    attn_error error = {0};
    srv_models *models = srv_models_new();
    if (!models)
        attn_error_set(&error, ATTN_NO_MEMORY, NULL, "no memory for the list of models");
    else
        srv_models_load(models, sources, count, &error);
    if (error.code == ATTN_OK) {
        for (size_t i = 0; i < srv_models_count(models); i++)
            print_model(srv_models_at(models, i));
    } else {
        fprintf(stderr, "attnd check: %s%s%s\n", error.where, error.where[0] ? ": " : "", error.text);
    }
    srv_models_free(models);
    return error.code == ATTN_OK;
}

int srv_cli_check(int argc, char **argv) {
    cfg_settings settings;
    int code = srv_cli_settings(argc, argv, NULL, 0, &settings);
    if (code != SRV_EXIT_OK) return code;
    srv_keys *keys;
    bool fine = srv_cli_keys(argv[0], &settings, &keys);
    if (keys) printf("keys: %zu, file %s\n", keys->count, settings.keys_file);
    srv_keys_free(keys);
    fine = (settings.model_count > 0 || check(NULL, 0)) && fine;
    for (size_t i = 0; i < settings.model_count; i++) {
        const cfg_model *model = &settings.models[i];
        const attn_model_source source = {
            .name = model->name, .path = model->path, .heads = model->heads, .kv_heads = model->kv_heads};
        fine = check(&source, 1) && fine;
    }
    cfg_settings_done(&settings);
    return fine ? SRV_EXIT_OK : SRV_EXIT_USAGE;
}
