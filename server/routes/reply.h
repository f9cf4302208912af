/* Ways to fill in a 200. */
#ifndef SRV_ROUTES_REPLY_H
#define SRV_ROUTES_REPLY_H

#include "server/codec/text.h"
#include "server/http/call.h"

#include <jansson.h>

/* Takes the text over; a failed one becomes a problem. `content_type` is static storage. */
void srv_reply_text(srv_reply *reply, const char *content_type, srv_text *text);
/* Takes the document over (NULL: there was no memory for it); one line of JSON. */
void srv_reply_json(srv_reply *reply, json_t *document);

/* What the pipeline says, a 200 or a problem. */
void srv_reply_answer(srv_reply *reply, const srv_answer *answer);

#endif
