/* Layers for the codec's tests, and the way of a body to its plan. */
#include "sample_layers.h"

#include "server/codec/json.h"
#include "tests/support/decoding.h"

#include <stdint.h>
#include <string.h>

static const float no_weights[1];

static const attn_layer layers[] = {
    {.name = "tiny",
     .d_model = 4,
     .d_key = 4,
     .d_value = 4,
     .d_out = 4,
     .heads = 2,
     .kv_heads = 2,
     .head_dim = 2,
     .value_dim = 2,
     .scale = 1,
     .causal = ATTN_CAUSAL_OFF,
     .wq = no_weights,
     .wk = no_weights,
     .wv = no_weights},
    {.name = "causal",
     .d_model = 4,
     .d_key = 4,
     .d_value = 4,
     .d_out = 4,
     .heads = 2,
     .kv_heads = 2,
     .head_dim = 2,
     .value_dim = 2,
     .scale = 1,
     .causal = ATTN_CAUSAL_SQUARE,
     .wq = no_weights,
     .wk = no_weights,
     .wv = no_weights},
    {.name = "cross",
     .d_model = 4,
     .d_key = 3,
     .d_value = 2,
     .d_out = 4,
     .heads = 2,
     .kv_heads = 2,
     .head_dim = 2,
     .value_dim = 2,
     .scale = 1,
     .causal = ATTN_CAUSAL_OFF,
     .is_cross = true,
     .wq = no_weights,
     .wk = no_weights,
     .wv = no_weights},
    {.name = "plain", .heads = 1, .kv_heads = 1, .causal = ATTN_CAUSAL_OFF},
};

const attn_layer *sample_layer(const char *name) {
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (strcmp(layers[i].name, name) == 0) return layers + i;
    return NULL;
}

srv_ask *sample_request(const char *body, size_t size, const char *layer, attn_plan *plan,
                        srv_problem *problem) {
    return sample_request_with(body, size, "", layer, plan, problem);
}

srv_ask *sample_request_with(const char *body, size_t size, const char *query, const char *layer,
                             attn_plan *plan, srv_problem *problem) {
    return sample_request_as("application/json", body, size, query, layer, plan, problem);
}

srv_ask *sample_request_as(const char *type, const char *body, size_t size, const char *query,
                           const char *layer, attn_plan *plan, srv_problem *problem) {
    srv_ask *ask = NULL;
    attn_error error = {0};
    const srv_codec *codec = srv_codec_of_body(&srv_codecs_attention, type);
    if (!decode_body(codec, body, size, query, &ask, problem)) return NULL;
    if (srv_ask_bind(ask, sample_layer(layer), layer, 0, problem) && srv_json_settle(ask, problem)) {
        if (attn_plan_make(&ask->request, 1, plan, &error) == ATTN_OK) return ask;
        srv_problem_from_engine(problem, &error);
    }
    srv_ask_point(ask, problem);
    srv_ask_free(ask);
    return NULL;
}
