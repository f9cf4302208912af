/* The table of naming schemes, and look-ups in it. Static data and pure functions: any thread. Adding a
 * scheme that needs no new role is one row of `schemes` and its names in `tensors`. */
#include "schemes.h"

#include <string.h>

typedef enum scheme_id { TORCH, LINEAR_Q, W_Q, BARE_WQ, BERT, SCHEME_COUNT } scheme_id;

static const attn_scheme schemes[SCHEME_COUNT] = {
    [TORCH] = {"torch.nn.MultiheadAttention", "in_proj_weight or q_proj_weight ...", false, true},
    [LINEAR_Q] = {"linear_q/linear_k/linear_v/final_linear", "linear_q.weight ...", false, false},
    [W_Q] = {"W_q/W_k/W_v/W_o", "W_q.weight ...", false, false},
    [BARE_WQ] = {"Wq/Wk/Wv/Wo", "Wq ... ([in,out])", true, false},
    [BERT] = {"BERT", "attention.self.query.weight ...", false, false},
};

static const struct {
    scheme_id scheme;
    attn_role role;
    const char *suffix;
} tensors[] = {
    {TORCH, ATTN_ROLE_QKV_WEIGHT, "in_proj_weight"},
    {TORCH, ATTN_ROLE_QKV_BIAS, "in_proj_bias"},
    {TORCH, ATTN_ROLE_Q_WEIGHT, "q_proj_weight"}, /* these three where kdim or vdim is not E */
    {TORCH, ATTN_ROLE_K_WEIGHT, "k_proj_weight"},
    {TORCH, ATTN_ROLE_V_WEIGHT, "v_proj_weight"},
    {TORCH, ATTN_ROLE_O_WEIGHT, "out_proj.weight"},
    {TORCH, ATTN_ROLE_O_BIAS, "out_proj.bias"},
    {TORCH, ATTN_ROLE_EXTRA_K, "bias_k"},
    {TORCH, ATTN_ROLE_EXTRA_V, "bias_v"},

    {LINEAR_Q, ATTN_ROLE_Q_WEIGHT, "linear_q.weight"},
    {LINEAR_Q, ATTN_ROLE_Q_BIAS, "linear_q.bias"},
    {LINEAR_Q, ATTN_ROLE_K_WEIGHT, "linear_k.weight"},
    {LINEAR_Q, ATTN_ROLE_K_BIAS, "linear_k.bias"},
    {LINEAR_Q, ATTN_ROLE_V_WEIGHT, "linear_v.weight"},
    {LINEAR_Q, ATTN_ROLE_V_BIAS, "linear_v.bias"},
    {LINEAR_Q, ATTN_ROLE_O_WEIGHT, "final_linear.weight"},
    {LINEAR_Q, ATTN_ROLE_O_BIAS, "final_linear.bias"},

    {W_Q, ATTN_ROLE_Q_WEIGHT, "W_q.weight"},
    {W_Q, ATTN_ROLE_Q_BIAS, "W_q.bias"},
    {W_Q, ATTN_ROLE_K_WEIGHT, "W_k.weight"},
    {W_Q, ATTN_ROLE_K_BIAS, "W_k.bias"},
    {W_Q, ATTN_ROLE_V_WEIGHT, "W_v.weight"},
    {W_Q, ATTN_ROLE_V_BIAS, "W_v.bias"},
    {W_Q, ATTN_ROLE_O_WEIGHT, "W_o.weight"},
    {W_Q, ATTN_ROLE_O_BIAS, "W_o.bias"},

    {BARE_WQ, ATTN_ROLE_Q_WEIGHT, "Wq"},
    {BARE_WQ, ATTN_ROLE_Q_BIAS, "bq"},
    {BARE_WQ, ATTN_ROLE_K_WEIGHT, "Wk"},
    {BARE_WQ, ATTN_ROLE_K_BIAS, "bk"},
    {BARE_WQ, ATTN_ROLE_V_WEIGHT, "Wv"},
    {BARE_WQ, ATTN_ROLE_V_BIAS, "bv"},
    {BARE_WQ, ATTN_ROLE_O_WEIGHT, "Wo"},
    {BARE_WQ, ATTN_ROLE_O_BIAS, "bo"},

    {BERT, ATTN_ROLE_Q_WEIGHT, "attention.self.query.weight"},
    {BERT, ATTN_ROLE_Q_BIAS, "attention.self.query.bias"},
    {BERT, ATTN_ROLE_K_WEIGHT, "attention.self.key.weight"},
    {BERT, ATTN_ROLE_K_BIAS, "attention.self.key.bias"},
    {BERT, ATTN_ROLE_V_WEIGHT, "attention.self.value.weight"},
    {BERT, ATTN_ROLE_V_BIAS, "attention.self.value.bias"},
    {BERT, ATTN_ROLE_O_WEIGHT, "attention.output.dense.weight"},
    {BERT, ATTN_ROLE_O_BIAS, "attention.output.dense.bias"},
    {BERT, ATTN_ROLE_UNSUPPORTED, "attention.self.distance_embedding.weight"}, /* relative_key positions */
    {BERT, ATTN_ROLE_UNSUPPORTED, "attention.self.rotary_embeddings.inv_freq"},
};

/* "multihead_attn" is also what many people call their only attention; in torch's TransformerDecoderLayer it
 * stands beside "self_attn". The other names say what they are. */
static const attn_cross_name cross_names[] = {
    {"multihead_attn", "self_attn"}, {"cross_attn", NULL}, {"cross_attention", NULL},
    {"encoder_attn", NULL},          {"src_attn", NULL},
};

const char *attn_role_text(attn_role role) {
    switch (role) {
#define X(id, text, starts_block)                                                                            \
    case id: return text;
        ATTN_ROLES(X)
#undef X
    case ATTN_ROLE_COUNT: break;
    }
    return "";
}

bool attn_role_starts_block(attn_role role) {
    switch (role) {
#define X(id, text, starts_block)                                                                            \
    case id: return starts_block;
        ATTN_ROLES(X)
#undef X
    case ATTN_ROLE_COUNT: break;
    }
    return false;
}

const attn_scheme *attn_scheme_match(const char *name, attn_role *role, size_t *prefix) {
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        size_t tail = strlen(tensors[i].suffix);
        if (size < tail || strcmp(name + size - tail, tensors[i].suffix) != 0) continue;
        if (size > tail && name[size - tail - 1] != '.') continue;
        *role = tensors[i].role;
        *prefix = size > tail ? size - tail - 1 : 0;
        return &schemes[tensors[i].scheme];
    }
    return NULL;
}

const char *attn_scheme_suffix(const attn_scheme *scheme, attn_role role) {
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        if (&schemes[tensors[i].scheme] == scheme && tensors[i].role == role) return tensors[i].suffix;
    return NULL;
}

const attn_scheme *attn_scheme_at(size_t index) {
    return index < SCHEME_COUNT ? &schemes[index] : NULL;
}

const attn_cross_name *attn_scheme_cross_name(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof cross_names / sizeof cross_names[0]; i++)
        if (strlen(cross_names[i].name) == size && memcmp(cross_names[i].name, name, size) == 0)
            return &cross_names[i];
    return NULL;
}
