/* The stream of numbers that seeded weights are made of: the same floats in memory and in a file. */
#ifndef ATTN_WEIGHTS_SEEDED_H
#define ATTN_WEIGHTS_SEEDED_H

#include "model.h"

/* Draws in this order, layer after layer: the 3D×D matrix of query, key and value rows, then the D×D output
 * projection. */
typedef struct attn_seed_stream {
    uint64_t state;
    float input_bound, output_bound; /* Xavier's a of the two matrices */
} attn_seed_stream;

attn_code attn_seed_spec_check(const attn_seed_spec *spec, attn_error *error);
attn_seed_stream attn_seed_stream_begin(const attn_seed_spec *spec);
/* out[0..count) uniform in (-bound, bound). */
void attn_seed_stream_draw(attn_seed_stream *stream, float bound, size_t count, float *out);

#endif
