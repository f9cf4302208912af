/* Query parameters as the JSON values that the same options have in a body. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_QUERY_H
#define SRV_CODEC_JSON_QUERY_H

#include "codec.h"
#include "json_fields.h"

/* One flat object of all parameters, those of `return` by their own names, and those of the answer's format as
 * strings. What a kind of field cannot read becomes a string, for the field's setter to refuse. The first parameter
 * that is wrong is told and left out; NULL only without memory, with a problem. */
json_t *srv_json_query(const srv_source *source, srv_problem *problem);

/* The value of one option from its text, as __metadata__ has it: as in a query, and lists also as JSON. NULL without
 * memory. */
json_t *srv_json_option(srv_field_kind kind, const char *text);

#endif
