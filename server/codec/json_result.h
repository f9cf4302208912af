/* One tensor of an answer as JSON: nested lists or a base64 object, whichever the ask wants. Internal to
 * server/codec. */
#ifndef SRV_CODEC_JSON_RESULT_H
#define SRV_CODEC_JSON_RESULT_H

#include "ask.h"
#include "parts.h"

/* Where tensors go. */
typedef struct srv_result_writer {
    const srv_ask *ask;
    srv_parts *parts;
    const char *member; /* whose tensors they are, for a problem's text; static storage */
} srv_result_writer;

/* −Infinity becomes null in lists; nothing else that is not finite may occur. */
void srv_json_put_view(const srv_result_writer *to, const attn_view *view);
/* Packed integers in a view's shape. */
void srv_json_put_indices(const srv_result_writer *to, const attn_view *shape, const int32_t *indices);

#endif
