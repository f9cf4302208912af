/* Models of seeded weights. Only integer arithmetic and single IEEE 754 operations, each rounded correctly by
 * definition, so every machine gets the same bits. The model owns its memory; any thread may build one. */
#include "seeded.h"

#include "arrays.h"
#include "build.h"

#include <math.h>

enum { MAX_D_MODEL = 65536, MAX_LAYERS = 1024 };

attn_code attn_seed_spec_check(const attn_seed_spec *spec, attn_error *error) {
    if (spec->d_model < 1 || spec->d_model > MAX_D_MODEL)
        return attn_error_set(error, ATTN_RANGE, "d_model", "d_model is %zu; 1 to %d is accepted",
                              spec->d_model, MAX_D_MODEL);
    if (spec->heads < 1 || spec->d_model % spec->heads != 0)
        return attn_error_set(error, ATTN_RANGE, "heads",
                              "heads is %zu; a number of at least 1 that divides d_model %zu is accepted",
                              spec->heads, spec->d_model);
    if (spec->layers < 1 || spec->layers > MAX_LAYERS)
        return attn_error_set(error, ATTN_RANGE, "layers", "layers is %zu; 1 to %d is accepted", spec->layers,
                              MAX_LAYERS);
    return ATTN_OK;
}

/* Glorot & Bengio 2010, equation 16. */
static float xavier_bound(size_t fan_in, size_t fan_out) {
    return (float)sqrt(6.0 / (double)(fan_in + fan_out));
}

/* torch.nn.MultiheadAttention draws its packed matrix as one 3D×D matrix, so fan_out is 3D there; the output
 * projection is D×D. */
attn_seed_stream attn_seed_stream_begin(const attn_seed_spec *spec) {
    return (attn_seed_stream){.state = spec->seed,
                              .input_bound = xavier_bound(spec->d_model, 3 * spec->d_model),
                              .output_bound = xavier_bound(spec->d_model, spec->d_model)};
}

/* SplitMix64: Steele, Lea & Flood 2014, "Fast Splittable Pseudorandom Number Generators", figure 16 with the
 * constants of its variant 13 mixer. */
static uint64_t next(attn_seed_stream *stream) {
    uint64_t z = stream->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* The top 24 bits r become the odd number 2r + 1 − 2²⁴, exact in a float: symmetric around 0 and never 0 or
 * ±1. */
void attn_seed_stream_draw(attn_seed_stream *stream, float bound, size_t count, float *out) {
    for (size_t i = 0; i < count; i++) {
        int32_t odd = 2 * (int32_t)(next(stream) >> 40) + 1 - (1 << 24);
        out[i] = (float)odd * 0x1p-24f * bound;
    }
}

static bool build_layer(attn_layer *layer, size_t index, const attn_seed_spec *spec, attn_seed_stream *stream,
                        attn_model *model) {
    attn_layer_set_index_name(layer, index);
    layer->d_model = layer->d_key = layer->d_value = layer->d_out = spec->d_model;
    layer->heads = layer->kv_heads = spec->heads;
    layer->head_dim = layer->value_dim = spec->d_model / spec->heads;
    layer->scale = (float)(1.0 / sqrt((double)layer->head_dim));
    layer->causal = ATTN_CAUSAL_OFF;

    const attn_layer_parts parts = {true, true, true, true, true};
    attn_layer_arrays arrays;
    if (!attn_layer_arrays_take(layer, &parts, model->storage, &arrays)) return false;
    size_t square = spec->d_model * spec->d_model;
    attn_seed_stream_draw(stream, stream->input_bound, square, arrays.wq);
    attn_seed_stream_draw(stream, stream->input_bound, square, arrays.wk);
    attn_seed_stream_draw(stream, stream->input_bound, square, arrays.wv);
    attn_seed_stream_draw(stream, stream->output_bound, square, arrays.wo);
    model->bytes += arrays.floats * sizeof(float);
    return true;
}

attn_code attn_model_seeded(const char *name, const attn_seed_spec *spec, attn_model **out,
                            attn_error *error) {
    attn_code code = attn_seed_spec_check(spec, error);
    if (code != ATTN_OK) return code;
    attn_model *model = NULL;
    code = attn_model_begin(name, "seeded", spec->layers, &model, error);
    if (code != ATTN_OK) return code;

    attn_seed_stream stream = attn_seed_stream_begin(spec);
    for (size_t i = 0; i < spec->layers; i++) {
        if (build_layer(&model->layers[i], i, spec, &stream, model)) continue;
        attn_model_free(model);
        return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for layer %zu of model '%s'", i, name);
    }
    *out = model;
    return ATTN_OK;
}
