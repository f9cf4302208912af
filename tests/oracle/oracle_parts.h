/* What the oracle's files share. */
#ifndef TESTS_ORACLE_ORACLE_PARTS_H
#define TESTS_ORACLE_ORACLE_PARTS_H

#include "server/codec/json_walk.h"

#include "engine/engine.h"

#include <stdint.h>

srv_json_setter oracle_set_inputs, oracle_set_context, oracle_set_values;
srv_json_setter oracle_set_padding, oracle_set_mask, oracle_set_bias;

/* How deep lists are nested along the first elements: 1 … limit + 1, deeper ones are not told apart. Refuses
 * what is no list and empty lists. `what` says what would be accepted. */
bool oracle_rank(const json_t *value, const srv_place *place, srv_problem *problem, size_t limit,
                 const char *what, size_t *rank);
/* How many elements the lists hold `depth` levels down; what is no list counts as empty. */
size_t oracle_count(const json_t *value, size_t depth);

typedef struct oracle_tensor {
    attn_dtype dtype;
    size_t rank; /* 1 … ATTN_MAX_RANK */
    size_t shape[ATTN_MAX_RANK];
    size_t count;     /* the product; every axis is at least 1 */
    const char *data; /* base64; the JSON value's */
    size_t data_size;
} oracle_tensor;

/* Whether a value is written as one object, or as a list of objects. */
bool oracle_is_tensor(const json_t *value);
bool oracle_is_tensor_list(const json_t *value);
/* Reads everything but the data, whose length must be the shape's. */
bool oracle_read_tensor(json_t *value, const srv_place *place, srv_problem *problem, bool flags,
                        oracle_tensor *out);
/* Decodes the data into `count` floats, refusing what is not finite; `masks`: −Infinity is fine. */
bool oracle_floats(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                   float *out);
/* Decodes the data into `count` bytes of 0 or 1. */
bool oracle_flags(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem, uint8_t *out);

enum { ORACLE_BASE64_CHARACTERS = 4096, ORACLE_BASE64_BYTES = 3072 };
/* How many bytes `size` characters hold, from their number and the padding at the end alone; false where no
 * text has that length. */
bool oracle_base64_size(const char *text, size_t size, size_t *out);
/* Decodes a whole text, or a piece of one that does not end it (`last` false). Returns how many characters are
 * sound. */
size_t oracle_base64_decode(const char *text, size_t size, bool last, unsigned char *out);

#endif
