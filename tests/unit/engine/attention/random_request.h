/* Random layers and requests from a seed: every option of the engine, alone and together, in small and odd
 * sizes. The same seed makes the same request. Requests are always acceptable: attn_plan_make must take
 * them. */
#ifndef TESTS_UNIT_ENGINE_ATTENTION_RANDOM_REQUEST_H
#define TESTS_UNIT_ENGINE_ATTENTION_RANDOM_REQUEST_H

#include "engine/engine.h"

#include <check.h>
#include <stdio.h>

/* Fails the running test with the seed and a printf-formatted text unless the condition holds. */
#define ck_seed(condition, random, ...)                                                                      \
    do {                                                                                                     \
        if (condition) break;                                                                                \
        char ck_seed_text[1024];                                                                             \
        snprintf(ck_seed_text, sizeof ck_seed_text, __VA_ARGS__);                                            \
        ck_abort_msg("seed %llu: %s", (unsigned long long)(random)->seed, ck_seed_text);                     \
    } while (0)

enum { RANDOM_BLOCKS = 128 };

typedef struct random_request {
    uint64_t seed, state;
    attn_layer layer;
    attn_request request; /* of `layer`; stays valid while this value does not move */
    attn_sequence *sequences;
    void *blocks[RANDOM_BLOCKS]; /* all memory that the request borrows */
    size_t block_count;
} random_request;

void random_request_init(random_request *random, uint64_t seed);
void random_request_done(random_request *random);

/* A planned run of the request, and one that has finished well on a pool. The caller frees them. */
attn_run *random_request_new_run(const random_request *random, size_t workers);
attn_run *random_request_run(const random_request *random, attn_pool *pool);

/* 0 … limit-1, for tests that need further choices of their own. */
size_t random_below(random_request *random, size_t limit);

#endif
