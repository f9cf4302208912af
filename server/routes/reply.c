/* Filling in replies (reply.h). */
#include "reply.h"

#include <string.h>

static void set(srv_reply *reply, const char *content_type, char *body, size_t size) {
    if (!body) {
        srv_problem_set(&reply->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the answer");
        return;
    }
    reply->status = 200;
    reply->content_type = content_type;
    reply->body = body;
    reply->size = size;
}

void srv_reply_text(srv_reply *reply, const char *content_type, srv_text *text) {
    if (text->failed) {
        srv_text_done(text);
        set(reply, content_type, NULL, 0);
    } else {
        set(reply, content_type, text->data, text->size);
    }
}

/* Nine digits: as many as float32 needs to be read back. */
void srv_reply_json(srv_reply *reply, json_t *document) {
    char *body = document ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(document);
    set(reply, "application/json", body, body ? strlen(body) : 0);
}

void srv_reply_answer(srv_reply *reply, const srv_answer *answer) {
    reply->problem = answer->problem;
    reply->status = 200;
    reply->content_type = answer->type;
    reply->head = answer->head;
    reply->coding = answer->coding;
    reply->stream = answer->stream;
    reply->has_timing = true;
    reply->timing = answer->timing;
}
