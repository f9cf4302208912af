/* The oracle (oracle.h): a body is one tree of Jansson's, from which everything is read. */
#include "oracle.h"

#include "oracle_parts.h"
#include "server/codec/json_fields.h"
#include "server/codec/json_query.h"
#include "server/codec/json_text.h"

#include <stdio.h>
#include <string.h>

/* What the client gave for one field, from the body or the query; NULL: nothing, or null. */
static json_t *given(const srv_ask *ask, const json_t *object, const srv_field *field) {
    json_t *value = json_object_get(object, field->name);
    if (value == NULL || json_is_null(value)) value = json_object_get(ask->storage->query, field->name);
    return value == NULL || json_is_null(value) ? NULL : value;
}

/* Whether every member of the object, and of the objects in it, is in the table. */
static bool check_known(const srv_field *table, json_t *object, const srv_place *place,
                        srv_problem *problem) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        const srv_field *found = srv_field_find(table, name);
        if (found == NULL) return srv_field_fail_unknown(table, name, place, problem);
        srv_place inside = {place, name, 0};
        if (found->members != NULL && json_is_object(value))
            if (!check_known(found->members, value, &inside, problem)) return false;
    }
    return true;
}

/* Whether no option stands in the body and in the query. */
static bool check_once(const srv_field *table, const json_t *object, srv_ask *ask) {
    for (; table->name != NULL; table++) {
        const json_t *value = json_object_get(object, table->name);
        if (value == NULL || json_is_null(value)) continue;
        if (table->members != NULL) {
            if (!check_once(table->members, value, ask)) return false;
        } else if (json_object_get(ask->storage->query, table->name) != NULL) {
            return srv_problem_set(&ask->problem, SRV_CONFLICT, SRV_WHERE_PARAMETER, table->name,
                                   "'%s' in the body and in the query; one of the two is expected",
                                   table->name);
        }
    }
    return true;
}

/* Whether everything that is given is served. */
static bool check_served(const srv_field *table, const json_t *object, const srv_place *place, srv_ask *ask) {
    for (; table->name != NULL; table++) {
        srv_place inside = {place, table->name, 0};
        if (table->members != NULL) {
            const json_t *members = json_object_get(object, table->name);
            if (!check_served(table->members, members, &inside, ask)) return false;
        } else if (table->set == NULL && table->take == NULL && given(ask, object, table) != NULL) {
            return srv_place_fail(&inside, &ask->problem, SRV_NOT_SUPPORTED,
                                  "'%s' is not served by this version", table->name);
        }
    }
    return true;
}

/* The setters of tensors that read Jansson's values. */
static srv_json_setter *setter_of(const srv_field *field) {
    static const struct {
        const char *name;
        srv_json_setter *set;
    } setters[] = {{"inputs", oracle_set_inputs},       {"context", oracle_set_context},
                   {"values", oracle_set_values},       {"key_padding_mask", oracle_set_padding},
                   {"attention_mask", oracle_set_mask}, {"bias", oracle_set_bias}};
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++)
        if (strcmp(setters[i].name, field->name) == 0) return setters[i].set;
    return field->set;
}

static bool set_fields(const srv_field *table, size_t count, srv_ask *ask, const json_t *object,
                       const srv_place *place) {
    char found[SRV_FOUND_SIZE];
    for (size_t i = 0; i < count && table[i].name != NULL; i++) {
        const srv_field *field = table + i;
        srv_place inside = {place, field->name, 0};
        json_t *value = given(ask, object, field);
        if (field->members == NULL) {
            if (value != NULL && !setter_of(field)(ask, value, &inside)) return false;
        } else if (value != NULL && !json_is_object(value)) {
            return srv_place_fail(&inside, &ask->problem, SRV_WRONG_TYPE, "found %s; an object is expected",
                                  srv_json_found(value, found));
        } else if (!set_fields(field->members, SIZE_MAX, ask, value, &inside)) {
            return false;
        }
    }
    return true;
}

static void read_members(srv_ask *ask, json_t *root, const srv_problem *query_problem) {
    srv_problem *problem = &ask->problem;
    if (!set_fields(srv_fields, SRV_NAMING_FIELDS, ask, root, NULL)) return;
    if (query_problem->id != SRV_NO_PROBLEM) {
        *problem = *query_problem;
        return;
    }
    if (!check_known(srv_fields, root, NULL, problem) || !check_once(srv_fields, root, ask)) return;
    const json_t *inputs = json_object_get(root, "inputs");
    if (inputs == NULL || json_is_null(inputs)) {
        srv_place at = {NULL, "inputs", 0};
        srv_place_fail(&at, problem, SRV_MISSING_FIELD,
                       "'inputs' is required: rows of numbers, L×D or N×L×D");
        return;
    }
    if (!check_served(srv_fields, root, NULL, ask)) return;
    if (set_fields(srv_fields + SRV_NAMING_FIELDS, SIZE_MAX, ask, root, NULL)) srv_json_check_together(ask);
}

/* Jansson's error as ours: by its code where its text would not help, else its text. */
static bool fail_text(const json_error_t *error, const char *body, size_t size, srv_problem *problem) {
    char offset[24];
    size_t position = error->position < 0 ? 0 : (size_t)error->position;
    snprintf(offset, sizeof offset, "%zu", position);
    switch (json_error_code(error)) {
    case json_error_stack_overflow:
        return srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset,
                               "nesting is deeper than the format has; tensors have at most rank 4");
    case json_error_numeric_overflow:
        return srv_problem_set(problem, SRV_OUT_OF_RANGE, SRV_WHERE_OFFSET, offset,
                               "number beyond double; float32 holds magnitudes up to 3.4028235e38");
    default:
        return srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset, "not JSON: %s%s", error->text,
                               srv_json_advice(error->text, position < size ? body[position] : 0));
    }
}

static json_t *read_text(const char *body, size_t size, srv_problem *problem) {
    json_error_t error = {0};
    if (size == 0) {
        srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, "0",
                        "the body is empty; a JSON object is expected");
        return NULL;
    }
    json_t *root = json_loadb(
        body, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL,
        &error);
    if (root == NULL) fail_text(&error, body, size, problem);
    return root;
}

bool oracle_decode(const char *body, size_t size, const char *query, srv_ask **out, srv_problem *problem) {
    char found[SRV_FOUND_SIZE];
    srv_problem query_problem = {0};
    const srv_source source = {.query = query, .query_size = query == NULL ? 0 : strlen(query)};
    json_t *root = read_text(body, size, problem);
    if (root == NULL) return false;
    bool is_object = json_is_object(root);
    if (is_object) {
        srv_ask *ask = srv_ask_new();
        ask->storage->query = srv_json_query(&source, &query_problem);
        read_members(ask, root, &query_problem);
        *out = ask;
    } else {
        srv_problem_set(problem, SRV_WRONG_TYPE, SRV_WHERE_POINTER, "", "found %s; an object is expected",
                        srv_json_found(root, found));
    }
    json_decref(root);
    return is_object;
}
