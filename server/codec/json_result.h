/* One tensor of an answer as JSON: nested lists or a base64 object, whichever the ask wants. Internal to
 * server/codec. */
#ifndef SRV_CODEC_JSON_RESULT_H
#define SRV_CODEC_JSON_RESULT_H

#include "ask.h"
#include "text.h"

#include <stdint.h>

/* Where tensors go. After a problem nothing more is written. */
typedef struct srv_result_writer {
    const srv_ask *ask;
    srv_text *out;
    const char *member; /* whose tensors they are, for the problem's text */
    srv_problem *problem;
} srv_result_writer;

/* −Infinity becomes null in lists; nothing else that is not finite may occur. */
void srv_json_put_view(const srv_result_writer *to, const attn_view *view);
/* Packed integers in a view's shape. */
void srv_json_put_indices(const srv_result_writer *to, const attn_view *shape, const int32_t *indices);

#endif
