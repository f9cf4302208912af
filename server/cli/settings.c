/* Settings for a command (settings.h). */
#include "settings.h"

#include "cli.h"
#include "engine/engine.h"

#include <string.h>

static int refuse(const char *command, const cfg_problems *problems) {
    for (size_t i = 0; i < problems->count; i++)
        fprintf(stderr, "attnd %s: %s\n", command, problems->lines[i]);
    if (problems->out_of_memory) fprintf(stderr, "attnd %s: no memory for the settings\n", command);
    return SRV_EXIT_USAGE;
}

bool srv_cli_keys(const char *command, const cfg_settings *settings, srv_keys **out) {
    srv_text problems = {0};
    *out = settings->keys_file ? srv_keys_load(settings->keys_file, &problems) : NULL;
    const char *line = problems.data, *end = line ? line + problems.size : NULL;
    for (const char *stop; line < end && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1)
        fprintf(stderr, "attnd %s: %.*s\n", command, (int)(stop - line), line);
    if (problems.failed) fprintf(stderr, "attnd %s: no memory for the keys' problems\n", command);
    srv_text_done(&problems);
    return *out || !settings->keys_file;
}

/* Lets the engine use the vectors that are asked for; false after a complaint where the processor lacks them. */
static bool use_vectors(const char *command, int wanted) {
    static const attn_vectors widths[] = {[CFG_VECTORS_PLAIN] = ATTN_VECTORS_PLAIN,
                                          [CFG_VECTORS_AVX2] = ATTN_VECTORS_AVX2,
                                          [CFG_VECTORS_AVX512] = ATTN_VECTORS_AVX512};
    attn_error error = {0};
    if (wanted == CFG_VECTORS_AUTO || attn_vectors_use(widths[wanted], &error) == ATTN_OK) return true;
    fprintf(stderr, "attnd %s: setting engine.vectors: %s; auto takes that\n", command, error.text);
    return false;
}

int srv_cli_settings(int argc, char **argv, const cfg_own_flag *own, size_t most_arguments,
                     cfg_settings *out) {
    cfg_problems problems = {0};
    cfg_settings settings = {0};
    cfg_outcome outcome = cfg_load(argc - 1, argv + 1, own, cfg_environment(), &settings, &problems);
    int code = SRV_EXIT_OK;
    if (outcome != CFG_LOADED) {
        code = refuse(argv[0], &problems);
    } else if (settings.argument_count > most_arguments) {
        fprintf(stderr, "attnd %s: '%.100s' is one argument too many; 'attnd help %s' explains\n", argv[0],
                settings.arguments[most_arguments], argv[0]);
        cfg_settings_done(&settings);
        code = SRV_EXIT_USAGE;
    } else if (!use_vectors(argv[0], settings.vectors)) {
        cfg_settings_done(&settings);
        code = SRV_EXIT_USAGE;
    } else {
        if (settings.kernels == CFG_KERNELS_REFERENCE) attn_kernels_use_reference();
        *out = settings;
    }
    cfg_problems_done(&problems);
    return code;
}
