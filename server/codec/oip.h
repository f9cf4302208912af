/* Open Inference Protocol v2 (KServe's "Open Inference Protocol", REST) with Triton's binary tensor extension: what a
 * request for inference and its answer are written in. Sources: https://github.com/kserve/open-inference-protocol,
 * inference_rest.md; https://github.com/triton-inference-server/server, docs/protocol/extension_binary_data.md.
 *
 * A body is JSON, and behind it the bytes of those inputs that give a binary_data_size, in their order, little-endian,
 * without gaps; Inference-Header-Content-Length says where the JSON ends, and 0 that there is none: then all is one
 * float32 tensor, `inputs`, and outputs are bytes. An answer is the same the other way round. Runs on workers. */
#ifndef SRV_CODEC_OIP_H
#define SRV_CODEC_OIP_H

#include "codec.h"

/* The version that every model has. */
#define SRV_OIP_VERSION "1"
/* What is behind a model's name where maps are answered as well. */
#define SRV_OIP_MAPS "-maps"

/* The tensors of a request and of an answer. */
typedef struct srv_oip_input {
    const char *name;
    bool is_mask;
} srv_oip_input;

enum { SRV_OIP_INPUTS = 5, SRV_OIP_OUTPUTS = 2 };
extern const srv_oip_input srv_oip_inputs[SRV_OIP_INPUTS]; /* inputs itself is the first one */
extern const char *const srv_oip_outputs[SRV_OIP_OUTPUTS]; /* outputs, attention */

/* A codec's `open`: a decoder that keeps of a body's JSON what it needs, piece by piece. Refuses more than `max_text` bytes
 * of it, the lists of `data` not counted; 0: no limit. source->addressed says whose request it is. SRV_BAD_BODY where JSON
 * and bytes do not fit together; the query may hold `compress` alone. */
srv_decoder *srv_oip_decoder(size_t max_text);

size_t srv_oip_cost(const srv_ask *ask, const attn_plan *plan);
/* Outputs in the order in which they were asked for. Where one is bytes, srv_parts_head tells the length of the JSON. */
bool srv_oip_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

#endif
