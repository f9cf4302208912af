/* JSON in and out (docs: the HTTP contract, 2.1 and 2.2). Runs on workers: never on an HTTP thread. */
#ifndef SRV_CODEC_JSON_H
#define SRV_CODEC_JSON_H

#include "ask.h"
#include "text.h"

/* Reads a body. False, with *out untouched, where it is no JSON object: SRV_BAD_JSON with the byte offset,
 * also a number that not even a double holds (SRV_OUT_OF_RANGE). What is wrong inside the object is kept in
 * the ask, with its JSON Pointer, for srv_ask_bind to tell once model and layer are known to exist. */
bool srv_json_decode(const char *body, size_t size, srv_ask **out, srv_problem *problem);

/* Appends the answer to `out` as one JSON object, members in the contract's order. shape.keys counts the
 * request's own keys; the layer's extra ones are `extra_keys`, which like `rows_without_keys` is there when
 * it is not 0. `heads` is there with maps or scores. In a batch every tensor member is a list of N
 * (`projections` a list of N objects). False only without memory. */
bool srv_json_encode(const srv_ask *ask, const char *model, size_t layer_index, const attn_run *run,
                     srv_text *out);

/* Appends a valid request body for a layer: small, readable, and answered with 200. */
bool srv_json_example(const char *model, size_t layer_index, const attn_layer *layer, srv_text *out);

#endif
