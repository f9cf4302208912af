/* attnd init: writes a weights file of seeded, Xavier-initialised layers. The same flags give the same bytes
 * on every machine. An existing file is kept unless --force is given. */
#include "cli.h"
#include "engine/engine.h"
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

typedef struct init_options {
    attn_seed_spec spec;
    const char *output;
    bool force;
} init_options;

static bool read_number(char **argv, const char *option, uint64_t min, uint64_t max, size_t *out) {
    uint64_t number;
    if (!srv_options_number(argv, option, optarg, min, max, &number)) return false;
    *out = (size_t)number;
    return true;
}

static bool read_option(char **argv, int option, init_options *out) {
    switch (option) {
    case 'd': return read_number(argv, "--d-model", 1, 65536, &out->spec.d_model);
    case 'h': return read_number(argv, "--heads", 1, 65536, &out->spec.heads);
    case 'l': return read_number(argv, "--layers", 1, 1024, &out->spec.layers);
    case 's': return srv_options_number(argv, "--seed", optarg, 0, UINT64_MAX, &out->spec.seed);
    case 'o': out->output = optarg; return true;
    case 'f': out->force = true; return true;
    default:
        srv_options_bad(argv, option,
                        "--d-model, --heads, --layers, --seed, -o FILE and --force are accepted");
        return false;
    }
}

static bool read_options(int argc, char **argv, init_options *out) {
    static const struct option options[] = {
        {"d-model", required_argument, NULL, 'd'},
        {"heads", required_argument, NULL, 'h'},
        {"layers", required_argument, NULL, 'l'},
        {"seed", required_argument, NULL, 's'},
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {NULL, 0, NULL, 0},
    };
    srv_options_begin();
    for (int option; (option = getopt_long(argc, argv, ":o:", options, NULL)) != -1;)
        if (!read_option(argv, option, out)) return false;
    if (optind < argc) {
        fprintf(stderr, "attnd %s: '%s' stands alone; the file to write is named by -o FILE\n", argv[0],
                argv[optind]);
        return false;
    }
    if (out->output == NULL || out->output[0] == '\0') {
        fprintf(stderr, "attnd %s: no file to write; name it by -o FILE\n", argv[0]);
        return false;
    }
    return true;
}

int srv_cli_init(int argc, char **argv) {
    init_options options = {.spec = {.d_model = 512, .heads = 8, .layers = 2, .seed = 42}};
    if (!read_options(argc, argv, &options)) return SRV_EXIT_USAGE;

    struct stat there;
    if (!options.force && lstat(options.output, &there) == 0) {
        fprintf(stderr, "attnd %s: '%s' is already there; --force replaces it\n", argv[0], options.output);
        return SRV_EXIT_FAILED;
    }
    attn_error error;
    attn_error_clear(&error);
    attn_code code = attn_model_seeded_write(options.output, &options.spec, &error);
    if (code != ATTN_OK) {
        fprintf(stderr, "attnd %s: %s\n", argv[0], error.text);
        return code == ATTN_RANGE ? SRV_EXIT_USAGE : SRV_EXIT_FAILED;
    }
    printf("%s: layers %zu, d_model %zu, heads %zu, seed %" PRIu64 "\n", options.output, options.spec.layers,
           options.spec.d_model, options.spec.heads, options.spec.seed);
    return SRV_EXIT_OK;
}
