/* attnd inspect: what a weights file holds and what became of each tensor. Where no model can be built, the
 * tensors are listed all the same, then comes the reason. Names from the file are printed without their
 * control characters. */
#include "cli.h"
#include "engine/engine.h"
#include "options.h"

#include <getopt.h>
#include <string.h>

enum { WIDEST_NAME = 72, SHAPE_WIDTH = 14 };

typedef struct inspect_options {
    const char *path;
    uint64_t heads; /* 0: as the file says */
} inspect_options;

static bool read_options(int argc, char **argv, inspect_options *out) {
    static const struct option options[] = {{"heads", required_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    srv_options_begin();
    for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
        if (option != 'h') {
            srv_options_bad(argv, option, "--heads H is accepted");
            return false;
        }
        if (!srv_options_number(argv, "--heads", optarg, 1, 65536, &out->heads)) return false;
    }
    if (argc - optind != 1) {
        fprintf(stderr, "attnd %s: takes one weights file, or a folder that holds model.safetensors\n",
                argv[0]);
        return false;
    }
    out->path = argv[optind];
    return true;
}

/* How many columns a name takes: its characters, as long as they are one column wide. */
static int columns_of(const char *name) {
    int columns = 0;
    for (; *name != '\0'; name++)
        columns += ((unsigned char)*name & 0xC0) != 0x80;
    return columns;
}

/* C0, DEL and C1 (in UTF-8: C2 80 … C2 9F) become '?': they could drive the terminal. */
static void print_name(const char *name, int width) {
    int columns = columns_of(name);
    for (const unsigned char *at = (const unsigned char *)name; *at != '\0'; at++) {
        bool c1 = *at == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F;
        putchar(c1 || *at < 0x20 || *at == 0x7F ? '?' : *at);
        if (c1) at++;
    }
    for (; columns < width; columns++)
        putchar(' ');
}

static int widest(const attn_tensor_use *tensors, size_t count) {
    int width = (int)strlen("tensor");
    for (size_t i = 0; i < count; i++) {
        int columns = columns_of(tensors[i].name);
        if (columns > width) width = columns < WIDEST_NAME ? columns : WIDEST_NAME;
    }
    return width;
}

static void print_shape(const attn_tensor_use *tensor, int width) {
    int columns = printf("[");
    for (size_t axis = 0; axis < tensor->rank; axis++)
        columns += printf(axis > 0 ? ",%zu" : "%zu", tensor->shape[axis]);
    columns += printf("]");
    for (; columns < width; columns++)
        putchar(' ');
}

/* `became`: a model was built, so that it can be said what each tensor is in it. */
static void print_tensors(const attn_tensor_use *tensors, size_t count, bool became) {
    int width = widest(tensors, count), shape_width = became ? SHAPE_WIDTH : 0;
    printf("%-*s  %-8s  %-*s%s\n", width, "tensor", "dtype", shape_width, "shape", became ? "  used as" : "");
    for (size_t i = 0; i < count; i++) {
        print_name(tensors[i].name, width);
        printf("  %-8s  ", attn_dtype_name(tensors[i].dtype));
        print_shape(&tensors[i], shape_width);
        if (became) printf("  %s", tensors[i].use != NULL ? tensors[i].use : "not used");
        putchar('\n');
    }
}

static void print_layer(const attn_layer *layer) {
    printf("%-18s  %7zu  %7zu  %7zu  %7zu  %5zu  %5zu  %5zu  %5zu  ", layer->name, layer->d_model,
           layer->d_key, layer->d_value, layer->d_out, layer->heads, layer->kv_heads, layer->head_dim,
           layer->value_dim);
    const char *biases = layer->bq || layer->bk || layer->bv || layer->bo ? "" : "none";
    printf("%s%s%s%s%s", layer->bq ? "q" : "", layer->bk ? "k" : "", layer->bv ? "v" : "",
           layer->bo ? "o" : "", biases);
    if (layer->wo == NULL) printf("  no output projection");
    if (layer->extra_keys > 0) printf("  %zu extra keys", layer->extra_keys);
    if (layer->is_cross) printf("  cross: needs context");
    putchar('\n');
}

static void print_model(const attn_model *model) {
    printf("file     ");
    print_name(model->file, 0);
    printf("\nfamily   %s\ndtype    %s\nmemory   %zu bytes\nlayers   %zu\ntensors  %zu, %zu not used\n\n",
           model->family, attn_dtype_name(model->dtype), model->bytes, model->layer_count,
           model->tensor_count, model->unused_count);
    printf("%-18s  %7s  %7s  %7s  %7s  %5s  %5s  %5s  %5s  %s\n", "layer", "d_model", "d_key", "d_value",
           "d_out", "H", "Hkv", "dk", "dv", "biases");
    for (size_t i = 0; i < model->layer_count; i++)
        print_layer(attn_model_layer(model, i));
    putchar('\n');
    print_tensors(model->tensors, model->tensor_count, true);
}

static void print_what_can_be_read(const char *path) {
    attn_tensor_list list;
    if (attn_tensor_list_read(path, &list, NULL) != ATTN_OK) return;
    print_tensors(list.tensors, list.count, false);
    fflush(stdout);
    attn_tensor_list_done(&list);
}

int srv_cli_inspect(int argc, char **argv) {
    inspect_options options = {0};
    if (!read_options(argc, argv, &options)) return SRV_EXIT_USAGE;

    const attn_model_source source = {
        .name = "inspected", .path = options.path, .heads = (size_t)options.heads};
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    if (attn_model_load(&source, &model, &error) != ATTN_OK) {
        print_what_can_be_read(options.path);
        fprintf(stderr, "attnd %s: %s: %s\n", argv[0], error.where, error.text);
        return SRV_EXIT_FAILED;
    }
    print_model(model);
    attn_model_free(model);
    return SRV_EXIT_OK;
}
