/* A random request of the engine's tests as a client would write it: body and query. */
#ifndef TESTS_UNIT_SERVER_CODEC_RANDOM_BODY_H
#define TESTS_UNIT_SERVER_CODEC_RANDOM_BODY_H

#include "tests/unit/engine/attention/random_request.h"

#include <stdbool.h>

typedef struct random_body {
    char *body, *query; /* malloc'ed */
    bool single, packed, base64, half;
    size_t precision; /* 0: not given */
} random_body;

/* Every form that the contract allows for the request comes up: one sequence or a batch of one, ragged or
 * packed by lengths, lists or base64 for each tensor, options in the body or the query. Adds top_k and the
 * mean over heads to the request, where it allows them. */
void random_body_init(random_body *text, random_request *random);
void random_body_done(random_body *text);

#endif
