/* The generator is splitmix64 (Steele, Lea and Flood 2014): any seed gives a good sequence. */
#include "random_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next(random_request *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

size_t random_below(random_request *random, size_t limit) {
    return (size_t)(next(random) % limit);
}

static bool one_in(random_request *random, size_t count) {
    return random_below(random, count) == 0;
}

/* -1 … 1 times `most`. */
static float number(random_request *random, float most) {
    return most * ((float)(next(random) >> 40) / 0x1p23F - 1);
}

static void *block(random_request *random, size_t count, size_t size) {
    ck_assert_uint_lt(random->block_count, RANDOM_BLOCKS);
    void *memory = calloc(count + 1, size);
    ck_assert_ptr_nonnull(memory);
    return random->blocks[random->block_count++] = memory;
}

static float *numbers(random_request *random, size_t count, float most) {
    float *values = block(random, count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = number(random, most);
    return values;
}

static size_t width(random_request *random) {
    static const size_t widths[] = {1, 2, 3, 4, 7, 8, 16, 17, 24, 32, 48};
    return widths[random_below(random, sizeof widths / sizeof *widths)];
}

static size_t length(random_request *random) {
    static const size_t lengths[] = {1, 1, 2, 3, 5, 7, 8, 16, 17, 31, 64, 65, 129};
    if (one_in(random, 24)) return 130 + random_below(random, 200);
    return lengths[random_below(random, sizeof lengths / sizeof *lengths)];
}

/* A weight whose products keep the size of their input. */
static const float *weight(random_request *random, size_t out, size_t in) {
    return numbers(random, out * in, 1.7F / sqrtf((float)in));
}

static const float *maybe_bias(random_request *random, size_t out) {
    return one_in(random, 3) ? NULL : numbers(random, out, 0.5F);
}

static void make_projections(random_request *random, attn_layer *layer) {
    size_t q = layer->heads * layer->head_dim, k = layer->kv_heads * layer->head_dim;
    size_t v = layer->kv_heads * layer->value_dim, joined = layer->heads * layer->value_dim;
    layer->wq = weight(random, q, layer->d_model);
    layer->wk = weight(random, k, layer->d_key);
    layer->wv = weight(random, v, layer->d_value);
    layer->bq = maybe_bias(random, q);
    layer->bk = maybe_bias(random, k);
    layer->bv = maybe_bias(random, v);
    layer->d_out = joined;
    if (!one_in(random, 4)) {
        layer->d_out = width(random);
        layer->wo = weight(random, layer->d_out, joined);
        layer->bo = maybe_bias(random, layer->d_out);
    }
    if (one_in(random, 3)) {
        layer->extra_keys = 1 + random_below(random, 3);
        layer->extra_k = numbers(random, layer->extra_keys * k, 1);
        layer->extra_v = numbers(random, layer->extra_keys * v, 1);
    }
}

static void make_layer(random_request *random, bool cross, bool values) {
    attn_layer *layer = &random->layer;
    strcpy(layer->name, "layers.0");
    layer->causal = ATTN_CAUSAL_OFF;
    layer->is_cross = cross && one_in(random, 3);
    if (one_in(random, 8)) { /* without parameters */
        layer->heads = layer->kv_heads = 1;
        return;
    }
    layer->kv_heads = 1 + random_below(random, 3);
    layer->heads = layer->kv_heads * (1 + random_below(random, 3));
    layer->head_dim = width(random);
    layer->value_dim = width(random);
    layer->d_model = width(random);
    layer->d_key = cross ? width(random) : layer->d_model;
    layer->d_value = values ? width(random) : layer->d_key;
    layer->scale = 1 / sqrtf((float)layer->head_dim);
    make_projections(random, layer);
}

/* [1 or H, 1 or L, S] as strides, and how many numbers that is. */
static size_t strides(random_request *random, const attn_sequence *sequence, size_t *head, size_t *query) {
    size_t rows = one_in(random, 2) ? 1 : sequence->queries;
    size_t heads = one_in(random, 2) ? 1 : random->layer.heads;
    *query = rows > 1 ? sequence->keys : 0;
    *head = heads > 1 ? rows * sequence->keys : 0;
    return heads * rows * sequence->keys;
}

static void make_masks(random_request *random, attn_sequence *sequence) {
    if (one_in(random, 3)) {
        uint8_t *padding = block(random, sequence->keys, 1);
        for (size_t j = 0; j < sequence->keys; j++)
            padding[j] = one_in(random, 4);
        sequence->padding = padding;
    }
    if (one_in(random, 3)) {
        attn_mask *mask = &sequence->mask;
        size_t count = strides(random, sequence, &mask->head_stride, &mask->query_stride);
        uint8_t *allow = block(random, count, 1);
        for (size_t i = 0; i < count; i++)
            allow[i] = (uint8_t)(one_in(random, 3) ? 0 : 1 + random_below(random, 255));
        mask->allow = allow;
    }
    if (one_in(random, 3)) {
        attn_bias *bias = &sequence->bias;
        size_t count = strides(random, sequence, &bias->head_stride, &bias->query_stride);
        float *values = numbers(random, count, 3);
        if (one_in(random, 2))
            for (size_t i = 0; i < count; i++)
                if (one_in(random, 4)) values[i] = -INFINITY;
        bias->values = values;
    }
}

static void make_sequences(random_request *random, bool cross) {
    attn_request *request = &random->request;
    request->sequence_count = one_in(random, 2) ? 1 : 2 + random_below(random, 3);
    random->sequences = block(random, request->sequence_count, sizeof *random->sequences);
    for (size_t n = 0; n < request->sequence_count; n++) {
        attn_sequence *sequence = &random->sequences[n];
        sequence->queries = length(random);
        sequence->keys = cross && !one_in(random, 3) ? length(random) : sequence->queries;
        make_masks(random, sequence);
    }
    request->sequences = random->sequences;
}

static void make_tensors(random_request *random, bool cross, bool values) {
    attn_request *request = &random->request;
    const attn_layer *layer = &random->layer;
    size_t queries = 0, keys = 0;
    for (size_t n = 0; n < request->sequence_count; n++) {
        queries += random->sequences[n].queries;
        keys += random->sequences[n].keys;
    }
    request->d_model = layer->d_model > 0 ? layer->d_model : width(random);
    request->d_key = layer->d_key > 0 ? layer->d_key : request->d_model;
    request->d_value = layer->d_value > 0 ? layer->d_value : width(random);
    request->inputs = numbers(random, queries * request->d_model, 1.7F);
    if (cross) request->context = numbers(random, keys * request->d_key, 1.7F);
    if (values) request->values = numbers(random, keys * request->d_value, 1.7F);
}

static void make_rules(random_request *random) {
    attn_request *request = &random->request;
    bool square = true;
    for (size_t n = 0; n < request->sequence_count; n++)
        square = square && random->sequences[n].queries == random->sequences[n].keys;
    static const attn_causal forms[] = {ATTN_CAUSAL_OFF, ATTN_CAUSAL_TOP_LEFT, ATTN_CAUSAL_BOTTOM_RIGHT,
                                        ATTN_CAUSAL_SQUARE, ATTN_CAUSAL_LAYER};
    request->causal = forms[random_below(random, square ? 5 : 3)];
    if (square && one_in(random, 3)) random->layer.causal = ATTN_CAUSAL_SQUARE;
    bool aligned = square || request->causal != ATTN_CAUSAL_OFF;
    if (aligned && one_in(random, 4)) random->layer.window = 1 + random_below(random, 40);
    if (aligned && one_in(random, 3)) {
        request->window_given = true;
        request->window = random_below(random, 20);
    }
    if (one_in(random, 5)) {
        request->scale_given = true;
        request->scale = number(random, 1);
    }
}

/* Some of 0 … limit-1 in a random order, at least one. */
static const size_t *selection(random_request *random, size_t limit, size_t *count) {
    size_t *chosen = block(random, limit, sizeof *chosen);
    for (size_t i = 0; i < limit; i++) {
        size_t j = random_below(random, i + 1);
        chosen[i] = chosen[j];
        chosen[j] = i;
    }
    *count = 1 + random_below(random, limit);
    return chosen;
}

static void make_wants(random_request *random) {
    attn_request *request = &random->request;
    request->want = 1 + (unsigned)random_below(random, 15);
    size_t shortest = SIZE_MAX;
    for (size_t n = 0; n < request->sequence_count; n++)
        if (random->sequences[n].queries < shortest) shortest = random->sequences[n].queries;
    if (one_in(random, 3)) request->heads = selection(random, random->layer.heads, &request->head_count);
    if (one_in(random, 3)) request->queries = selection(random, shortest, &request->query_count);
}

void random_request_init(random_request *random, uint64_t seed) {
    *random = (random_request){.seed = seed, .state = seed};
    random->request.layer = &random->layer;
    bool cross = one_in(random, 2), values = cross && one_in(random, 2);
    make_layer(random, cross, values);
    make_sequences(random, cross);
    make_tensors(random, cross, values);
    make_rules(random);
    make_wants(random);
}

void random_request_done(random_request *random) {
    for (size_t i = 0; i < random->block_count; i++)
        free(random->blocks[i]);
    random->block_count = 0;
}

attn_run *random_request_new_run(const random_request *random, size_t workers) {
    attn_error error = {0};
    attn_plan plan;
    attn_code code = attn_plan_make(&random->request, workers, &plan, &error);
    ck_seed(code == ATTN_OK, random, "the plan is refused: %s: %s", error.where, error.text);
    attn_run *run = NULL;
    ck_seed(attn_run_new(&plan, &run, NULL) == ATTN_OK, random, "no memory for the run");
    return run;
}

attn_run *random_request_run(const random_request *random, attn_pool *pool) {
    attn_run *run = random_request_new_run(random, attn_pool_workers(pool));
    attn_code code = attn_run_wait(run, pool);
    ck_seed(code == ATTN_OK, random, "the run ends with %s", attn_code_name(code));
    return run;
}
