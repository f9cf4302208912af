/* A request of few queries over keys that are split, for tests of splits: all that it borrows lies in one value. */
#ifndef TESTS_UNIT_ENGINE_ATTENTION_FEW_QUERIES_H
#define TESTS_UNIT_ENGINE_ATTENTION_FEW_QUERIES_H

#include "engine/attention/few.h"
#include "engine/attention/geometry.h"
#include "engine/engine.h"

enum {
    FEW = ATTN_FEW_QUERIES,
    SPLIT = ATTN_SPLIT_KEYS,
    FEW_MOST_KEYS = 3 * SPLIT + 5,
    FEW_WIDTH = 8,
    FEW_HEADS = 2,
    FEW_EXTRA = 3
};

/* Numbers of keys around the ends of splits. */
enum { FEW_KEY_COUNTS = 7 };
extern const size_t few_key_counts[FEW_KEY_COUNTS];

/* A layer that hands its inputs through to two heads, and a request to it. */
typedef struct few_queries {
    attn_layer layer;
    attn_sequence sequence;
    attn_request request;
    float identity[FEW_WIDTH * FEW_WIDTH], extra[FEW_EXTRA * FEW_WIDTH];
    float inputs[FEW * FEW_WIDTH], context[FEW_MOST_KEYS * FEW_WIDTH], values[FEW_MOST_KEYS * FEW_WIDTH];
    float bias[FEW * FEW_MOST_KEYS];
    uint8_t padding[FEW_MOST_KEYS], allow[FEW_HEADS * FEW * FEW_MOST_KEYS];
} few_queries;

/* Some number of magnitude `most` at most. */
float few_queries_wave(size_t i, float most);

/* Numbers in everything, nothing masked, outputs wanted. The value must not move. */
void few_queries_init(few_queries *f, size_t queries, size_t keys);

#endif
