/* __metadata__ → members of a request (metadata.h). */
#include "metadata.h"

#include "json_query.h"

#include <string.h>

typedef struct reader {
    json_t *root, *places;
    srv_problem *problem;
} reader;

/* Where a field belongs: the request itself, or its `return`. */
static json_t *place_of(json_t *root, const char *name) {
    if (srv_field_find(srv_fields, name) != NULL) return root;
    if (json_object_get(root, "return") == NULL) json_object_set_new(root, "return", json_object());
    return json_object_get(root, "return");
}

static bool add(void *context, const char *key, const char *text) {
    reader *to = context;
    srv_place above = {NULL, "__metadata__", 0}, place = {&above, key, 0};
    if (strcmp(key, "format") == 0) return true;
    const srv_field *field = srv_field_of_parameter(key);
    if (field == NULL && to->problem->id != SRV_NO_PROBLEM) return true;
    if (field == NULL) {
        srv_field_fail_unknown(srv_fields, key, &above, to->problem);
    } else if (field->kind == SRV_FIELD_BODY) {
        srv_place_fail(&place, to->problem, SRV_WRONG_TYPE, "'%s' in __metadata__; a tensor is expected",
                       key);
    } else if (json_object_set_new(place_of(to->root, key), key, srv_json_option(field->kind, text)) != 0 ||
               json_object_set_new(to->places, key, json_sprintf("/__metadata__/%s", key)) != 0) {
        return srv_problem_set(to->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for the request");
    }
    return true;
}

void srv_metadata_read(const attn_file_header *header, srv_ask *ask, json_t *root, srv_problem *problem) {
    ask->storage->places = json_object();
    reader to = {root, ask->storage->places, problem};
    attn_file_header_each_metadata(header, add, &to);
}
