/* JSON in and out (docs: the HTTP contract, 2.1 and 2.2). Feeding a decoder is an HTTP thread's, all else runs on
 * workers. */
#ifndef SRV_CODEC_JSON_H
#define SRV_CODEC_JSON_H

#include "codec.h"

/* Reads a body and the request's query, in which every option of one value or a list can stand, those of
 * `return` by their own names (decoder.h). What is no JSON object is SRV_BAD_JSON with the byte offset, also a number
 * that not even a double holds (SRV_OUT_OF_RANGE), or SRV_WRONG_TYPE. What is wrong inside the object is kept in the
 * ask, with its JSON Pointer or parameter, for srv_ask_bind to tell once model and layer are known to exist.
 *
 * Tensors are read as they come and nothing else is kept of them; a text of at most `max_text` bytes (0: any) outside
 * them waits for the end. */
srv_decoder *srv_json_decoder(size_t max_text);

/* Lists the answer as one JSON object, members in the contract's order. shape.keys counts the
 * request's own keys; the layer's extra ones are `extra_keys`, which like `rows_without_keys` is there when
 * it is not 0. `heads` is there with maps or scores; with average_heads it says whose mean the maps are. In a
 * batch every tensor member is a list of N (`projections` a list of N objects).
 *
 * A tensor is nested lists or, as base64, {"dtype":"f32" or "f16","shape":[…],"data":"…"}, little-endian.
 * With top_k a map is {"index":…,"weight":…,"rest":…}, and with scores {"index","weight","score","rest"} and
 * no member `scores`; as base64 the index has dtype "i32". Padding is index −1, weight 0, score null
 * (−Infinity in base64, as every masked score).
 *
 * The parts point into the run and, for the projections of a parameter-free layer, into the ask. Never fails. */
bool srv_json_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

/* Appends the small members alone, those before the tensors, as one JSON object. */
void srv_json_append_small(const srv_outcome *outcome, srv_text *out);

/* Refuses binary16, which is for bytes, where decimal numbers are the answer. */
bool srv_json_settle(srv_ask *ask, srv_problem *problem);

/* What a request with `plan` is answered with, beside what srv_ask and plan know. */
typedef struct srv_plan_figures {
    size_t bytes;  /* that the whole request holds at its peak, answer included */
    size_t answer; /* upper bound for the text of the JSON answer */
    size_t limit;  /* of bytes that requests may hold together */
} srv_plan_figures;

/* Lists the answer to a request with `plan`: model, layer, shape, heads, queries, lengths, warnings as
 * above, then
 *   "plan":{"bytes":…,"flops":…,
 *           "answer_bytes":{"application/json":…,"application/x-npy":…,"application/x-safetensors":…},
 *           "verdict":"fits" | "too_large","limit":…,"setting":"limits.memory"}
 * answer_bytes: for JSON an upper bound, exact for x-npy (of `outputs`; null where they are not asked for)
 * and for the tensors of x-safetensors (whose header of some hundred bytes comes on top). The verdict
 * compares `bytes` with `limit`, which is the named setting's. */
void srv_json_plan(const srv_ask *ask, const char *model, size_t layer_index, const attn_plan *plan,
                   const srv_plan_figures *figures, srv_parts *parts);

/* Appends a valid request body for a layer: small, readable, and answered with 200. */
bool srv_json_example(const char *model, size_t layer_index, const attn_layer *layer, srv_text *out);

#endif
