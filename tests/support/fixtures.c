#include "fixtures.h"

#include "safetensors_writer.h"

#include <stdio.h>

static void write_layer(const char *path, size_t heads, const float *in_weight, const float *in_bias,
                        const float *out_weight, const float *out_bias) {
    static const float zeros[6];
    char number[24];
    snprintf(number, sizeof number, "%zu", heads);
    st_builder *builder = st_new();
    st_metadata(builder, "num_heads", number);
    st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, in_weight);
    st_add(builder, "in_proj_bias", "F32", (size_t[]){6, ST_END}, in_bias != NULL ? in_bias : zeros);
    st_add(builder, "out_proj.weight", "F32", (size_t[]){2, 2, ST_END}, out_weight);
    st_add(builder, "out_proj.bias", "F32", (size_t[]){2, ST_END}, out_bias != NULL ? out_bias : zeros);
    st_finish(builder, path);
}

void fixture_identity(const char *path, size_t heads, const float *out_bias) {
    static const float in[12] = {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}, out[4] = {1, 0, 0, 1};
    write_layer(path, heads, in, NULL, out, out_bias);
}

void fixture_select(const char *path, float out_factor) {
    static const float in[12] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    const float out[4] = {out_factor, 0, 0, out_factor};
    write_layer(path, 2, in, NULL, out, NULL);
}

const float fixture_asymmetric_in_weight[12] = {1, 2, 0, 1, 1, 0, 1, 1, 0, 1, 2, 0};
const float fixture_asymmetric_in_bias[6] = {0.1f, 0, 0, 0.2f, 1, -1};
const float fixture_asymmetric_out_weight[4] = {1, 1, 0, 2};
const float fixture_asymmetric_out_bias[2] = {0.5f, -0.25f};

void fixture_asymmetric(const char *path, size_t heads) {
    write_layer(path, heads, fixture_asymmetric_in_weight, fixture_asymmetric_in_bias,
                fixture_asymmetric_out_weight, fixture_asymmetric_out_bias);
}

void fixture_own_keys(const char *path) {
    st_builder *builder = st_new();
    st_metadata(builder, "num_heads", "1");
    st_metadata(builder, "add_zero_attn", "true");
    st_add(builder, "in_proj_weight", "F32", (size_t[]){3, 1, ST_END}, (const float[]){1, 1, 1});
    st_add(builder, "out_proj.weight", "F32", (size_t[]){1, 1, ST_END}, (const float[]){1});
    st_add(builder, "bias_k", "F32", (size_t[]){1, 1, 1, ST_END}, (const float[]){4});
    st_add(builder, "bias_v", "F32", (size_t[]){1, 1, 1, ST_END}, (const float[]){1});
    st_finish(builder, path);
}

void fixture_grouped(const char *path) {
    static const float identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    st_builder *builder = st_new();
    st_metadata(builder, "num_heads", "4");
    st_add(builder, "linear_q.weight", "F32", (size_t[]){4, 4, ST_END}, identity);
    st_add(builder, "linear_k.weight", "F32", (size_t[]){2, 4, ST_END}, identity);
    st_add(builder, "linear_v.weight", "F32", (size_t[]){2, 4, ST_END}, identity);
    st_finish(builder, path);
}
