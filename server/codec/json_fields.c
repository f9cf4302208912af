/* The table, and names that are not in it (json_fields.h). No state: any thread. */
#include "json_fields.h"

#include "config/cfg.h"

#include <stdint.h>
#include <string.h>

static const srv_field return_fields[] = {
    {"outputs", srv_json_set_outputs, NULL, SRV_FIELD_BOOLEAN, NULL},
    {"attention", srv_json_set_attention, NULL, SRV_FIELD_BOOLEAN, NULL},
    {"scores", srv_json_set_scores, NULL, SRV_FIELD_BOOLEAN, NULL},
    {"projections", srv_json_set_projections, NULL, SRV_FIELD_BOOLEAN, NULL},
    {"heads", srv_json_set_heads, NULL, SRV_FIELD_NUMBERS, NULL},
    {"queries", srv_json_set_queries, NULL, SRV_FIELD_NUMBERS, NULL},
    {"average_heads", srv_json_set_average_heads, NULL, SRV_FIELD_BOOLEAN, NULL},
    {"top_k", srv_json_set_top_k, NULL, SRV_FIELD_NUMBER, NULL},
    {"stats", srv_json_set_stats, NULL, SRV_FIELD_BOOLEAN_OR_TEXTS, NULL},
    {"precision", srv_json_set_precision, NULL, SRV_FIELD_NUMBER, NULL},
    {"encoding", srv_json_set_encoding, NULL, SRV_FIELD_TEXT, NULL},
    {"dtype", srv_json_set_dtype, NULL, SRV_FIELD_TEXT, NULL},
    {NULL, NULL, NULL, SRV_FIELD_BODY, NULL},
};

/* Lengths before the tensors that they cut, tensors before what needs the sequences' lengths. */
const srv_field srv_fields[] = {
    {"model", srv_json_set_model, NULL, SRV_FIELD_TEXT, NULL},
    {"layer", srv_json_set_layer, NULL, SRV_FIELD_NUMBER_OR_TEXT, NULL},
    {"lengths", srv_json_set_lengths, NULL, SRV_FIELD_NUMBERS, NULL},
    {"context_lengths", srv_json_set_context_lengths, NULL, SRV_FIELD_NUMBERS, NULL},
    {"inputs", NULL, NULL, SRV_FIELD_BODY, srv_set_inputs},
    {"context", NULL, NULL, SRV_FIELD_BODY, srv_set_context},
    {"values", NULL, NULL, SRV_FIELD_BODY, srv_set_values},
    {"causal", srv_json_set_causal, NULL, SRV_FIELD_BOOLEAN_OR_TEXT, NULL},
    {"window", srv_json_set_window, NULL, SRV_FIELD_NUMBER, NULL},
    {"key_padding_mask", NULL, NULL, SRV_FIELD_BODY, srv_set_padding},
    {"attention_mask", NULL, NULL, SRV_FIELD_BODY, srv_set_mask},
    {"bias", NULL, NULL, SRV_FIELD_BODY, srv_set_bias},
    {"positions", srv_json_set_positions, NULL, SRV_FIELD_BODY, NULL},
    {"context_positions", srv_json_set_context_positions, NULL, SRV_FIELD_BODY, NULL},
    {"scale", srv_json_set_scale, NULL, SRV_FIELD_NUMBER, NULL},
    {"return", NULL, return_fields, SRV_FIELD_BODY, NULL},
    {"tokens", srv_json_set_tokens, NULL, SRV_FIELD_TEXTS, NULL},
    {"context_tokens", srv_json_set_context_tokens, NULL, SRV_FIELD_TEXTS, NULL},
    {"sublayer", NULL, NULL, SRV_FIELD_TEXT, NULL},
    {"retain", NULL, NULL, SRV_FIELD_BOOLEAN, NULL},
    {"timeout_ms", srv_json_set_timeout, NULL, SRV_FIELD_NUMBER, NULL},
    {"plan", srv_json_set_plan, NULL, SRV_FIELD_BOOLEAN, NULL},
    {NULL, NULL, NULL, SRV_FIELD_BODY, NULL},
};

const srv_field *srv_field_find(const srv_field *table, const char *name) {
    for (; table->name != NULL; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

const srv_field *srv_field_of_parameter(const char *name) {
    const srv_field *found = srv_field_find(srv_fields, name);
    return found != NULL ? found : srv_field_find(return_fields, name);
}

/* The longest unknown name that a pointer shows whole. */
enum { POINTED_NAME = 64 };

/* `parameters`: only those that can stand in a query. Keeps *shortest, so that a second table can join in. */
static const char *nearer_name(const srv_field *table, const char *name, bool parameters, const char *nearest,
                               size_t *shortest) {
    for (; table->name != NULL; table++) {
        if (parameters && table->kind == SRV_FIELD_BODY) continue;
        size_t distance = cfg_edits(table->name, strlen(table->name), name, strlen(name));
        if (distance >= *shortest) continue;
        *shortest = distance;
        nearest = table->name;
    }
    return nearest;
}

bool srv_field_fail_unknown(const srv_field *table, const char *name, const srv_place *place,
                            srv_problem *problem) {
    char quote[SRV_QUOTE_SIZE];
    size_t shortest = SIZE_MAX;
    srv_json_quote(name, strlen(name), quote);
    /* A long name would be cut in a pointer: then the object that holds it must do. */
    srv_place inside = {place, name, 0};
    const srv_place *at = strlen(name) <= POINTED_NAME ? &inside : place;
    const char *above = table == srv_fields && srv_field_find(return_fields, name) != NULL ? "return." : "";
    const char *nearest = *above != '\0' ? name : nearer_name(table, name, false, "", &shortest);
    return srv_place_fail(at, problem, SRV_UNKNOWN_FIELD,
                          "unknown field '%s'; the nearest known name is '%s%s'", quote, above, nearest);
}

bool srv_field_fail_parameter(const char *name, srv_problem *problem) {
    char quote[SRV_QUOTE_SIZE];
    size_t shortest = SIZE_MAX;
    srv_json_quote(name, strlen(name), quote);
    const char *nearest = nearer_name(srv_fields, name, true, "", &shortest);
    nearest = nearer_name(return_fields, name, true, nearest, &shortest);
    return srv_problem_set(problem, SRV_UNKNOWN_FIELD, SRV_WHERE_PARAMETER, name,
                           "unknown parameter '%s'; the nearest known name is '%s'", quote, nearest);
}
