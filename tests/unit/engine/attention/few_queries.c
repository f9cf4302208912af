/* A request of few queries (few_queries.h). */
#include "few_queries.h"

#include <math.h>
#include <string.h>

const size_t few_key_counts[FEW_KEY_COUNTS] = {SPLIT - 1, SPLIT,         SPLIT + 1,    2 * SPLIT - 1,
                                               2 * SPLIT, 2 * SPLIT + 1, FEW_MOST_KEYS};

float few_queries_wave(size_t i, float most) {
    return most * (float)sin(1.3 * (double)i + 0.7 * (double)(i % 89));
}

void few_queries_init(few_queries *f, size_t queries, size_t keys) {
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < FEW_WIDTH; i++)
        f->identity[i * FEW_WIDTH + i] = 1;
    for (size_t i = 0; i < (size_t)FEW * FEW_WIDTH; i++)
        f->inputs[i] = few_queries_wave(i, 2);
    for (size_t i = 0; i < (size_t)FEW_MOST_KEYS * FEW_WIDTH; i++) {
        f->context[i] = few_queries_wave(i + 5, 2);
        f->values[i] = few_queries_wave(i + 11, 1);
    }
    for (size_t i = 0; i < (size_t)FEW_EXTRA * FEW_WIDTH; i++)
        f->extra[i] = few_queries_wave(i + 17, 2);
    f->layer = (attn_layer){.name = "layers.0",
                            .d_model = FEW_WIDTH,
                            .d_key = FEW_WIDTH,
                            .d_value = FEW_WIDTH,
                            .d_out = FEW_WIDTH,
                            .heads = FEW_HEADS,
                            .kv_heads = FEW_HEADS,
                            .head_dim = FEW_WIDTH / FEW_HEADS,
                            .value_dim = FEW_WIDTH / FEW_HEADS,
                            .scale = 1,
                            .causal = ATTN_CAUSAL_OFF,
                            .wq = f->identity,
                            .wk = f->identity,
                            .wv = f->identity};
    f->sequence = (attn_sequence){.queries = queries, .keys = keys};
    f->request = (attn_request){.layer = &f->layer,
                                .sequences = &f->sequence,
                                .sequence_count = 1,
                                .inputs = f->inputs,
                                .context = f->context,
                                .values = f->values,
                                .d_model = FEW_WIDTH,
                                .d_key = FEW_WIDTH,
                                .d_value = FEW_WIDTH,
                                .want = ATTN_WANT_OUTPUTS};
}
