/* Tensors as a client writes and reads them, nested lists and base64 objects alike, without the codec's own
 * code. */
#ifndef TESTS_UNIT_SERVER_CODEC_WIRE_TENSOR_H
#define TESTS_UNIT_SERVER_CODEC_WIRE_TENSOR_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WIRE_RANK = 5 };

typedef enum wire_form { WIRE_LISTS, WIRE_F32, WIRE_F64, WIRE_BOOLEANS, WIRE_BOOL, WIRE_U8 } wire_form;

/* Writes `values` in a shape: WIRE_LISTS as numbers, WIRE_BOOLEANS as nested true and false, others as an
 * object of that dtype. */
void wire_put(FILE *out, wire_form form, const float *values, const size_t *shape, size_t rank);

/* base64 of bytes. */
void wire_put_base64(FILE *out, const void *bytes, size_t size);

/* A tensor of an answer. */
typedef struct wire_tensor {
    size_t rank, shape[WIRE_RANK], count;
    double *values; /* null is −Infinity */
} wire_tensor;

/* Reads nested lists, or an object of f32, f16 or i32. Fails the running test where it is neither, or its
 * data is not the shape's. */
wire_tensor wire_get(const json_t *value);
void wire_done(wire_tensor *tensor);

#endif
