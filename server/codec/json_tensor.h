/* Tensors of a body as base64 objects: {"dtype":…,"shape":[…],"data":…}, little-endian and row-major. Numbers
 * have dtype f32, f16, bf16 or f64, masks bool or u8 holding 0 and 1. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_TENSOR_H
#define SRV_CODEC_JSON_TENSOR_H

#include "json_walk.h"

#include "engine/engine.h"

typedef struct srv_tensor {
    attn_dtype dtype;
    size_t rank; /* 1 … ATTN_MAX_RANK */
    size_t shape[ATTN_MAX_RANK];
    size_t count;     /* the product; every axis is at least 1 */
    const char *data; /* base64; the JSON value's */
    size_t data_size;
} srv_tensor;

/* Whether a value is written as one object, or as a list of objects. */
bool srv_json_is_tensor(const json_t *value);
bool srv_json_is_tensor_list(const json_t *value);

/* Reads everything but the data, whose length must be the shape's: what is allocated for it afterwards is
 * bounded by the body. */
bool srv_json_tensor(json_t *value, const srv_place *place, srv_problem *problem, bool flags,
                     srv_tensor *out);

/* Decodes the data into `count` floats, refusing what is not finite; `masks`: −Infinity is fine. */
bool srv_tensor_floats(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                       float *out);
/* Decodes the data into `count` bytes of 0 or 1. */
bool srv_tensor_flags(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, uint8_t *out);

#endif
