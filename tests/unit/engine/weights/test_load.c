/* Models from files: every naming scheme under a prefix, every dtype, and what does not fit. */
#include "engine/weights/model.h"
#include "fixtures.h"
#include "safetensors_writer.h"
#include "suites.h"
#include "temporary.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *folder, *path;

static void set_up(void) {
    folder = temporary_folder();
    path = temporary_path(folder, "model.safetensors");
}

static void tear_down(void) {
    free(path);
    temporary_remove(folder);
}

static attn_model *load_from(const char *where, size_t heads, size_t kv_heads) {
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    const attn_model_source source = {"m", where, heads, kv_heads, NULL};
    ck_assert_msg(attn_model_load(&source, &model, &error) == ATTN_OK, "%s: %s", error.where, error.text);
    return model;
}

static attn_model *load(size_t heads) {
    return load_from(path, heads, 0);
}

static void refuse_kv(size_t heads, size_t kv_heads, attn_code code, const char *text) {
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    const attn_model_source source = {"m", path, heads, kv_heads, NULL};
    ck_assert_int_eq(attn_model_load(&source, &model, &error), code);
    ck_assert_msg(strstr(error.text, text) != NULL, "'%s' is not in '%s'", text, error.text);
    ck_assert_str_eq(error.where, path);
    ck_assert_ptr_null(model);
}

static void refuse(size_t heads, const char *text) {
    refuse_kv(heads, 0, ATTN_BAD_MODEL, text);
}

#define SAME(array, ...)                                                                                     \
    do {                                                                                                     \
        const float expected_[] = {__VA_ARGS__};                                                             \
        ck_assert_ptr_nonnull(array);                                                                        \
        for (size_t i_ = 0; i_ < sizeof expected_ / sizeof expected_[0]; i_++)                               \
            ck_assert_msg((array)[i_] == expected_[i_], #array "[%zu] is %g, not %g", i_,                    \
                          (double)(array)[i_], (double)expected_[i_]);                                       \
    } while (0)

/* ASYM, as the cases' README gives it. */
static void is_asymmetric(const attn_layer *layer, bool biases) {
    SAME(layer->wq, 1, 2, 0, 1);
    SAME(layer->wk, 1, 0, 1, 1);
    SAME(layer->wv, 0, 1, 2, 0);
    SAME(layer->wo, 1, 1, 0, 2);
    ck_assert(layer->d_model == 2 && layer->d_key == 2 && layer->d_value == 2 && layer->d_out == 2);
    if (biases) {
        SAME(layer->bq, 0.1f, 0);
        SAME(layer->bk, 0, 0.2f);
        SAME(layer->bv, 1, -1);
        SAME(layer->bo, 0.5f, -0.25f);
    } else {
        ck_assert(layer->bq == NULL && layer->bk == NULL && layer->bv == NULL && layer->bo == NULL);
    }
}

static void add(st_builder *builder, const char *prefix, const char *name, const char *dtype, size_t rows,
                size_t columns, const float *values) {
    char whole[200];
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    st_add(builder, whole, dtype, columns > 0 ? (size_t[]){rows, columns, ST_END} : (size_t[]){rows, ST_END},
           values);
}

/* ASYM with these names for q, k, v, o: weights, then biases; NULL biases: none. */
static void write_separate(const char *prefix, const char *const weights[4], const char *const *biases,
                           bool turned) {
    static const float turned_weights[16] = {1, 0, 2, 1, 1, 1, 0, 1, 0, 2, 1, 0, 1, 0, 1, 2};
    st_builder *builder = st_new();
    for (size_t i = 0; i < 4; i++) {
        const float *values = i < 3 ? fixture_asymmetric_in_weight + 4 * i : fixture_asymmetric_out_weight;
        add(builder, prefix, weights[i], "F32", 2, 2, turned ? turned_weights + 4 * i : values);
        const float *bias = i < 3 ? fixture_asymmetric_in_bias + 2 * i : fixture_asymmetric_out_bias;
        if (biases != NULL) add(builder, prefix, biases[i], "F32", 2, 0, bias);
    }
    st_finish(builder, path);
}

START_TEST(torch_packed) {
    fixture_asymmetric(path, 2);
    attn_model *model = load(0);
    ck_assert_str_eq(model->name, "m");
    ck_assert_str_eq(model->family, "torch.nn.MultiheadAttention");
    ck_assert_str_eq(model->file, path);
    ck_assert_int_eq(model->dtype, ATTN_F32);
    ck_assert_uint_eq(model->bytes, (12 + 6 + 4 + 2) * sizeof(float));
    ck_assert_uint_eq(model->layer_count, 1);
    const attn_layer *layer = attn_model_layer_named(model, "layers.0");
    ck_assert_ptr_nonnull(layer);
    is_asymmetric(layer, true);
    ck_assert(layer->heads == 2 && layer->kv_heads == 2 && layer->head_dim == 1 && layer->value_dim == 1);
    ck_assert(layer->scale == 1.0f && layer->causal == ATTN_CAUSAL_OFF && !layer->is_cross);
    ck_assert(layer->extra_keys == 0 && layer->extra_k == NULL && layer->window == 0);
    const float *const arrays[] = {layer->wq, layer->wk, layer->wv, layer->wo, layer->bq, layer->bo};
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq((uintptr_t)arrays[i] % 64, 0);
    attn_model_free(model);

    fixture_asymmetric(path, 1);
    model = load(1);
    ck_assert_uint_eq(model->layers[0].head_dim, 2);
    ck_assert_float_eq(model->layers[0].scale, (float)(1 / sqrt(2)));
    attn_model_free(model);
}
END_TEST

START_TEST(hand_written_modules) {
    static const struct {
        const char *family, *weights[4], *biases[4];
        bool turned;
    } schemes[] = {
        {"linear_q/linear_k/linear_v/final_linear",
         {"linear_q.weight", "linear_k.weight", "linear_v.weight", "final_linear.weight"},
         {"linear_q.bias", "linear_k.bias", "linear_v.bias", "final_linear.bias"},
         false},
        {"W_q/W_k/W_v/W_o",
         {"W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"},
         {"W_q.bias", "W_k.bias", "W_v.bias", "W_o.bias"},
         false},
        {"Wq/Wk/Wv/Wo", {"Wq", "Wk", "Wv", "Wo"}, {"bq", "bk", "bv", "bo"}, true},
        {"BERT",
         {"attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight",
          "attention.output.dense.weight"},
         {"attention.self.query.bias", "attention.self.key.bias", "attention.self.value.bias",
          "attention.output.dense.bias"},
         false},
    };
    static const char *const prefixes[] = {"", "net.", "bert.encoder.layer.0."};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        for (size_t j = 0; j < 3; j++)
            for (int biases = 0; biases < 2; biases++) {
                write_separate(prefixes[j], schemes[i].weights, biases ? schemes[i].biases : NULL,
                               schemes[i].turned);
                attn_model *model = load(2);
                ck_assert_str_eq(model->family, schemes[i].family);
                ck_assert_uint_eq(model->layer_count, 1);
                ck_assert_uint_eq(model->unused_count, 0);
                is_asymmetric(&model->layers[0], biases);
                attn_model_free(model);
            }
}
END_TEST

/* q [E,E], k [E,kdim], v [E,vdim]; one extra key from bias_k and bias_v, one of zeros. */
START_TEST(torch_separate_with_extra_keys) {
    const float numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    st_builder *builder = st_new();
    st_metadata(builder, "num_heads", "2");
    st_metadata(builder, "add_zero_attn", "true");
    st_add(builder, "attn.q_proj_weight", "F32", (size_t[]){2, 2, ST_END}, numbers);
    st_add(builder, "attn.k_proj_weight", "F32", (size_t[]){2, 3, ST_END}, numbers);
    st_add(builder, "attn.v_proj_weight", "F32", (size_t[]){2, 5, ST_END}, numbers);
    st_add(builder, "attn.in_proj_bias", "F32", (size_t[]){6, ST_END}, numbers);
    st_add(builder, "attn.bias_k", "F32", (size_t[]){1, 1, 2, ST_END}, numbers + 6);
    st_add(builder, "attn.bias_v", "F32", (size_t[]){1, 1, 2, ST_END}, numbers + 8);
    st_finish(builder, path);
    attn_model *model = load(0);
    const attn_layer *layer = &model->layers[0];
    ck_assert(layer->d_model == 2 && layer->d_key == 3 && layer->d_value == 5 && layer->d_out == 2);
    ck_assert(layer->wo == NULL && layer->bo == NULL);
    SAME(layer->wk, 1, 2, 3, 4, 5, 6);
    SAME(layer->wv, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    SAME(layer->bq, 1, 2);
    SAME(layer->bk, 3, 4);
    SAME(layer->bv, 5, 6);
    ck_assert_uint_eq(layer->extra_keys, 2);
    SAME(layer->extra_k, 7, 8, 0, 0);
    SAME(layer->extra_v, 9, 10, 0, 0);
    attn_model_free(model);
}
END_TEST

START_TEST(zero_key_alone) {
    st_builder *builder = st_new();
    st_metadata(builder, "num_heads", "1");
    st_metadata(builder, "add_zero_attn", "1");
    st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, fixture_asymmetric_in_weight);
    st_finish(builder, path);
    attn_model *model = load(0);
    ck_assert_uint_eq(model->layers[0].extra_keys, 1);
    SAME(model->layers[0].extra_k, 0, 0);
    SAME(model->layers[0].extra_v, 0, 0);
    attn_model_free(model);

    builder = st_new();
    st_metadata(builder, "add_zero_attn", "yes");
    st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, fixture_asymmetric_in_weight);
    st_finish(builder, path);
    refuse(1, "__metadata__.add_zero_attn is 'yes'; true, false, 1 or 0 is accepted");
}
END_TEST

START_TEST(dtypes_and_mixtures) {
    static const char *const dtypes[] = {"F64", "F32", "F16", "BF16"};
    for (size_t i = 0; i < 4; i++) {
        st_builder *builder = st_new();
        st_add(builder, "in_proj_weight", dtypes[i], (size_t[]){6, 2, ST_END}, fixture_asymmetric_in_weight);
        st_add(builder, "out_proj.weight", dtypes[(i + 1) % 4], (size_t[]){2, 2, ST_END},
               fixture_asymmetric_out_weight);
        st_finish(builder, path);
        attn_model *model = load(1);
        ck_assert_str_eq(attn_dtype_name(model->dtype), dtypes[i]);
        is_asymmetric(&model->layers[0], false);
        attn_model_free(model);
    }
    st_builder *builder = st_new();
    st_add_bytes(builder, "x.in_proj_weight", "I8", (size_t[]){6, 2, ST_END}, "123456789012", 12);
    st_finish(builder, path);
    refuse(1, "tensor 'x.in_proj_weight' of layers.0 is I8; F64, F32, F16 and BF16 are accepted");
}
END_TEST

/* [in,out] weights of more numbers than are read at a time. */
START_TEST(large_weights_are_turned) {
    enum { IN = 700, OUT = 300 };
    float *values = malloc(IN * OUT * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < IN * OUT; i++)
        values[i] = (float)i;
    st_builder *builder = st_new();
    st_add(builder, "Wq", "F32", (size_t[]){IN, OUT, ST_END}, values);
    st_add(builder, "Wk", "F32", (size_t[]){IN, OUT, ST_END}, values);
    st_add(builder, "Wv", "F32", (size_t[]){IN, OUT, ST_END}, values);
    st_finish(builder, path);
    attn_model *model = load(1);
    size_t wrong = 0;
    for (size_t in = 0; in < IN; in++)
        for (size_t out = 0; out < OUT; out++)
            wrong += model->layers[0].wv[out * IN + in] != values[in * OUT + out];
    ck_assert_uint_eq(wrong, 0);
    attn_model_free(model);
    free(values);
}
END_TEST

/* A file of one torch layer whose tensor `name` holds `value` as its element `at`. */
static void write_with(const char *name, const char *dtype, size_t at, float value) {
    float in[12] = {0}, out[4] = {0}, bias[2] = {0};
    float *values = strcmp(name, "in_proj_weight") == 0    ? in
                    : strcmp(name, "out_proj.weight") == 0 ? out
                                                           : bias;
    values[at] = value;
    st_builder *builder = st_new();
    st_add(builder, "in_proj_weight", dtype, (size_t[]){6, 2, ST_END}, in);
    st_add(builder, "out_proj.weight", dtype, (size_t[]){2, 2, ST_END}, out);
    st_add(builder, "out_proj.bias", dtype, (size_t[]){2, ST_END}, bias);
    st_finish(builder, path);
}

START_TEST(weights_that_are_not_finite) {
    write_with("in_proj_weight", "F32", 11, NAN);
    refuse(1, "element 11 of tensor 'in_proj_weight' is NaN; finite float32 numbers are accepted");
    write_with("in_proj_weight", "BF16", 0, -INFINITY);
    refuse(1, "element 0 of tensor 'in_proj_weight' is infinite or beyond float32");
    write_with("out_proj.bias", "F64", 1, INFINITY);
    refuse(1, "element 1 of tensor 'out_proj.bias' is infinite or beyond float32");

    const double beyond[4] = {0, 0, 1e39, 0};
    float wq[4] = {0, 0, 0, NAN};
    st_builder *builder = st_new();
    st_add_bytes(builder, "Wq", "F64", (size_t[]){2, 2, ST_END}, beyond, sizeof beyond);
    st_add(builder, "Wk", "F32", (size_t[]){2, 2, ST_END}, fixture_asymmetric_out_weight);
    st_add(builder, "Wv", "F32", (size_t[]){2, 2, ST_END}, fixture_asymmetric_out_weight);
    st_add(builder, "elsewhere", "F32", (size_t[]){2, 2, ST_END}, wq);
    st_finish(builder, path);
    refuse(1, "element 2 of tensor 'Wq' is infinite or beyond float32");

    /* What is not used may hold anything; the largest float32 is a number. */
    builder = st_new();
    wq[3] = -3.4028235e38f;
    st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, fixture_asymmetric_in_weight);
    st_add(builder, "out_proj.weight", "F32", (size_t[]){2, 2, ST_END}, wq);
    st_add(builder, "mask", "F32", (size_t[]){1, ST_END}, &(float){-INFINITY});
    st_finish(builder, path);
    attn_model_free(load(1));
}
END_TEST

/* The case unaligned-data: three bytes of another tensor, and a header of odd length. */
START_TEST(unaligned_fixture) {
    for (size_t padding = 1; padding < 4; padding++) {
        st_builder *builder = st_new();
        st_metadata(builder, "num_heads", "1");
        st_metadata(builder, "note", &"xxxx"[padding]);
        st_add_bytes(builder, "odd", "U8", (size_t[]){3, ST_END}, "abc", 3);
        st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, fixture_asymmetric_in_weight);
        st_add(builder, "in_proj_bias", "F32", (size_t[]){6, ST_END}, fixture_asymmetric_in_bias);
        st_add(builder, "out_proj.weight", "F32", (size_t[]){2, 2, ST_END}, fixture_asymmetric_out_weight);
        st_add(builder, "out_proj.bias", "F32", (size_t[]){2, ST_END}, fixture_asymmetric_out_bias);
        st_finish(builder, path);
        attn_model *model = load(0);
        is_asymmetric(&model->layers[0], true);
        ck_assert_uint_eq(model->unused_count, 1);
        ck_assert_str_eq(model->tensors[0].name, "odd");
        ck_assert_ptr_null(model->tensors[0].use);
        ck_assert_str_eq(model->tensors[1].use, "layers.0 query, key and value weight");
        ck_assert_str_eq(model->tensors[4].use, "layers.0 output bias");
        ck_assert(model->tensors[1].rank == 2 && model->tensors[1].shape[0] == 6);
        attn_model_free(model);
    }
}
END_TEST

START_TEST(layers_stand_in_the_order_of_their_numbers) {
    st_builder *builder = st_new();
    float values[12] = {0};
    static const int order[] = {10, 9, 0, 2};
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.h.%d.attn.in_proj_weight", order[i]);
        values[0] = (float)order[i];
        st_add(builder, name, "F32", (size_t[]){6, 2, ST_END}, values);
    }
    st_add_bytes(builder, "embeddings.position_ids", "I64", (size_t[]){1, ST_END}, "12345678", 8);
    st_finish(builder, path);
    attn_model *model = load(1);
    ck_assert_uint_eq(model->layer_count, 4);
    static const float sorted[] = {0, 2, 9, 10};
    for (size_t i = 0; i < 4; i++)
        ck_assert(model->layers[i].wq[0] == sorted[i]);
    ck_assert_str_eq(model->layers[3].name, "layers.3");
    ck_assert_uint_eq(model->unused_count, 1);
    attn_model_free(model);
}
END_TEST

/* 4 heads, 2 key/value heads of width 1, values of width 3 each. */
START_TEST(grouped_heads_and_other_value_width) {
    const float zeros[64] = {0};
    st_builder *builder = st_new();
    st_add(builder, "W_q.weight", "F32", (size_t[]){4, 5, ST_END}, zeros);
    st_add(builder, "W_k.weight", "F32", (size_t[]){2, 5, ST_END}, zeros);
    st_add(builder, "W_v.weight", "F32", (size_t[]){6, 5, ST_END}, zeros);
    st_add(builder, "W_o.weight", "F32", (size_t[]){5, 12, ST_END}, zeros);
    st_finish(builder, path);
    attn_model *model = load(4);
    const attn_layer *layer = &model->layers[0];
    ck_assert(layer->kv_heads == 2 && layer->head_dim == 1 && layer->value_dim == 3 && layer->d_out == 5);
    attn_model_free(model);
    refuse_kv(4, 1, ATTN_BAD_MODEL,
              "tensor 'W_k.weight' of layers.0 has 2 outputs; 1 key/value heads of width 1 are expected");
    model = load(2); /* the shapes tell: dk 2, so one key/value head, so dv 6 */
    ck_assert(model->layers[0].kv_heads == 1 && model->layers[0].value_dim == 6);
    attn_model_free(model);
}
END_TEST

START_TEST(shapes_that_do_not_fit) {
    const float zeros[64] = {0};
    st_builder *builder = st_new();
    st_add(builder, "a.in_proj_weight", "F32", (size_t[]){4, 2, ST_END}, zeros);
    st_finish(builder, path);
    refuse(1, "tensor 'a.in_proj_weight' of layers.0 has shape [4,2]; [6,2] is expected");

    builder = st_new();
    st_add(builder, "in_proj_weight", "F32", (size_t[]){12, ST_END}, zeros);
    st_finish(builder, path);
    refuse(1, "has shape [12]; [3E,E] is expected");

    builder = st_new();
    st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, zeros);
    st_add(builder, "in_proj_bias", "F32", (size_t[]){5, ST_END}, zeros);
    st_finish(builder, path);
    refuse(1, "tensor 'in_proj_bias' of layers.0 has shape [5]; [6] is expected");

    builder = st_new();
    st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, zeros);
    st_add(builder, "out_proj.weight", "F32", (size_t[]){2, 3, ST_END}, zeros);
    st_finish(builder, path);
    refuse(1, "tensor 'out_proj.weight' of layers.0 has shape [2,3]; [2,2] is expected");

    builder = st_new();
    st_add(builder, "in_proj_weight", "F32", (size_t[]){6, 2, ST_END}, zeros);
    st_add(builder, "bias_k", "F32", (size_t[]){2, ST_END}, zeros);
    st_add(builder, "bias_v", "F32", (size_t[]){1, 1, 2, ST_END}, zeros);
    st_finish(builder, path);
    refuse(1, "tensor 'bias_k' of layers.0 has shape [2]; [1,1,2] is expected");

    builder = st_new();
    st_add(builder, "in_proj_weight", "F32", (size_t[]){0, 0, ST_END}, zeros);
    st_finish(builder, path);
    refuse(1, "has shape [0,0]; at least 1 element is expected");

    builder = st_new(); /* [in,out]: the expected shape is written that way round */
    st_add(builder, "Wq", "F32", (size_t[]){3, 2, ST_END}, zeros);
    st_add(builder, "Wk", "F32", (size_t[]){3, 2, ST_END}, zeros);
    st_add(builder, "Wv", "F32", (size_t[]){3, 4, ST_END}, zeros);
    st_add(builder, "Wo", "F32", (size_t[]){5, 4, ST_END}, zeros);
    st_finish(builder, path);
    refuse(2, "tensor 'Wo' of layers.0 has shape [5,4]; [4,4] is expected");
}
END_TEST

START_TEST(widths_that_do_not_fit) {
    const float zeros[64] = {0};
    st_builder *builder = st_new();
    st_add(builder, "W_q.weight", "F32", (size_t[]){4, 4, ST_END}, zeros);
    st_add(builder, "W_k.weight", "F32", (size_t[]){3, 4, ST_END}, zeros);
    st_add(builder, "W_v.weight", "F32", (size_t[]){4, 4, ST_END}, zeros);
    st_finish(builder, path);
    refuse(2, "tensor 'W_k.weight' of layers.0 has 3 outputs; a multiple of the head width 2 is expected");
    refuse(4, "3 key/value heads of layers.0 do not divide its 4 heads");

    builder = st_new();
    st_add(builder, "W_q.weight", "F32", (size_t[]){4, 4, ST_END}, zeros);
    st_add(builder, "W_k.weight", "F32", (size_t[]){4, 4, ST_END}, zeros);
    st_add(builder, "W_v.weight", "F32", (size_t[]){3, 4, ST_END}, zeros);
    st_finish(builder, path);
    refuse(2,
           "tensor 'W_v.weight' of layers.0 has 3 outputs; a multiple of its 2 key/value heads is expected");
}
END_TEST

static void refuse_pair(const char *a, size_t a_rank, const char *b, size_t b_rank, const char *text) {
    const float zeros[12] = {0};
    st_builder *builder = st_new();
    if (a != NULL) add(builder, "", a, "F32", a_rank == 2 ? 6 : 2, a_rank == 2 ? 2 : 0, zeros);
    add(builder, "", b, "F32", 2, b_rank == 2 ? 2 : 0, zeros);
    st_finish(builder, path);
    refuse(1, text);
}

START_TEST(missing_and_doubled_partners) {
    refuse_pair(NULL, 0, "x.W_q.weight", 2,
                "tensor 'x.W_q.weight' of layers.0 has no 'W_k.weight' beside it");
    refuse_pair(NULL, 0, "Wk", 2, "tensor 'Wk' of layers.0 has no 'Wq' beside it");
    refuse_pair(NULL, 0, "v_proj_weight", 2,
                "tensor 'v_proj_weight' of layers.0 has no 'q_proj_weight' beside it");
    refuse_pair("in_proj_weight", 2, "out_proj.bias", 1,
                "tensor 'out_proj.bias' of layers.0 has no 'out_proj.weight' beside it");
    refuse_pair("in_proj_weight", 2, "bias_k", 1, "tensor 'bias_k' of layers.0 has no 'bias_v' beside it");
    refuse_pair("in_proj_weight", 2, "q_proj_weight", 2,
                "tensors 'in_proj_weight' and 'q_proj_weight' of layers.0 both hold the query weight");
    refuse_pair("in_proj_weight", 2, "W_q.weight", 2,
                "holds layers of two naming schemes, 'in_proj_weight' "
                "(torch.nn.MultiheadAttention) and 'W_q.weight' "
                "(W_q/W_k/W_v/W_o); one a file is accepted");
    refuse_pair(
        "in_proj_weight", 2, ".in_proj_weight", 2,
        "tensors '.in_proj_weight' and 'in_proj_weight' both claim to be the query, key and value weight");
    refuse_pair("attention.self.query.weight", 2, "attention.self.distance_embedding.weight", 2,
                "tensor 'attention.self.distance_embedding.weight' changes the attention of layers.0 in a "
                "way that is "
                "not supported");
}
END_TEST

START_TEST(no_attention_at_all) {
    st_builder *builder = st_new();
    const float zeros[4] = {0};
    static const char *const names[] = {"fc1.weight", "fc2.weight", "out_proj.weight", "xin_proj_weight"};
    for (size_t i = 0; i < 4; i++)
        st_add(builder, names[i], "F32", (size_t[]){4, ST_END}, zeros);
    st_finish(builder, path);
    refuse(1,
           "no attention weights among 4 tensors ('fc1.weight', 'fc2.weight', 'out_proj.weight' ...); known "
           "names, under any prefix: in_proj_weight or q_proj_weight ...; linear_q.weight ...; W_q.weight "
           "...; Wq "
           "... ([in,out]); attention.self.query.weight ...");
    st_write(path, "{}", "", 0);
    refuse(1, "no attention weights among 0 tensors ()");
}
END_TEST

START_TEST(folders_and_config) {
    fixture_asymmetric(path, 1);
    attn_model *model = load_from(folder, 0, 0);
    ck_assert_str_eq(model->file, path);
    attn_model_free(model);

    ck_assert_int_eq(remove(path), 0);
    attn_error error;
    attn_error_clear(&error);
    const attn_model_source source = {"m", folder, 1, 0, NULL};
    ck_assert_int_eq(attn_model_load(&source, &model, &error), ATTN_IO);
    ck_assert_str_eq(error.text, "is a folder without model.safetensors");
    static const char *const shards[] = {"model.safetensors.index.json", "model-00002-of-00002.safetensors",
                                         "model-00001-of-00002.safetensors"};
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
        char *shard = temporary_path(folder, shards[i]), said[200];
        st_write_bytes(shard, "{}", 2);
        attn_error_clear(&error);
        ck_assert_int_eq(attn_model_load(&source, &model, &error), ATTN_IO);
        snprintf(
            said, sizeof said,
            "is a folder without model.safetensors; '%s' is there: a model in shards is not read, one file "
            "with all its tensors is accepted",
            shards[i]);
        ck_assert_str_eq(error.text, said);
        free(shard);
    }
}
END_TEST

/* The promise of attn_model_seeded_write. */
START_TEST(a_written_seed_is_the_seeded_model) {
    const attn_seed_spec spec = {.d_model = 48, .heads = 3, .layers = 11, .seed = 7};
    ck_assert_int_eq(attn_model_seeded_write(path, &spec, NULL), ATTN_OK);
    attn_model *loaded = load(0), *made = NULL;
    ck_assert_int_eq(attn_model_seeded("m", &spec, &made, NULL), ATTN_OK);
    ck_assert_uint_eq(loaded->layer_count, 11);
    ck_assert_uint_eq(loaded->bytes, made->bytes);
    ck_assert_uint_eq(loaded->unused_count, 0);
    for (size_t i = 0; i < 11; i++) {
        const attn_layer *a = &loaded->layers[i], *b = &made->layers[i];
        ck_assert_str_eq(a->name, b->name);
        ck_assert(a->heads == b->heads && a->head_dim == b->head_dim && a->scale == b->scale &&
                  a->d_out == b->d_out);
        const float *const pairs[][2] = {{a->wq, b->wq}, {a->wk, b->wk}, {a->wv, b->wv}, {a->wo, b->wo}};
        for (size_t j = 0; j < 4; j++)
            ck_assert_int_eq(memcmp(pairs[j][0], pairs[j][1], 48 * 48 * sizeof(float)), 0);
        const float *const biases[][2] = {{a->bq, b->bq}, {a->bk, b->bk}, {a->bv, b->bv}, {a->bo, b->bo}};
        for (size_t j = 0; j < 4; j++)
            ck_assert_int_eq(memcmp(biases[j][0], biases[j][1], 48 * sizeof(float)), 0);
    }
    attn_model_free(loaded);
    attn_model_free(made);
}
END_TEST

START_TEST(loading_can_be_stopped) {
    const attn_seed_spec spec = {.d_model = 8, .heads = 2, .layers = 3, .seed = 7};
    ck_assert_int_eq(attn_model_seeded_write(path, &spec, NULL), ATTN_OK);
    atomic_bool stop;
    atomic_init(&stop, true);
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    const attn_model_source source = {.name = "m", .path = path, .stop = &stop};
    ck_assert_int_eq(attn_model_load(&source, &model, &error), ATTN_CANCELLED);
    ck_assert_ptr_null(model);
    ck_assert_str_eq(error.where, path);
    atomic_store(&stop, false);
    ck_assert_int_eq(attn_model_load(&source, &model, NULL), ATTN_OK);
    attn_model_free(model);
}
END_TEST

START_TEST(tensor_lists_need_no_model) {
    st_builder *builder = st_new();
    st_add_bytes(builder, "x", "U8", (size_t[]){3, ST_END}, "abc", 3);
    st_finish(builder, path);
    attn_tensor_list list;
    ck_assert_int_eq(attn_tensor_list_read(folder, &list, NULL), ATTN_OK);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.tensors[0].name, "x");
    ck_assert(list.tensors[0].use == NULL && list.tensors[0].dtype == ATTN_U8 &&
              list.tensors[0].shape[0] == 3);
    attn_tensor_list_done(&list);
    attn_tensor_list_done(&list);
    ck_assert_int_eq(attn_tensor_list_read("/nonexistent", &list, NULL), ATTN_IO);
}
END_TEST

ATTND_SUITE(load) {
    Suite *suite = suite_create("load");
    TCase *cases = tcase_create("load");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, torch_packed);
    tcase_add_test(cases, hand_written_modules);
    tcase_add_test(cases, torch_separate_with_extra_keys);
    tcase_add_test(cases, zero_key_alone);
    tcase_add_test(cases, dtypes_and_mixtures);
    tcase_add_test(cases, large_weights_are_turned);
    tcase_add_test(cases, weights_that_are_not_finite);
    tcase_add_test(cases, unaligned_fixture);
    tcase_add_test(cases, layers_stand_in_the_order_of_their_numbers);
    tcase_add_test(cases, grouped_heads_and_other_value_width);
    tcase_add_test(cases, shapes_that_do_not_fit);
    tcase_add_test(cases, widths_that_do_not_fit);
    tcase_add_test(cases, missing_and_doubled_partners);
    tcase_add_test(cases, no_attention_at_all);
    tcase_add_test(cases, folders_and_config);
    tcase_add_test(cases, a_written_seed_is_the_seeded_model);
    tcase_add_test(cases, loading_can_be_stopped);
    tcase_add_test(cases, tensor_lists_need_no_model);
    suite_add_tcase(suite, cases);
    return suite;
}
