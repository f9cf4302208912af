/* JSON in and out (docs: the HTTP contract, 2.1 and 2.2). Runs on workers: never on an HTTP thread. */
#ifndef SRV_CODEC_JSON_H
#define SRV_CODEC_JSON_H

#include "ask.h"
#include "text.h"

/* Reads a body. On failure *out is untouched and the problem says where: SRV_BAD_JSON with the byte offset,
 * else a 422 with the JSON Pointer. */
bool srv_json_decode(const char *body, size_t size, srv_ask **out, srv_problem *problem);

/* Appends the answer to `out` as one JSON object, members in the contract's order. False only without memory.
 */
bool srv_json_encode(const srv_ask *ask, const char *model, size_t layer_index, const attn_run *run,
                     srv_text *out);

/* Appends a valid request body for a layer: small, readable, and answered with 200. */
bool srv_json_example(const char *model, size_t layer_index, const attn_layer *layer, srv_text *out);

#endif
