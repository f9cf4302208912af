/* Requests of the Open Inference Protocol (inference.h). */
#include "inference.h"

#include <stdlib.h>
#include <string.h>

const float inference_numbers[8] = {1, 0, 0, 0, 0, 1, 0, 0};

http_answer inference_send(const char *path, const char *const headers[], const void *body, size_t size) {
    return http_send("POST", api_daemon.url, path, headers, body, size);
}

http_answer inference_send_text(const char *path, const char *body) {
    return inference_send(path, (const char *const[]){"Content-Type:", "Accept:", NULL}, body, strlen(body));
}

json_t *inference_ask(const char *path, const char *body) {
    http_answer answer = inference_send_text(path, body);
    ck_assert_msg(answer.status == 200, "%s", answer.body);
    api_check_header(&answer, "Content-Type", "application/json");
    ck_assert_ptr_null(strcasestr(answer.headers, "Inference-Header-Content-Length"));
    json_t *document = http_json(&answer);
    http_done(&answer);
    return document;
}

http_answer inference_send_bytes(const char *path, const char *json, const void *bytes, size_t size,
                                 size_t told) {
    char header[64], *body = malloc(strlen(json) + size + 1);
    memcpy(body, json, strlen(json));
    memcpy(body + strlen(json), bytes, size);
    snprintf(header, sizeof header, "Inference-Header-Content-Length: %zu",
             told == SIZE_MAX ? strlen(json) : told);
    http_answer answer =
        inference_send(path, (const char *const[]){header, "Content-Type:", NULL}, body, strlen(json) + size);
    free(body);
    return answer;
}
