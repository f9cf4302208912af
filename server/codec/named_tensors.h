/* The tensors of a binary body, by the names of the fields that they are for: `inputs`, or `inputs.0`, `inputs.1` …
 * for a list. Internal to server/codec. */
#ifndef SRV_CODEC_NAMED_TENSORS_H
#define SRV_CODEC_NAMED_TENSORS_H

#include "json_fields.h"

/* Those for one field. */
typedef struct srv_named_field {
    const srv_field *field;
    size_t begin, count; /* in the list */
    bool is_list;
} srv_named_field;

enum { SRV_NAMED_FIELDS = 16 };

typedef struct srv_named {
    const attn_file_tensor *tensors; /* the body's header has checked them */
    size_t count;
    const char *data; /* what their offsets count from; NULL: each lies at its own place, of … */
    const char *const *places;
    srv_named_field fields[SRV_NAMED_FIELDS];
    size_t field_count;
    const attn_file_tensor **list; /* sorted by field and index */
} srv_named;

/* Finds the field of each tensor, once tensors, count and data are set. Whole numbers that JSON has as lists
 * (lengths, positions) become members of `root`. The first tensor that is for no field is a problem; with one, or one
 * found before, no tensor is found. To be freed in any case. */
void srv_named_sort(srv_named *named, json_t *root, srv_problem *problem);
void srv_named_done(srv_named *named);

/* The tensors for a field; false where there are none, or `named` is NULL. */
bool srv_named_find(const srv_named *named, const srv_field *field, srv_tensors *out);

/* Bytes that reading them may take beside the body: what cannot stay where it lies. */
size_t srv_named_cost(const attn_file_tensor *tensors, size_t count, const char *data);

#endif
