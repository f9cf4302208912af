/* JSON body and query → ask. The table of fields drives everything: what is read and in which order, and what
 * belongs to the contract but is not served yet.
 *
 * The scanner takes the tensors out as the body comes (json_scan.h); the text that is left is read by Jansson at the
 * end, and its tree is gone before that returns, except for the labels, which are passed through, and the query's
 * options, which tell where an error lies. Any text whatever gives an ask or a problem. */
#include "json.h"

#include "decoder.h"

#include "json_fields.h"
#include "json_query.h"
#include "json_tensor.h"
#include "json_text.h"
#include "named_tensors.h"

#include <stdlib.h>
#include <string.h>

typedef struct json_decoder {
    srv_decoder base;
    srv_scan scan;
} json_decoder;

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

static bool take_tensors(const srv_field *field, srv_ask *ask, json_t *value, const srv_place *place) {
    srv_json_tensors from = {value, srv_capture_of(ask->storage->captures, field->name)};
    srv_given given = {0};
    if (!srv_json_tensors_of(&from, &given.tensors)) {
        if (json_is_array(value))
            given.nest = &from.capture->nest;
        else
            given.other = value;
    }
    return field->take(ask, &given, place);
}

static bool set_field(const srv_field *field, srv_ask *ask, json_t *value, const srv_place *place) {
    return field->take == NULL ? field->set(ask, value, place) : take_tensors(field, ask, value, place);
}

static bool set_fields(const srv_field *table, size_t count, srv_ask *ask, const json_t *object,
                       const srv_place *place) {
    char found[SRV_FOUND_SIZE];
    for (size_t i = 0; i < count && table[i].name != NULL; i++) {
        const srv_field *field = table + i;
        srv_place inside = {place, field->name, 0};
        json_t *value = given(ask, object, field);
        srv_given tensors = {0};
        if (srv_named_find(ask->storage->named, field, &tensors.tensors)) {
            if (!field->take(ask, &tensors, &inside)) return false;
        } else if (field->members == NULL) {
            if (value != NULL && !set_field(field, ask, value, &inside)) return false;
        } else if (value != NULL && !json_is_object(value)) {
            return srv_place_fail(&inside, &ask->problem, SRV_WRONG_TYPE, "found %s; an object is expected",
                                  srv_json_found(value, found));
        } else if (!set_fields(field->members, SIZE_MAX, ask, value, &inside)) {
            return false;
        }
    }
    return true;
}

static bool has_inputs(const srv_ask *ask, const json_t *root) {
    const json_t *inputs = json_object_get(root, "inputs");
    srv_tensors tensors;
    if (inputs != NULL && !json_is_null(inputs)) return true;
    return srv_named_find(ask->storage->named, srv_field_find(srv_fields, "inputs"), &tensors);
}

void srv_json_read_members(srv_ask *ask, json_t *root, const srv_problem *query_problem) {
    srv_problem *problem = &ask->problem;
    if (!set_fields(srv_fields, SRV_NAMING_FIELDS, ask, root, NULL)) return;
    if (query_problem->id != SRV_NO_PROBLEM) {
        *problem = *query_problem;
        return;
    }
    if (!check_known(srv_fields, root, NULL, problem) || !check_once(srv_fields, root, ask)) return;
    if (!has_inputs(ask, root)) {
        srv_place at = {NULL, "inputs", 0};
        srv_place_fail(&at, problem, SRV_MISSING_FIELD,
                       "'inputs' is required: rows of numbers, L×D or N×L×D");
        return;
    }
    if (!check_served(srv_fields, root, NULL, ask)) return;
    if (set_fields(srv_fields + SRV_NAMING_FIELDS, SIZE_MAX, ask, root, NULL)) srv_json_check_together(ask);
}

static bool feed(srv_decoder *decoder, const char *piece, size_t size, srv_problem *problem) {
    return srv_scan_feed(&((json_decoder *)decoder)->scan, piece, size, problem);
}

/* The tensors lie where the scanner put them; the ask keeps that. */
static void read_ask(json_decoder *decoder, const srv_source *source, json_t *root, srv_ask *ask) {
    srv_capture *captures = decoder->scan.captures;
    srv_problem query_problem = {0};
    for (size_t i = 0; i < SRV_CAPTURES; i++) {
        srv_json_tensors_narrow(json_object_get(root, srv_captured_fields[i].name), captures + i);
        srv_buffer_fit(&captures[i].nest.elements, &decoder->base.share);
    }
    ask->storage->query = srv_json_query(source, &query_problem);
    ask->storage->captures = captures;
    ask->storage->share = &decoder->base.share;
    srv_json_read_members(ask, root, &query_problem);
    ask->storage->captures = NULL;
    ask->storage->share = NULL;
    for (size_t i = 0; i < SRV_CAPTURES; i++) {
        ask->storage->kept[i] = captures[i].nest.elements;
        captures[i].nest.elements = (srv_buffer){0};
    }
}

static srv_ask *new_ask(const json_t *root, srv_problem *problem) {
    char found[SRV_FOUND_SIZE];
    if (!json_is_object(root)) {
        srv_problem_set(problem, SRV_WRONG_TYPE, SRV_WHERE_POINTER, "", "found %s; an object is expected",
                        srv_json_found(root, found));
        return NULL;
    }
    srv_ask *ask = srv_ask_new();
    if (ask == NULL)
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the request");
    return ask;
}

static bool end(srv_decoder *decoder, const srv_source *source, srv_ask **out, srv_problem *problem) {
    json_decoder *this = (json_decoder *)decoder;
    size_t tree;
    json_t *root = srv_json_read_text(&this->scan, source->job, &tree, problem);
    if (root == NULL) return false;
    srv_ask *ask = new_ask(root, problem);
    if (ask != NULL) {
        read_ask(this, source, root, ask);
        *out = ask;
    }
    json_decref(root);
    /* Labels are what may be left of the tree. */
    if (ask == NULL || (ask->tokens == NULL && ask->context_tokens == NULL))
        srv_share_give(&decoder->share, tree);
    return ask != NULL;
}

static void drop(srv_decoder *decoder) {
    srv_scan_done(&((json_decoder *)decoder)->scan);
}

srv_decoder *srv_json_decoder(size_t max_text) {
    json_decoder *this = malloc(sizeof *this);
    if (this == NULL) return NULL;
    this->base = (srv_decoder){.feed = feed, .end = end, .drop = drop};
    srv_scan_begin(&this->scan, SRV_CONTRACT_ATTENTION, &this->base.share, max_text);
    return &this->base;
}
