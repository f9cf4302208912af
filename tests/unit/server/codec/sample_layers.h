/* Layers for the codec's tests: widths only, the weights are never read. */
#ifndef TESTS_UNIT_SERVER_CODEC_SAMPLE_LAYERS_H
#define TESTS_UNIT_SERVER_CODEC_SAMPLE_LAYERS_H

#include "engine/engine.h"
#include "server/codec/ask.h"

/* tiny: 4 wide, 2 heads; causal: the same, causal; cross: inputs 4, context 3, values 2 wide; plain: any
 * width, no parameters. NULL for other names. */
const attn_layer *sample_layer(const char *name);

/* Body → ask → bound → planned, as the pipeline does it. The ask, or NULL with the problem. */
srv_ask *sample_request(const char *body, size_t size, const char *layer, attn_plan *plan,
                        srv_problem *problem);
/* The same with a query. */
srv_ask *sample_request_with(const char *body, size_t size, const char *query, const char *layer,
                             attn_plan *plan, srv_problem *problem);
/* The same in a format, by its media type. The body must stay as long as the ask. */
srv_ask *sample_request_as(const char *type, const char *body, size_t size, const char *query,
                           const char *layer, attn_plan *plan, srv_problem *problem);

#endif
