/* Checks a block's tensors against each other. Widths come from the file's shapes, whose bytes are really
 * there, so products of two widths of one tensor cannot overflow; others go through base/size.h. Pure; any
 * thread. */
#include "fit.h"

#include "../base/size.h"
#include "label.h"

#include <math.h>
#include <stdio.h>

/* What the steps of one fit share. */
typedef struct fitter {
    const attn_block *block;
    const char *file;
    attn_fit fit;
    attn_error *error;
} fitter;

#define REFUSE(fitter, ...)                                                                                  \
    attn_error_set((fitter)->error, ATTN_BAD_MODEL, attn_label_path((fitter)->file).text, __VA_ARGS__)
#define NAME(tensor) attn_label_name((tensor)->name).text

static attn_code refuse_shape(const fitter *f, const attn_file_tensor *tensor, const char *expected) {
    return REFUSE(f, "tensor '%s' of %s has shape %s; %s is expected", NAME(tensor), f->block->name,
                  attn_label_shape(tensor->shape, tensor->rank).text, expected);
}

static attn_code expect_shape(const fitter *f, const attn_file_tensor *tensor, size_t rank,
                              const size_t *shape) {
    bool same = tensor->rank == rank;
    for (size_t axis = 0; same && axis < rank; axis++)
        same = tensor->shape[axis] == shape[axis];
    return same ? ATTN_OK : refuse_shape(f, tensor, attn_label_shape(shape, rank).text);
}

/* A weight's shape is written as its file writes it. */
static attn_code expect_weight(const fitter *f, const attn_file_tensor *tensor, size_t out, size_t in) {
    const size_t out_in[2] = {out, in}, in_out[2] = {in, out};
    return expect_shape(f, tensor, 2, f->fit.in_by_out ? in_out : out_in);
}

/* Every tensor must be of numbers, and have some. */
static attn_code check_each_tensor(const fitter *f) {
    for (size_t role = 0; role < ATTN_ROLE_COUNT; role++) {
        const attn_file_tensor *tensor = f->block->tensors[role];
        if (tensor == NULL) continue;
        if (role == ATTN_ROLE_UNSUPPORTED)
            return REFUSE(f, "tensor '%s' changes the attention of %s in a way that is not supported",
                          NAME(tensor), f->block->name);
        if (!attn_dtype_is_float(tensor->dtype))
            return REFUSE(f, "tensor '%s' of %s is %s; F64, F32, F16 and BF16 are accepted", NAME(tensor),
                          f->block->name, attn_dtype_name(tensor->dtype));
        if (tensor->count == 0) return refuse_shape(f, tensor, "at least 1 element");
    }
    return ATTN_OK;
}

/* Refuses a block that has one role without the other. */
static attn_code check_partner(const fitter *f, attn_role role, attn_role partner) {
    const attn_file_tensor *tensor = f->block->tensors[role];
    if (tensor == NULL || f->block->tensors[partner] != NULL) return ATTN_OK;
    return REFUSE(f, "tensor '%s' of %s has no '%s' beside it", NAME(tensor), f->block->name,
                  attn_scheme_suffix(f->block->scheme, partner));
}

static attn_code check_partners(const fitter *f) {
    static const attn_role partners[][2] = {
        {ATTN_ROLE_Q_WEIGHT, ATTN_ROLE_K_WEIGHT}, {ATTN_ROLE_Q_WEIGHT, ATTN_ROLE_V_WEIGHT},
        {ATTN_ROLE_K_WEIGHT, ATTN_ROLE_Q_WEIGHT}, {ATTN_ROLE_V_WEIGHT, ATTN_ROLE_Q_WEIGHT},
        {ATTN_ROLE_O_BIAS, ATTN_ROLE_O_WEIGHT},   {ATTN_ROLE_EXTRA_K, ATTN_ROLE_EXTRA_V},
        {ATTN_ROLE_EXTRA_V, ATTN_ROLE_EXTRA_K},
    };
    const attn_file_tensor *packed = f->block->tensors[ATTN_ROLE_QKV_WEIGHT];
    const attn_file_tensor *separate = f->block->tensors[ATTN_ROLE_Q_WEIGHT];
    if (packed != NULL && separate != NULL)
        return REFUSE(f, "tensors '%s' and '%s' of %s both hold the query weight", NAME(packed),
                      NAME(separate), f->block->name);
    attn_code code = ATTN_OK;
    for (size_t i = 0; code == ATTN_OK && i < sizeof partners / sizeof partners[0]; i++)
        code = check_partner(f, partners[i][0], partners[i][1]);
    return code;
}

/* One matrix of rows q, k, v, as wide as each of the three is high. */
static attn_code place_packed(fitter *f, const attn_file_tensor *tensor) {
    if (tensor->rank != 2) return refuse_shape(f, tensor, "[3E,E]");
    size_t width = tensor->shape[1], rows;
    if (!attn_size_mul(3, width, &rows)) return refuse_shape(f, tensor, "[3E,E]");
    attn_code code = expect_weight(f, tensor, rows, width);
    if (code != ATTN_OK) return code;
    f->fit.wq = (attn_piece){tensor, 0, width, width};
    f->fit.wk = (attn_piece){tensor, width * width, width, width};
    f->fit.wv = (attn_piece){tensor, 2 * width * width, width, width};
    return ATTN_OK;
}

static attn_code place_weight(fitter *f, attn_role role, attn_piece *out) {
    const attn_file_tensor *tensor = f->block->tensors[role];
    if (tensor == NULL) return ATTN_OK;
    if (tensor->rank != 2) return refuse_shape(f, tensor, f->fit.in_by_out ? "[in,out]" : "[out,in]");
    bool turned = f->fit.in_by_out;
    *out = (attn_piece){tensor, 0, tensor->shape[turned ? 1 : 0], tensor->shape[turned ? 0 : 1]};
    return ATTN_OK;
}

static attn_code place_weights(fitter *f) {
    const attn_file_tensor *packed = f->block->tensors[ATTN_ROLE_QKV_WEIGHT];
    attn_code code = packed != NULL ? place_packed(f, packed) : ATTN_OK;
    if (code == ATTN_OK) code = place_weight(f, ATTN_ROLE_Q_WEIGHT, &f->fit.wq);
    if (code == ATTN_OK) code = place_weight(f, ATTN_ROLE_K_WEIGHT, &f->fit.wk);
    if (code == ATTN_OK) code = place_weight(f, ATTN_ROLE_V_WEIGHT, &f->fit.wv);
    if (code == ATTN_OK) code = place_weight(f, ATTN_ROLE_O_WEIGHT, &f->fit.wo);
    return code;
}

static attn_code refuse_heads(const fitter *f, size_t heads) {
    char nearest[64];
    size_t below, above;
    attn_nearest_divisors(f->fit.wq.rows, heads, &below, &above);
    if (below != 0 && above != 0)
        snprintf(nearest, sizeof nearest, "%zu and %zu", below, above);
    else
        snprintf(nearest, sizeof nearest, "%zu", below != 0 ? below : above);
    return REFUSE(
        f, "%zu heads do not divide the %zu query outputs of tensor '%s' of %s; the nearest that do: %s",
        heads, f->fit.wq.rows, NAME(f->fit.wq.tensor), f->block->name, nearest);
}

static attn_code refuse_unknown_heads(const fitter *f) {
    return REFUSE(
        f,
        "the head count of %s (%zu query outputs in '%s') is unknown; it is taken from --heads, "
        "num_heads in the file's __metadata__, or num_attention_heads in a config.json beside the file",
        f->block->name, f->fit.wq.rows, NAME(f->fit.wq.tensor));
}

static attn_code find_kv_heads(fitter *f, size_t told) {
    const attn_piece *wk = &f->fit.wk;
    attn_layer *layer = &f->fit.layer;
    size_t expected;
    if (told != 0) {
        if (!attn_size_mul(told, layer->head_dim, &expected) || wk->rows != expected)
            return REFUSE(f,
                          "tensor '%s' of %s has %zu outputs; %zu key/value heads of width %zu are expected",
                          NAME(wk->tensor), f->block->name, wk->rows, told, layer->head_dim);
        layer->kv_heads = told;
    } else {
        if (wk->rows % layer->head_dim != 0)
            return REFUSE(f,
                          "tensor '%s' of %s has %zu outputs; a multiple of the head width %zu is expected",
                          NAME(wk->tensor), f->block->name, wk->rows, layer->head_dim);
        layer->kv_heads = wk->rows / layer->head_dim;
    }
    if (layer->heads % layer->kv_heads != 0)
        return REFUSE(f, "%zu key/value heads of %s do not divide its %zu heads", layer->kv_heads,
                      f->block->name, layer->heads);
    return ATTN_OK;
}

static attn_code find_heads(fitter *f, const attn_head_counts *counts) {
    attn_layer *layer = &f->fit.layer;
    if (counts->heads == 0) return refuse_unknown_heads(f);
    if (f->fit.wq.rows % counts->heads != 0) return refuse_heads(f, counts->heads);
    layer->heads = counts->heads;
    layer->head_dim = f->fit.wq.rows / counts->heads;
    attn_code code = find_kv_heads(f, counts->kv_heads);
    if (code != ATTN_OK) return code;
    if (f->fit.wv.rows % layer->kv_heads != 0)
        return REFUSE(f,
                      "tensor '%s' of %s has %zu outputs; a multiple of its %zu key/value heads is expected",
                      NAME(f->fit.wv.tensor), f->block->name, f->fit.wv.rows, layer->kv_heads);
    layer->value_dim = f->fit.wv.rows / layer->kv_heads;
    layer->scale = (float)(1.0 / sqrt((double)layer->head_dim));
    return ATTN_OK;
}

/* The output projection takes the joined heads; without one they are the output. */
static attn_code find_widths(fitter *f) {
    attn_layer *layer = &f->fit.layer;
    layer->d_model = f->fit.wq.columns;
    layer->d_key = f->fit.wk.columns;
    layer->d_value = f->fit.wv.columns;
    size_t joined;
    if (!attn_size_mul(layer->heads, layer->value_dim, &joined))
        return REFUSE(f, "the heads of %s are too wide to be counted", f->block->name);
    layer->d_out = f->fit.wo.tensor != NULL ? f->fit.wo.rows : joined;
    f->fit.parts.output = f->fit.wo.tensor != NULL;
    return f->fit.wo.tensor == NULL ? ATTN_OK : expect_weight(f, f->fit.wo.tensor, f->fit.wo.rows, joined);
}

static attn_code place_bias(const fitter *f, attn_role role, size_t rows, attn_piece *out, bool *present) {
    const attn_file_tensor *tensor = f->block->tensors[role];
    if (tensor == NULL) return ATTN_OK;
    *out = (attn_piece){tensor, 0, rows, 1};
    *present = true;
    return expect_shape(f, tensor, 1, &rows);
}

static attn_code place_packed_bias(fitter *f) {
    const attn_file_tensor *tensor = f->block->tensors[ATTN_ROLE_QKV_BIAS];
    if (tensor == NULL) return ATTN_OK;
    size_t q = f->fit.wq.rows, k = f->fit.wk.rows, v = f->fit.wv.rows, all;
    if (!attn_size_add(q, k, &all) || !attn_size_add(all, v, &all)) return refuse_shape(f, tensor, "[3E]");
    f->fit.bq = (attn_piece){tensor, 0, q, 1};
    f->fit.bk = (attn_piece){tensor, q, k, 1};
    f->fit.bv = (attn_piece){tensor, q + k, v, 1};
    f->fit.parts.q_bias = f->fit.parts.k_bias = f->fit.parts.v_bias = true;
    return expect_shape(f, tensor, 1, &all);
}

static attn_code place_biases(fitter *f) {
    attn_fit *fit = &f->fit;
    attn_code code = place_packed_bias(f);
    if (code == ATTN_OK) code = place_bias(f, ATTN_ROLE_Q_BIAS, fit->wq.rows, &fit->bq, &fit->parts.q_bias);
    if (code == ATTN_OK) code = place_bias(f, ATTN_ROLE_K_BIAS, fit->wk.rows, &fit->bk, &fit->parts.k_bias);
    if (code == ATTN_OK) code = place_bias(f, ATTN_ROLE_V_BIAS, fit->wv.rows, &fit->bv, &fit->parts.v_bias);
    if (code == ATTN_OK)
        code = place_bias(f, ATTN_ROLE_O_BIAS, fit->wo.rows, &fit->bo, &fit->parts.output_bias);
    return code;
}

/* torch's bias_k and bias_v [1,1,E] are one more key and value; add_zero_attn's zeros come after them. */
static attn_code place_extra_keys(fitter *f, bool add_zero_attn) {
    const attn_file_tensor *key = f->block->tensors[ATTN_ROLE_EXTRA_K];
    const attn_file_tensor *value = f->block->tensors[ATTN_ROLE_EXTRA_V];
    if (key != NULL) f->fit.layer.extra_keys++;
    if (add_zero_attn && f->block->scheme->reads_add_zero_attn) f->fit.layer.extra_keys++;
    if (key == NULL) return ATTN_OK;
    f->fit.extra_k = (attn_piece){key, 0, f->fit.wk.rows, 1};
    f->fit.extra_v = (attn_piece){value, 0, f->fit.wv.rows, 1};
    attn_code code = expect_shape(f, key, 3, (size_t[]){1, 1, f->fit.wk.rows});
    return code != ATTN_OK ? code : expect_shape(f, value, 3, (size_t[]){1, 1, f->fit.wv.rows});
}

attn_code attn_block_fit(const attn_block *block, const attn_head_counts *counts, bool add_zero_attn,
                         const char *file, attn_fit *out, attn_error *error) {
    fitter f = {.block = block, .file = file, .error = error};
    f.fit.in_by_out = block->scheme->in_by_out;
    f.fit.layer.causal = ATTN_CAUSAL_OFF;
    f.fit.layer.is_cross = block->is_cross;
    snprintf(f.fit.layer.name, sizeof f.fit.layer.name, "%s", block->name);

    attn_code code = check_each_tensor(&f);
    if (code == ATTN_OK) code = check_partners(&f);
    if (code == ATTN_OK) code = place_weights(&f);
    if (code == ATTN_OK) code = place_biases(&f);
    if (code == ATTN_OK) code = find_heads(&f, counts);
    if (code == ATTN_OK) code = find_widths(&f);
    if (code == ATTN_OK) code = place_extra_keys(&f, add_zero_attn);
    if (code == ATTN_OK) *out = f.fit;
    return code;
}
