/* Query → JSON values (json_query.h), by the kinds in the table of fields. */
#include "json_query.h"

#include "json_fields.h"
#include "query.h"

#include <string.h>

/* JSON's own grammar of numbers: "0x10" and "inf" stay text. */
static json_t *number_of(const char *text) {
    json_t *number = json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    if (json_is_number(number)) return number;
    json_decref(number);
    return json_string(text);
}

static json_t *boolean_of(const char *text) {
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0) return json_true();
    if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0) return json_false();
    return json_string(text);
}

static json_t *list_of(const srv_parameter *parameter, json_t *(*item_of)(const char *text)) {
    json_t *list = json_array();
    bool empty = parameter->count == 1 && parameter->values[0][0] == '\0';
    for (size_t i = 0; i < parameter->count && !empty; i++)
        if (json_array_append_new(list, item_of(parameter->values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* One boolean word, or a list of others. */
static json_t *switch_or_list_of(const srv_parameter *parameter) {
    json_t *value = boolean_of(parameter->values[0]);
    if (parameter->count == 1 && json_is_boolean(value)) return value;
    json_decref(value);
    return list_of(parameter, json_string);
}

static json_t *value_of(const srv_parameter *parameter, srv_field_kind kind) {
    const char *text = parameter->values[0];
    switch (kind) {
    case SRV_FIELD_NUMBERS: return list_of(parameter, number_of);
    case SRV_FIELD_TEXTS: return list_of(parameter, json_string);
    case SRV_FIELD_BOOLEAN_OR_TEXTS: return switch_or_list_of(parameter);
    case SRV_FIELD_BOOLEAN:
    case SRV_FIELD_BOOLEAN_OR_TEXT: return boolean_of(text);
    case SRV_FIELD_NUMBER:
    case SRV_FIELD_NUMBER_OR_TEXT: return number_of(text);
    case SRV_FIELD_TEXT:
    case SRV_FIELD_BODY: break;
    }
    return json_string(text);
}

/* Whether an option that is no field of a request belongs to the answer's format. */
static bool check_format(const char *name, const srv_codec *gives, srv_problem *problem) {
    if (gives != NULL && srv_codec_has_parameter(gives, name)) return true;
    char others[128];
    srv_codecs_with_parameter(&srv_codecs_attention, name, others, sizeof others);
    if (others[0] == '\0')
        return srv_field_fail_parameter(name, gives != NULL ? gives->parameters : NULL, problem);
    return srv_problem_set(problem, SRV_BAD_PARAMETER, SRV_WHERE_PARAMETER, name,
                           "'%s' has no effect on this answer, %s: send Accept: %s", name,
                           gives == NULL ? "which is of another form" : gives->type, others);
}

/* Whether a large answer is compressed is no field of a request: the text is the same. */
static bool add_compress(json_t *options, const srv_parameter *parameter, srv_problem *problem) {
    json_t *value = parameter->count == 1 ? boolean_of(parameter->values[0]) : NULL;
    if (!json_is_boolean(value)) {
        json_decref(value);
        return srv_problem_set(problem, SRV_WRONG_TYPE, SRV_WHERE_PARAMETER, parameter->name,
                               "'compress' is true, false, 1 or 0");
    }
    if (json_object_set_new(options, parameter->name, value) == 0) return true;
    return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the query");
}

static bool add(json_t *options, const srv_parameter *parameter, const srv_codec *gives,
                srv_problem *problem) {
    const char *name = parameter->name;
    if (strcmp(name, "compress") == 0) return add_compress(options, parameter, problem);
    const srv_field *field = srv_field_of_parameter(name);
    if (field == NULL && !check_format(name, gives, problem)) return false;
    srv_field_kind kind = field == NULL ? SRV_FIELD_TEXT : field->kind;
    if (kind == SRV_FIELD_BODY)
        return srv_problem_set(problem, SRV_BAD_PARAMETER, SRV_WHERE_PARAMETER, name,
                               "'%s' in the query; it is expected in the body", name);
    bool is_list = kind == SRV_FIELD_NUMBERS || kind == SRV_FIELD_TEXTS || kind == SRV_FIELD_BOOLEAN_OR_TEXTS;
    if (parameter->count > 1 && !is_list)
        return srv_problem_set(problem, SRV_BAD_PARAMETER, SRV_WHERE_PARAMETER, name,
                               "found %zu values; '%s' takes one, and commas split lists", parameter->count,
                               name);
    if (json_object_set_new(options, name, value_of(parameter, kind)) == 0) return true;
    return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the query");
}

/* Lists as they are split in a query. */
static json_t *split_list(const char *text, json_t *(*item_of)(const char *text)) {
    char *copy = strdup(text), *rest = copy;
    json_t *list = copy == NULL ? NULL : json_array();
    while (list != NULL && rest != NULL && *text != '\0') {
        char *item = rest;
        rest = strchr(item, ',');
        if (rest != NULL) *rest++ = '\0';
        if (json_array_append_new(list, item_of(item)) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    free(copy);
    return list;
}

json_t *srv_json_option(srv_field_kind kind, const char *text) {
    if (kind != SRV_FIELD_NUMBERS && kind != SRV_FIELD_TEXTS)
        return value_of(&(srv_parameter){.values = &text, .count = 1}, kind);
    json_t *list = json_loads(text, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
    if (json_is_array(list)) return list;
    json_decref(list);
    return split_list(text, kind == SRV_FIELD_NUMBERS ? number_of : json_string);
}

json_t *srv_json_query(const srv_source *source, srv_problem *problem) {
    srv_query split;
    json_t *options = json_object();
    srv_query_split(source->query, source->query_size, &split, problem);
    for (size_t i = 0; i < split.count && options != NULL; i++)
        add(options, split.parameters + i, source->gives, problem);
    srv_query_done(&split);
    if (options == NULL)
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the query");
    return options;
}
