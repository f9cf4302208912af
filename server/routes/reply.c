/* Filling in replies (reply.h). */
#include "reply.h"

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

static int append(const char *bytes, size_t size, void *text) {
    srv_text_append(text, bytes, size);
    return 0;
}

/* Nine digits: as many as float32 needs to be read back. */
void srv_reply_json(srv_reply *reply, json_t *document) {
    srv_text text = {0};
    if (json_dump_callback(document, append, &text, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0)
        text.failed = true;
    srv_text_append_string(&text, "\n");
    json_decref(document);
    srv_reply_text(reply, "application/json", &text);
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
