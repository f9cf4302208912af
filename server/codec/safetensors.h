/* application/x-safetensors in and out (docs: the HTTP contract, 2.3). Runs on workers. */
#ifndef SRV_CODEC_SAFETENSORS_H
#define SRV_CODEC_SAFETENSORS_H

#include "codec.h"

/* As in the table of formats (codec.h). Tensors bear the names of a request's fields; options stand in `__metadata__`
 * or in the query. Float32 and masks of bytes stay in the body. */
bool srv_safetensors_measure(srv_source *source, size_t max_text, srv_problem *problem);
bool srv_safetensors_decode(const srv_source *source, srv_ask **out, srv_problem *problem);

/* Answers: `outputs`, `attention`, `scores`, `projections.q`, `.k`, `.v`; with top_k `attention.index` (I32, −1 where there
 * is none), `.weight`, `.score`, `.rest`. A batch of sequences of one length is stacked; otherwise `outputs` are packed,
 * the others separate, `attention.0` …, and `lengths` (I64) tells whose rows are whose. The header ends at a multiple of
 * 8, each tensor lies at a multiple of its elements' size. What JSON has as small members is in `__metadata__`, strings
 * as they are, anything else as JSON text. */
bool srv_safetensors_settle(srv_ask *ask, srv_problem *problem);
size_t srv_safetensors_cost(const srv_ask *ask, const attn_plan *plan);
bool srv_safetensors_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

#endif
