/* Tensors of a JSON body as base64 objects: {"dtype":…,"shape":[…],"data":…}, numbers having dtype f32, f16, bf16 or
 * f64, masks bool or u8. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_TENSOR_H
#define SRV_CODEC_JSON_TENSOR_H

#include "json_scan.h"
#include "tensor.h"

/* A field's value in the text, and what the scanner took out of it. */
typedef struct srv_json_tensors {
    json_t *value;
    const srv_capture *capture;
} srv_json_tensors;

/* Which of a capture's parts a "data" of the text stands for. NULL where it stands for none: it is the client's own text then,
 * of an object deep in lists, which the scanner does not take. */
srv_json_data *srv_json_data_of(const srv_capture *capture, const json_t *data);

/* The body is over, and no element has been looked at: those of f64 whose dtype came behind their data, which lie here as
 * they came, become float32, and the capture takes half. */
void srv_json_tensors_narrow(const json_t *value, srv_capture *capture);

/* One object, or a list whose first element is one. False where it is something else, such as nested lists. `from`
 * must stay for as long as *out is used. */
bool srv_json_tensors_of(const srv_json_tensors *from, srv_tensors *out);

#endif
