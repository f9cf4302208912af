/* One attention block, ready to run: widths, defaults and float32 weights. Immutable once built, so any
 * number of threads may read it. Letters: D model width, H query heads, Hkv key/value heads, dk query/key
 * head width, dv value head width, E keys that the layer itself adds. */
#ifndef ATTN_WEIGHTS_LAYER_H
#define ATTN_WEIGHTS_LAYER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum attn_causal {
    ATTN_CAUSAL_LAYER = 0, /* in a request: what the layer says */
    ATTN_CAUSAL_OFF,
    ATTN_CAUSAL_SQUARE,   /* `true`: query i sees keys j <= i; L != S is an error that names the next two */
    ATTN_CAUSAL_TOP_LEFT, /* query i sees keys j <= i */
    ATTN_CAUSAL_BOTTOM_RIGHT, /* query i sees keys j <= i + (S - L) */
} attn_causal;

enum { ATTN_LAYER_NAME_SIZE = 64 };

typedef struct attn_layer {
    char name[ATTN_LAYER_NAME_SIZE]; /* "layers.0", "decoder.3.cross" … */

    size_t d_model; /* width of the queries' input; 0: any (only the parameter-free layer) */
    size_t d_key;   /* width of the vectors that keys come from (kdim); 0 as above */
    size_t d_value; /* width of the vectors that values come from (vdim); 0 as above */
    size_t d_out;   /* width of an output; H·dv where there is no output projection; 0 as above */

    size_t heads;     /* H */
    size_t kv_heads;  /* Hkv, divides H; query head h reads key/value head h / (H / Hkv) */
    size_t head_dim;  /* dk; 0 as above */
    size_t value_dim; /* dv; 0 as above */

    float scale;        /* factor on q·k; 0: 1/sqrt(dk) of the request (the parameter-free layer) */
    attn_causal causal; /* the default: ATTN_CAUSAL_OFF or ATTN_CAUSAL_SQUARE */
    size_t window;      /* the default: 0 none, else W >= 1 keys including the query's own */
    bool is_cross;      /* keys come from elsewhere: a request without `context` is an error */

    /* Weights as y = x·Wᵀ + b, row-major [out, in]. All NULL in the parameter-free layer softmax(X·Xᵀ/√D)·X.
     * wo NULL: the concatenated heads are the output. A NULL bias is absent. */
    const float *wq, *bq; /* H·dk   × d_model, H·dk   */
    const float *wk, *bk; /* Hkv·dk × d_key,   Hkv·dk */
    const float *wv, *bv; /* Hkv·dv × d_value, Hkv·dv */
    const float *wo, *bo; /* d_out  × H·dv,    d_out  */

    /* Keys and values that the layer appends after the request's own, always attended (torch's bias_k/bias_v,
     * then add_zero_attn): the last columns of every map. */
    size_t extra_keys;    /* E */
    const float *extra_k; /* E × Hkv·dk */
    const float *extra_v; /* E × Hkv·dv */
} attn_layer;

static inline bool attn_layer_is_parameter_free(const attn_layer *layer) {
    return layer->wq == NULL;
}

#endif
