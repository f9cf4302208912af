/* Proof that the vectors can fail: each change that a wrong engine or loader could make to a layer must break
 * the tolerance in some stage of every vector to which it applies. Layers are plain values, so a copy is
 * changed. */
#include "golden.h"

#include "compare.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Changes a copy of a layer, with memory for what is new; false where it does not apply to the case. */
typedef bool mutate_fn(const golden_case *golden, attn_layer *layer, float **memory);

static float *numbers(size_t count) {
    float *memory = malloc((count + 1) * sizeof *memory);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static bool drop(const float **bias) {
    bool applies = *bias != NULL;
    *bias = NULL;
    return applies;
}

static bool drop_bq(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden, (void)memory;
    return drop(&layer->bq);
}

static bool drop_bk(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden, (void)memory;
    return drop(&layer->bk);
}

static bool drop_bv(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden, (void)memory;
    return drop(&layer->bv);
}

static bool drop_bo(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden, (void)memory;
    return drop(&layer->bo);
}

static bool swap_k_and_v(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden, (void)memory;
    const float *wk = layer->wk;
    layer->wk = layer->wv;
    layer->wv = wk;
    return wk != NULL && layer->head_dim == layer->value_dim && layer->d_key == layer->d_value;
}

/* Wᵀ in place of a W of rows × columns; applies where it is square. */
static bool transpose(const float **weight, size_t rows, size_t columns, float **memory) {
    if (*weight == NULL || rows != columns || rows == 1) return false;
    *memory = numbers(rows * rows);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++)
            (*memory)[j * rows + i] = (*weight)[i * rows + j];
    *weight = *memory;
    return true;
}

static bool transpose_wq(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden;
    return transpose(&layer->wq, layer->heads * layer->head_dim, layer->d_model, memory);
}

static bool transpose_wk(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden;
    return transpose(&layer->wk, layer->kv_heads * layer->head_dim, layer->d_key, memory);
}

static bool transpose_wv(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden;
    return transpose(&layer->wv, layer->kv_heads * layer->value_dim, layer->d_value, memory);
}

static bool transpose_wo(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)golden;
    return transpose(&layer->wo, layer->d_out, layer->heads * layer->value_dim, memory);
}

static bool scale_by_model_width(const golden_case *golden, attn_layer *layer, float **memory) {
    (void)memory;
    if (golden->request.scale_given || layer->wq == NULL || layer->d_model == layer->head_dim) return false;
    layer->scale = (float)(1 / sqrt((double)layer->d_model));
    return true;
}

static const struct {
    const char *name;
    mutate_fn *mutate;
} mutations[] = {
    {"without the query bias", drop_bq},        {"without the key bias", drop_bk},
    {"without the value bias", drop_bv},        {"without the output bias", drop_bo},
    {"k and v swapped", swap_k_and_v},          {"query weight transposed", transpose_wq},
    {"key weight transposed", transpose_wk},    {"value weight transposed", transpose_wv},
    {"output weight transposed", transpose_wo}, {"scaled by the model width", scale_by_model_width},
};

START_TEST(mutation_breaks_every_vector_it_applies_to) {
    size_t applied = 0;
    for (size_t i = 0; i < golden_count(); i++) {
        golden_case *golden = golden_load(i);
        attn_layer layer = *golden->layer;
        float *memory = NULL;
        if (mutations[_i].mutate(golden, &layer, &memory)) {
            golden_answer answer = golden_run(golden, &layer, 1);
            ck_assert_msg(!golden_agrees(golden, &answer, GOLDEN_ALL_STAGES, NULL), "%s: %s breaks no stage",
                          golden->name, mutations[_i].name);
            golden_answer_done(&answer);
            applied++;
        }
        free(memory);
        golden_free(golden);
    }
    ck_assert_msg(applied > 0, "%s applies to no vector", mutations[_i].name);
}
END_TEST

/* Blocks of kv head map(h), one for every query head h: out [H·size] from in [Hkv·size]; NULL stays NULL. */
static const float *spread(const float *in, size_t heads, size_t kv_heads, size_t size, bool tile,
                           float *out) {
    if (in == NULL) return NULL;
    for (size_t h = 0; h < heads; h++) {
        size_t from = tile ? h % kv_heads : h / (heads / kv_heads);
        memcpy(out + h * size, in + from * size, size * sizeof *out);
    }
    return out;
}

/* Gives every query head a key/value head of its own: repeated (as grouped heads mean) or tiled (the usual
 * mistake). Fills one block of memory. */
static float *ungroup(attn_layer *layer, bool tile) {
    size_t heads = layer->heads, kv_heads = layer->kv_heads;
    size_t k_size = layer->head_dim * layer->d_key, v_size = layer->value_dim * layer->d_value;
    float *memory = numbers(heads * (k_size + v_size + layer->head_dim + layer->value_dim)), *at = memory;
    layer->wk = spread(layer->wk, heads, kv_heads, k_size, tile, at);
    at += heads * k_size;
    layer->wv = spread(layer->wv, heads, kv_heads, v_size, tile, at);
    at += heads * v_size;
    layer->bk = spread(layer->bk, heads, kv_heads, layer->head_dim, tile, at);
    at += heads * layer->head_dim;
    layer->bv = spread(layer->bv, heads, kv_heads, layer->value_dim, tile, at);
    layer->kv_heads = heads;
    return memory;
}

static bool ungrouped_agrees(const golden_case *golden, bool tile, char *text) {
    const unsigned stages = GOLDEN_ALL_STAGES & ~(1U << GOLDEN_K | 1U << GOLDEN_V);
    attn_layer layer = *golden->layer;
    float *memory = ungroup(&layer, tile);
    golden_answer answer = golden_run(golden, &layer, 1);
    bool agrees = golden_agrees(golden, &answer, stages, text);
    golden_answer_done(&answer);
    free(memory);
    return agrees;
}

START_TEST(grouped_heads_repeat_and_do_not_tile) {
    size_t applied = 0;
    for (size_t i = 0; i < golden_count(); i++) {
        golden_case *golden = golden_load(i);
        size_t kv_heads = golden->layer->kv_heads;
        if (kv_heads > 1 && kv_heads < golden->layer->heads) {
            char text[COMPARE_TEXT_SIZE];
            bool repeated = ungrouped_agrees(golden, false, text);
            ck_assert_msg(repeated, "%s: repeated heads, %s", golden->name, text);
            ck_assert_msg(!ungrouped_agrees(golden, true, NULL), "%s: tiled heads break no stage",
                          golden->name);
            applied++;
        }
        golden_free(golden);
    }
    ck_assert_uint_gt(applied, 0);
}
END_TEST

ATTND_SUITE(golden_mutations) {
    Suite *suite = suite_create("golden_mutations");
    TCase *cases = tcase_create("mutations");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_loop_test(cases, mutation_breaks_every_vector_it_applies_to, 0,
                        (int)(sizeof mutations / sizeof *mutations));
    tcase_add_test(cases, grouped_heads_repeat_and_do_not_tile);
    suite_add_tcase(suite, cases);
    return suite;
}
