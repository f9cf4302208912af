/* attnd example: a request body that a model answers, to start from. */
#include "cli.h"
#include "server/app.h"
#include "server/cli/settings.h"
#include "server/codec/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes "--layer N" or "--layer=N" out of the arguments, since it is no setting. The index or name goes to
 * *layer; false where the value is missing. */
static bool take_layer(int *argc, char **argv, const char **layer) {
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        if (strncmp(argv[i], "--layer=", 8) == 0) {
            *layer = argv[i] + 8;
        } else if (strcmp(argv[i], "--layer") == 0) {
            if (i + 1 == *argc) return false;
            *layer = argv[++i];
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
    return true;
}

static int print_example(const srv_models *models, const char *name, const char *wanted) {
    const attn_model *model = srv_models_find(models, name);
    if (!model) {
        char names[256];
        srv_models_names(models, names, sizeof names);
        fprintf(stderr, "attnd example: no model '%.64s'; there are %s\n", name, names);
        return SRV_EXIT_USAGE;
    }
    const attn_layer *layer = wanted ? srv_models_layer(model, wanted) : &model->layers[0];
    if (!layer) {
        char layers[SRV_LAYERS_SIZE];
        srv_models_layers(model, layers, sizeof layers);
        fprintf(stderr, "attnd example: no layer '%.64s' in model '%s'; %s\n", wanted, model->name, layers);
        return SRV_EXIT_USAGE;
    }
    srv_text text = {0};
    bool is_written = srv_json_example(model->name, (size_t)(layer - model->layers), layer, &text) &&
                      fwrite(text.data, 1, text.size, stdout) == text.size && fflush(stdout) == 0;
    srv_text_done(&text);
    return is_written ? SRV_EXIT_OK : SRV_EXIT_FAILED;
}

int srv_cli_example(int argc, char **argv) {
    const char *layer = NULL;
    if (!take_layer(&argc, argv, &layer)) {
        fputs("attnd example: --layer takes an index or a name\n", stderr);
        return SRV_EXIT_USAGE;
    }
    static const cfg_own_flag own[] = {{"--layer", NULL}, {NULL, NULL}};
    cfg_settings settings;
    int code = srv_cli_settings(argc, argv, own, 1, &settings);
    if (code != SRV_EXIT_OK) return code;
    attn_error error = {0};
    srv_app app = {.settings = &settings,
                   .outlet = SRV_OUTLET(STDERR_FILENO),
                   .log = {.level = SRV_LOG_ERROR, .outlet = &app.outlet}};
    app.site.service.models = srv_models_new();
    if (!app.site.service.models || srv_app_load_models(&app, &error) != ATTN_OK) {
        fprintf(stderr, "attnd example: %s\n", error.text[0] ? error.text : "no memory");
        code = SRV_EXIT_USAGE;
    } else {
        code = print_example(app.site.service.models, settings.argument_count ? settings.arguments[0] : NULL,
                             layer);
    }
    srv_app_close(&app);
    cfg_settings_done(&settings);
    return code;
}
