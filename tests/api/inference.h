/* Requests of the Open Inference Protocol, as its tests send them. */
#ifndef TESTS_API_INFERENCE_H
#define TESTS_API_INFERENCE_H

#include "api.h"

#define INFER "/v2/models/tiny/infer"
#define MAPS "/v2/models/tiny-maps/infer"
/* Two tokens of width 4. */
#define NUMBERS "1,0,0,0,0,1,0,0"
#define INPUT_OF(shape, datatype, rest)                                                                      \
    "{\"name\":\"inputs\",\"shape\":" shape ",\"datatype\":\"" datatype "\"," rest "}"
#define INPUT INPUT_OF("[1,2,4]", "FP32", "\"data\":[" NUMBERS "]")
#define BINARY_INPUT INPUT_OF("[1,2,4]", "FP32", "\"parameters\":{\"binary_data_size\":32}")
#define BODY "{\"inputs\":[" INPUT "]}"
#define CAUSAL "\"parameters\":{\"causal\":true}"

/* NUMBERS as they lie in memory. */
extern const float inference_numbers[8];

/* Posts a body with the headers given; http_done the answer. */
http_answer inference_send(const char *path, const char *const headers[], const void *body, size_t size);
/* As the protocol's clients do: no Content-Type, no Accept. */
http_answer inference_send_text(const char *path, const char *body);
/* JSON and bytes behind it; `told`: what the header says of the JSON's length, SIZE_MAX: the truth. */
http_answer inference_send_bytes(const char *path, const char *json, const void *bytes, size_t size,
                                 size_t told);
/* The JSON that such a text is answered with, which must be a success; json_decref it. */
json_t *inference_ask(const char *path, const char *body);

#endif
