/* Whole tensors of a request, wherever they lie: in a binary body, or in the base64 of a JSON one as it was decoded.
 * Little-endian and row-major. Internal to server/codec. */
#ifndef SRV_CODEC_TENSOR_H
#define SRV_CODEC_TENSOR_H

#include "json_nest.h"

#include "engine/engine.h"

struct srv_json_data;

typedef struct srv_tensor {
    attn_dtype dtype; /* F32, F16, BF16 or F64; of a mask BOOL, U8, I32 or I64 */
    size_t rank;      /* 1 … ATTN_MAX_RANK */
    size_t shape[ATTN_MAX_RANK];
    size_t count;                     /* the product; every axis is at least 1 */
    const char *data;                 /* the body's bytes */
    const struct srv_json_data *text; /* the base64 that they were; NULL: none */
} srv_tensor;

/* What is given for one field: a tensor, or a list of one for each sequence. */
typedef struct srv_tensors {
    /* Tells the tensor at an index of the list (0 where there is none), with a dtype that suits a mask (`flags`) or
     * numbers and data of the size that its shape asks for. Errors lie at `place`. */
    bool (*at)(const struct srv_tensors *given, size_t index, const srv_place *place, srv_problem *problem,
               bool flags, srv_tensor *out);
    size_t count;
    bool is_list;
    const void *from;
    const attn_file_tensor *const *first; /* of a binary body's list */
} srv_tensors;

/* What is given for a field of tensors. */
typedef struct srv_given {
    const json_t *other;  /* a JSON value that is neither; NULL: … */
    const srv_nest *nest; /* lists within lists; NULL: … */
    srv_tensors tensors;
} srv_given;

/* Sets one such field of an ask; false as a srv_json_setter. inputs, context, values stand in this order in the
 * table of fields, before masks and labels, which need the lengths. */
typedef bool srv_tensor_setter(srv_ask *ask, const srv_given *given, const srv_place *place);

srv_tensor_setter srv_set_inputs, srv_set_context, srv_set_values;
srv_tensor_setter srv_set_padding, srv_set_mask, srv_set_bias;

/* The numbers where they lie, unless they must be converted: NULL then. Not to be written to. */
float *srv_tensor_floats_in_place(const srv_tensor *tensor);
/* The same for a mask's bytes. */
uint8_t *srv_tensor_flags_in_place(const srv_tensor *tensor);
/* The same for tensors, of which `before` elements have been met (0: begin): *lies stays the place of all of them for
 * as long as they lie one behind the other. */
void srv_tensor_join(const srv_tensor *tensor, bool flags, size_t before, void **lies);

/* `count` floats to out, unless out is where they lie already; refuses what is not finite. `masks`: −Infinity is
 * fine. */
bool srv_tensor_floats(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                       float *out);
/* `count` bytes of 0 or 1, likewise. */
bool srv_tensor_flags(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, uint8_t *out);

#endif
