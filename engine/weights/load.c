/* Makes a model of a weights file: open, find the blocks, fit their shapes, read the numbers. Everything is
 * checked before the first array is reserved. One thread builds; the model owns all its memory, the file is
 * closed. */
#include "../tensor/finite.h"
#include "build.h"
#include "fit.h"
#include "label.h"
#include "uses.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURNED_FLOATS = 1 << 16, READ_FLOATS = 1 << 20 };

/* What the steps of one load share. */
typedef struct loader {
    const attn_model_source *source;
    char *path; /* of the file itself */
    attn_safetensors *file;
    attn_block *blocks;
    size_t block_count;
    attn_model *model;
    attn_error *error;
} loader;

static attn_code no_memory(const loader *l) {
    const char *path = l->path != NULL ? l->path : l->source->path;
    return attn_error_set(l->error, ATTN_NO_MEMORY, attn_label_path(path).text, "no memory for the model");
}

/* FOLDER/NAME; NULL without memory. */
static char *join(const char *folder, const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* As tools name the pieces of a large model and the list of them: model-00001-of-00002.safetensors. */
static int is_of_shards(const struct dirent *entry) {
    return fnmatch("model-*-of-*.safetensors", entry->d_name, 0) == 0 ||
           strcmp(entry->d_name, "model.safetensors.index.json") == 0;
}

static attn_code refuse_folder(const char *path, attn_error *error) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_of_shards, alphasort);
    attn_code code =
        count > 0
            ? attn_error_set(error, ATTN_IO, attn_label_path(path).text,
                             "is a folder without model.safetensors; '%s' is there: a model in shards is not "
                             "read, one file with all its tensors is accepted",
                             attn_label_name(entries[0]->d_name).text)
            : attn_error_set(error, ATTN_IO, attn_label_path(path).text,
                             "is a folder without model.safetensors");
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return code;
}

/* A folder stands for its model.safetensors. *out: malloc'ed. */
static attn_code find_file(const char *path, char **out, attn_error *error) {
    struct stat about;
    bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    char *file = folder ? join(path, "model.safetensors") : strdup(path);
    attn_code code = ATTN_OK;
    if (file == NULL)
        code = attn_error_set(error, ATTN_NO_MEMORY, attn_label_path(path).text, "no memory for a path");
    else if (folder && access(file, F_OK) != 0)
        code = refuse_folder(path, error);
    if (code == ATTN_OK)
        *out = file;
    else
        free(file);
    return code;
}

/* torch does not keep this option in the state dict, so the file's metadata tells it. */
static attn_code find_add_zero_attn(const loader *l, bool *out) {
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true},   {"True", true},   {"1", true},
                 {"false", false}, {"False", false}, {"0", false}};
    const char *text = attn_file_header_metadata(&l->file->header, "add_zero_attn");
    *out = false;
    if (text == NULL) return ATTN_OK;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].text, text) != 0) continue;
        *out = words[i].value;
        return ATTN_OK;
    }
    return attn_error_set(l->error, ATTN_BAD_MODEL, attn_label_path(l->path).text,
                          "__metadata__.add_zero_attn is '%s'; true, false, 1 or 0 is accepted",
                          attn_label_name(text).text);
}

/* Between two reads: whether somebody has asked to stop. */
static attn_code check_stop(const loader *l) {
    const atomic_bool *stop = l->source->stop;
    if (stop == NULL || !atomic_load(stop)) return ATTN_OK;
    return attn_error_set(l->error, ATTN_CANCELLED, attn_label_path(l->path).text, "loading was stopped");
}

/* Reads elements of a tensor and refuses what is no number: one NaN would spoil every answer of the layer. */
static attn_code read_numbers(const loader *l, const attn_file_tensor *tensor, size_t first, size_t count,
                              float *out) {
    attn_code code = check_stop(l);
    if (code == ATTN_OK) code = attn_safetensors_read(l->file, tensor, first, count, out, l->error);
    if (code != ATTN_OK || attn_count_not_finite(out, count) == 0) return code;
    size_t at = 0;
    while (attn_count_not_finite(&out[at], 1) == 0)
        at++;
    return attn_error_set(l->error, ATTN_BAD_MODEL, attn_label_path(l->path).text,
                          "element %zu of tensor '%s' is %s; finite float32 numbers are accepted", first + at,
                          attn_label_name(tensor->name).text,
                          isnan(out[at]) ? "NaN" : "infinite or beyond float32");
}

/* Reads an array that stands in the file as it does in memory, a few megabytes at a time: who asks to stop does not
 * wait for gigabytes. */
static attn_code read_piece(const loader *l, const attn_piece *piece, float *out) {
    if (piece->tensor == NULL) return ATTN_OK;
    size_t count = piece->rows * piece->columns;
    attn_code code = ATTN_OK;
    for (size_t at = 0; code == ATTN_OK && at < count; at += READ_FLOATS) {
        size_t now = count - at < READ_FLOATS ? count - at : READ_FLOATS;
        code = read_numbers(l, piece->tensor, piece->first + at, now, out + at);
    }
    return code;
}

/* Reads a weight [in,out] and turns it, as many inputs at a time as make a read worth its while. */
static attn_code read_turned(const loader *l, const attn_piece *piece, float *out) {
    if (piece->tensor == NULL) return ATTN_OK;
    size_t rows = piece->rows, columns = piece->columns,
           batch = rows < TURNED_FLOATS ? TURNED_FLOATS / rows : 1;
    float *inputs = calloc(batch, rows * sizeof *inputs);
    if (inputs == NULL) return no_memory(l);
    attn_code code = ATTN_OK;
    for (size_t first = 0; first < columns; first += batch) {
        size_t now = columns - first < batch ? columns - first : batch;
        code = read_numbers(l, piece->tensor, first * rows, now * rows, inputs);
        if (code != ATTN_OK) break;
        for (size_t row = 0; row < rows; row++)
            for (size_t i = 0; i < now; i++)
                out[row * columns + first + i] = inputs[i * rows + row];
    }
    free(inputs);
    return code;
}

static attn_code read_arrays(const loader *l, const attn_fit *fit, const attn_layer_arrays *arrays) {
    const struct {
        const attn_piece *piece;
        float *out;
        bool turned;
    } list[] = {
        {&fit->wq, arrays->wq, fit->in_by_out},  {&fit->wk, arrays->wk, fit->in_by_out},
        {&fit->wv, arrays->wv, fit->in_by_out},  {&fit->wo, arrays->wo, fit->in_by_out},
        {&fit->bq, arrays->bq, false},           {&fit->bk, arrays->bk, false},
        {&fit->bv, arrays->bv, false},           {&fit->bo, arrays->bo, false},
        {&fit->extra_k, arrays->extra_k, false}, {&fit->extra_v, arrays->extra_v, false},
    };
    attn_code code = ATTN_OK;
    for (size_t i = 0; code == ATTN_OK && i < sizeof list / sizeof list[0]; i++)
        code = (list[i].turned ? read_turned : read_piece)(l, list[i].piece, list[i].out);
    return code;
}

static attn_code build_layer(const loader *l, const attn_fit *fit, attn_layer *layer) {
    *layer = fit->layer;
    attn_layer_arrays arrays;
    if (!attn_layer_arrays_take(layer, &fit->parts, l->model->storage, &arrays)) return no_memory(l);
    l->model->bytes += arrays.floats * sizeof(float);
    return read_arrays(l, fit, &arrays);
}

static attn_code build_layers(const loader *l) {
    attn_head_counts counts = {0};
    bool add_zero_attn = false;
    attn_fit *fits = calloc(l->block_count, sizeof *fits);
    if (fits == NULL) return no_memory(l);
    attn_code code = attn_head_counts_find(l->source, &l->file->header, l->path, &counts, l->error);
    if (code == ATTN_OK) code = find_add_zero_attn(l, &add_zero_attn);
    for (size_t i = 0; code == ATTN_OK && i < l->block_count; i++)
        code = attn_block_fit(&l->blocks[i], &counts, add_zero_attn, l->path, &fits[i], l->error);
    for (size_t i = 0; code == ATTN_OK && i < l->block_count; i++)
        code = build_layer(l, &fits[i], &l->model->layers[i]);
    if (code == ATTN_OK) l->model->dtype = fits[0].wq.tensor->dtype;
    free(fits);
    return code;
}

static attn_code describe(const loader *l) {
    attn_model *model = l->model;
    const attn_file_header *header = &l->file->header;
    model->file = attn_storage_copy(model->storage, l->path, strlen(l->path));
    attn_tensor_use *uses = attn_uses_list(header, model->storage);
    if (model->file == NULL || uses == NULL) return no_memory(l);
    for (size_t i = 0; i < l->block_count; i++)
        if (!attn_uses_mark(uses, header, &l->blocks[i], model->storage)) return no_memory(l);
    model->tensors = uses;
    model->tensor_count = header->tensor_count;
    for (size_t i = 0; i < header->tensor_count; i++)
        if (uses[i].use == NULL) model->unused_count++;
    return ATTN_OK;
}

attn_code attn_model_load(const attn_model_source *source, attn_model **out, attn_error *error) {
    loader l = {.source = source, .error = error};
    attn_code code = find_file(source->path, &l.path, error);
    if (code == ATTN_OK) code = attn_safetensors_open(l.path, &l.file, error);
    if (code == ATTN_OK) code = attn_blocks_find(&l.file->header, l.path, &l.blocks, &l.block_count, error);
    if (code == ATTN_OK)
        code = attn_model_begin(source->name, l.blocks[0].scheme->family, l.block_count, &l.model, error);
    if (code == ATTN_OK) code = build_layers(&l);
    if (code == ATTN_OK) code = describe(&l);
    if (code == ATTN_OK)
        *out = l.model;
    else
        attn_model_free(l.model);
    free(l.blocks);
    attn_safetensors_close(l.file);
    free(l.path);
    return code;
}

attn_code attn_tensor_list_read(const char *path, attn_tensor_list *out, attn_error *error) {
    char *file_path = NULL;
    attn_safetensors *file = NULL;
    attn_storage *storage = NULL;
    attn_tensor_use *uses = NULL;
    attn_code code = find_file(path, &file_path, error);
    if (code == ATTN_OK) code = attn_safetensors_open(file_path, &file, error);
    if (code != ATTN_OK) goto out;
    storage = attn_storage_new();
    uses = storage != NULL ? attn_uses_list(&file->header, storage) : NULL;
    if (uses == NULL) {
        attn_storage_free(storage);
        code = attn_error_set(error, ATTN_NO_MEMORY, attn_label_path(path).text,
                              "no memory for the list of tensors");
        goto out;
    }
    *out = (attn_tensor_list){uses, file->header.tensor_count, storage};
out:
    attn_safetensors_close(file);
    free(file_path);
    return code;
}

void attn_tensor_list_done(attn_tensor_list *list) {
    attn_storage_free(list->storage);
    *list = (attn_tensor_list){0};
}
