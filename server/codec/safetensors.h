/* application/x-safetensors in and out (docs: the HTTP contract, 2.3). Runs on workers. */
#ifndef SRV_CODEC_SAFETENSORS_H
#define SRV_CODEC_SAFETENSORS_H

#include "codec.h"

/* As in the table of formats (codec.h). Tensors bear the names of a request's fields; options stand in `__metadata__`
 * or in the query. Float32 and masks of bytes stay in the body. */
bool srv_safetensors_measure(srv_source *source, size_t max_text, srv_problem *problem);
bool srv_safetensors_decode(const srv_source *source, srv_ask **out, srv_problem *problem);

#endif
