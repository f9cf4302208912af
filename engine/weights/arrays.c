/* Lays a layer's arrays out in one block. The block belongs to the storage. */
#include "arrays.h"

#include "../base/size.h"

enum { LINE = 16 /* floats in 64 bytes */, ARRAYS = 10 };

typedef struct wanted {
    float **array;
    bool present;
    size_t rows, columns;
} wanted;

/* Places every array that is present; false where the sum overflows. */
static bool place(const wanted *list, size_t *offsets, size_t *total, size_t *floats) {
    *total = *floats = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        size_t count = 0;
        if (list[i].present && !attn_size_mul(list[i].rows, list[i].columns, &count)) return false;
        offsets[i] = *total;
        if (!attn_size_add(*total, count, total) || !attn_size_add(*total, LINE - 1, total)) return false;
        *total -= *total % LINE;
        *floats += count;
    }
    return true;
}

bool attn_layer_arrays_take(attn_layer *layer, const attn_layer_parts *parts, attn_storage *storage,
                            attn_layer_arrays *out) {
    size_t q = layer->heads * layer->head_dim, k = layer->kv_heads * layer->head_dim;
    size_t v = layer->kv_heads * layer->value_dim, joined = layer->heads * layer->value_dim;
    attn_layer_arrays arrays = {0};
    const wanted list[ARRAYS] = {
        {&arrays.wq, true, q, layer->d_model},
        {&arrays.wk, true, k, layer->d_key},
        {&arrays.wv, true, v, layer->d_value},
        {&arrays.bq, parts->q_bias, q, 1},
        {&arrays.bk, parts->k_bias, k, 1},
        {&arrays.bv, parts->v_bias, v, 1},
        {&arrays.wo, parts->output, layer->d_out, joined},
        {&arrays.bo, parts->output_bias, layer->d_out, 1},
        {&arrays.extra_k, layer->extra_keys > 0, layer->extra_keys, k},
        {&arrays.extra_v, layer->extra_keys > 0, layer->extra_keys, v},
    };
    size_t offsets[ARRAYS], total;
    if (!place(list, offsets, &total, &arrays.floats)) return false;
    float *block = attn_storage_take(storage, total, sizeof *block);
    if (block == NULL) return false;
    for (size_t i = 0; i < ARRAYS; i++)
        if (list[i].present) *list[i].array = block + offsets[i];

    layer->wq = arrays.wq, layer->bq = arrays.bq;
    layer->wk = arrays.wk, layer->bk = arrays.bk;
    layer->wv = arrays.wv, layer->bv = arrays.bv;
    layer->wo = arrays.wo, layer->bo = arrays.bo;
    layer->extra_k = arrays.extra_k, layer->extra_v = arrays.extra_v;
    *out = arrays;
    return true;
}
