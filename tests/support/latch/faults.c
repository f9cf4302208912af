/* What does not happen by itself, for the binary attnd-latch: loading that goes on while the file named by TEST_LOADING
 * is locked by the test, and (TEST_FAULT set) no memory for any answer that a route makes itself. Linked by --wrap like
 * the latch, which holds the workers. */
#include "server/routes/reply.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

void __real_srv_models_publish(srv_models *models);
void __wrap_srv_models_publish(srv_models *models);
void __real_srv_reply_json(srv_reply *reply, json_t *document);
void __wrap_srv_reply_json(srv_reply *reply, json_t *document);
void __real_srv_reply_text(srv_reply *reply, const char *content_type, srv_text *text);
void __wrap_srv_reply_text(srv_reply *reply, const char *content_type, srv_text *text);

void __wrap_srv_models_publish(srv_models *models) {
    const char *path = getenv("TEST_LOADING");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        flock(file, LOCK_SH);
        close(file);
    }
    __real_srv_models_publish(models);
}

void __wrap_srv_reply_json(srv_reply *reply, json_t *document) {
    bool fails = getenv("TEST_FAULT") != NULL;
    if (fails) json_decref(document);
    __real_srv_reply_json(reply, fails ? NULL : document);
}

void __wrap_srv_reply_text(srv_reply *reply, const char *content_type, srv_text *text) {
    text->failed = text->failed || getenv("TEST_FAULT") != NULL;
    __real_srv_reply_text(reply, content_type, text);
}
