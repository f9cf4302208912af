/* The table of a request's fields: what drives decoding of the body and of the query, and what the nearest
 * known name to an unknown one is. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_FIELDS_H
#define SRV_CODEC_JSON_FIELDS_H

#include "tensor.h"

/* What a field is as a query parameter. */
typedef enum srv_field_kind {
    SRV_FIELD_BODY,    /* a tensor or an object: in the body only */
    SRV_FIELD_BOOLEAN, /* true, false, 1 or 0 */
    SRV_FIELD_NUMBER,
    SRV_FIELD_TEXT,
    SRV_FIELD_BOOLEAN_OR_TEXT,
    SRV_FIELD_NUMBER_OR_TEXT,
    SRV_FIELD_NUMBERS,          /* a list */
    SRV_FIELD_BOOLEAN_OR_TEXTS, /* … a list */
    SRV_FIELD_TEXTS,            /* a list */
} srv_field_kind;

typedef struct srv_field {
    const char *name;
    srv_json_setter *set;            /* neither this nor the others: of the contract, not served yet */
    const struct srv_field *members; /* of an object, ended by a NULL name */
    srv_field_kind kind;
    srv_tensor_setter *take; /* of a tensor, where `set` is NULL */
} srv_field;

/* In the order in which they are read: what others need stands first; ended by a NULL name. `return`, whose
 * members are parameters by their own names, is the one object. */
extern const srv_field srv_fields[];

/* The first ones are read before anything is refused, so that a 404 can go first. */
enum { SRV_NAMING_FIELDS = 2 };

/* Reads the members of a body into the ask in the order of the table of problems; the first problem is left in the
 * ask, where `earlier`, found in the query or the body's header, goes before those of the members but after a model
 * or layer that cannot be read. */
void srv_json_read_members(srv_ask *ask, json_t *root, const srv_problem *earlier);

/* NULL where there is none of that name. */
const srv_field *srv_field_find(const srv_field *table, const char *name);
/* As a parameter: of either level. */
const srv_field *srv_field_of_parameter(const char *name);

/* Says that a table has no such field, and which was probably meant, or all there are. `more`: parameters of the answer's
 * format, ended by NULL; NULL: none. Return false. */
bool srv_field_fail_unknown(const srv_field *table, const char *name, const srv_place *place,
                            srv_problem *problem);
bool srv_field_fail_parameter(const char *name, const char *const *more, srv_problem *problem);

#endif
