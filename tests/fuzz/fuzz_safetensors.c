/* Weights files: whatever the bytes, a model or an error in words, and a model that computes.
 *
 * An input that begins with '{' is a header alone: a file is made around it, with as many bytes of data as its
 * first tensors ask for, so that changes of the text get past the length and the offsets. Every other input is
 * a file as it stands. */
#include "engine/engine.h"
#include "fuzz.h"

#include "service.h"

#include <string.h>
#include <unistd.h>

enum { DATA_MAX = 1 << 16, MEMORY = 8 << 20 };

/* The largest end among the data_offsets in the text, up to DATA_MAX. */
static size_t data_size(const char *text) {
    size_t most = 0;
    for (const char *at = text; (at = strstr(at, "data_offsets")) != NULL; at++) {
        size_t begin, end;
        if (sscanf(at, "data_offsets\":[%zu,%zu", &begin, &end) == 2 && end > most && end <= DATA_MAX)
            most = end;
    }
    return most;
}

static bool put(int file, const void *bytes, size_t size) {
    return write(file, bytes, size) == (ssize_t)size;
}

static bool put_header_with_data(int file, const char *text, size_t size) {
    static unsigned char data[DATA_MAX];
    unsigned char length[8];
    size_t count = data_size(text);
    for (size_t i = 0; i < sizeof length; i++)
        length[i] = (unsigned char)((uint64_t)size >> (8 * i));
    /* Small numbers in every dtype: 0x3c is the high byte of about 1 in binary16 and of 0.01 in the others. */
    for (size_t i = 0; i < count; i++)
        data[i] = i % 2 ? 0x3c : (unsigned char)i;
    return put(file, length, sizeof length) && put(file, text, size) && put(file, data, count);
}

/* Two positions through a layer: every weight is read. Numbers beyond float32 are an answer too. */
static void compute(const attn_layer *layer, attn_pool *pool) {
    enum { WIDEST = 4096 };
    static float numbers[2 * WIDEST];
    if (layer->d_model > WIDEST || layer->d_key > WIDEST || layer->d_value > WIDEST) return;
    const attn_sequence sequence = {.queries = 2, .keys = 2};
    attn_request request = {.layer = layer,
                            .sequences = &sequence,
                            .sequence_count = 1,
                            .inputs = numbers,
                            .d_model = layer->d_model,
                            .want = ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS};
    if (layer->is_cross || layer->d_key != layer->d_model || layer->d_value != layer->d_model) {
        request.context = numbers;
        request.d_key = layer->d_key;
    }
    if (layer->d_value != layer->d_key) {
        request.values = numbers;
        request.d_value = layer->d_value;
    }
    for (size_t i = 0; i < 2 * WIDEST; i++)
        numbers[i] = (float)(i % 5) - 2;
    attn_plan plan;
    attn_run *run = NULL;
    attn_error error = {0};
    FUZZ_PROMISE(attn_plan_make(&request, 1, &plan, &error) == ATTN_OK);
    if (plan.bytes > MEMORY || plan.flops > 1e8) return;
    FUZZ_PROMISE(attn_run_new(&plan, &run, &error) == ATTN_OK);
    attn_code code = attn_run_wait(run, pool);
    FUZZ_PROMISE(code == ATTN_OK || code == ATTN_NOT_FINITE);
    attn_run_free(run);
}

static void judge_error(attn_code code, const attn_error *error) {
    FUZZ_PROMISE(error->code == code && error->text[0] != '\0');
    FUZZ_PROMISE(code == ATTN_BAD_FILE || code == ATTN_BAD_MODEL);
    for (const char *c = error->text; *c; c++)
        FUZZ_PROMISE((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void load(const char *path, size_t heads, attn_pool *pool) {
    const attn_model_source source = {.name = "m", .path = path, .heads = heads};
    attn_model *model = NULL;
    attn_error error = {0};
    attn_code code = attn_model_load(&source, &model, &error);
    if (code != ATTN_OK) {
        FUZZ_PROMISE(model == NULL);
        judge_error(code, &error);
        return;
    }
    FUZZ_PROMISE(model->layer_count >= 1 && model->unused_count < model->tensor_count);
    for (size_t i = 0; i < model->layer_count && i < 4; i++) {
        FUZZ_PROMISE(model->layers[i].heads > 0 && model->layers[i].heads % model->layers[i].kv_heads == 0);
        compute(&model->layers[i], pool);
    }
    attn_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static attn_pool *pool;
    char path[MEMORY_FILE_PATH];
    if (pool == NULL) FUZZ_PROMISE(attn_pool_new(1, &pool, NULL) == ATTN_OK);
    char *text = malloc(size + 1);
    FUZZ_PROMISE(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    int file = memory_file(path);
    FUZZ_PROMISE(size > 0 && text[0] == '{' ? put_header_with_data(file, text, size) : put(file, data, size));
    load(path, 0, pool);
    load(path, 2, pool);
    attn_tensor_list list;
    attn_error error = {0};
    attn_code code = attn_tensor_list_read(path, &list, &error);
    if (code == ATTN_OK)
        attn_tensor_list_done(&list);
    else
        judge_error(code, &error);
    close(file);
    free(text);
    return 0;
}
