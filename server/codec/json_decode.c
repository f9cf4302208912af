/* JSON body → ask. The table of fields below drives everything: what is read and in which order, what belongs
 * to the contract but is not served yet, and which name is nearest to an unknown one.
 *
 * The text is read by Jansson; tensors become packed floats and its tree is gone before this returns, except
 * for the labels, which are passed through. Runs on workers. Any text whatever gives an ask or a problem. */
#include "json.h"

#include "json_walk.h"

#include <stdio.h>
#include <string.h>

typedef struct field {
    const char *name;
    srv_json_setter *set;        /* NULL without members: of the contract, not served yet */
    const struct field *members; /* of an object, ended by a NULL name */
} field;

static const field return_fields[] = {
    {"outputs", srv_json_set_outputs, NULL},
    {"attention", srv_json_set_attention, NULL},
    {"scores", srv_json_set_scores, NULL},
    {"projections", srv_json_set_projections, NULL},
    {"heads", srv_json_set_heads, NULL},
    {"queries", srv_json_set_queries, NULL},
    {"precision", srv_json_set_precision, NULL},
    {"average_heads", NULL, NULL},
    {"top_k", NULL, NULL},
    {"stats", NULL, NULL},
    {"encoding", NULL, NULL},
    {"dtype", NULL, NULL},
    {NULL, NULL, NULL},
};

/* In the order in which they are read: tensors before what needs their lengths. */
static const field fields[] = {
    {"model", srv_json_set_model, NULL},
    {"layer", srv_json_set_layer, NULL},
    {"inputs", srv_json_set_inputs, NULL},
    {"context", srv_json_set_context, NULL},
    {"values", srv_json_set_values, NULL},
    {"causal", srv_json_set_causal, NULL},
    {"window", srv_json_set_window, NULL},
    {"key_padding_mask", srv_json_set_padding, NULL},
    {"attention_mask", srv_json_set_mask, NULL},
    {"bias", srv_json_set_bias, NULL},
    {"scale", srv_json_set_scale, NULL},
    {"return", NULL, return_fields},
    {"tokens", srv_json_set_tokens, NULL},
    {"context_tokens", srv_json_set_context_tokens, NULL},
    {"lengths", NULL, NULL},
    {"context_lengths", NULL, NULL},
    {"positions", NULL, NULL},
    {"context_positions", NULL, NULL},
    {"sublayer", NULL, NULL},
    {"retain", NULL, NULL},
    {"timeout_ms", NULL, NULL},
    {"plan", NULL, NULL},
    {NULL, NULL, NULL},
};

/* model and layer: read before anything is refused, so that a 404 can go first. */
enum { NAMING_FIELDS = 2 };

static const field *find_field(const field *table, const char *name) {
    for (; table->name != NULL; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Insertions, deletions and replacements that turn one name into the other (Levenshtein 1965), in one row of
 * the usual matrix. Only the first NAME_LIMIT bytes of a client's name count. */
enum { NAME_LIMIT = 64 };

static size_t edit_distance(const char *known, const char *name) {
    size_t row[NAME_LIMIT + 1], length = strnlen(name, NAME_LIMIT);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; known[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t replaced = diagonal + (known[i - 1] != name[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j - 1], row[j]) + 1);
        }
    }
    return row[length];
}

static const char *nearest_name(const field *table, const char *name) {
    const char *nearest = table->name;
    size_t shortest = SIZE_MAX;
    for (; table->name != NULL; table++) {
        size_t distance = edit_distance(table->name, name);
        if (distance >= shortest) continue;
        shortest = distance;
        nearest = table->name;
    }
    return nearest;
}

static bool fail_unknown(const field *table, const char *name, const srv_place *place, srv_problem *problem) {
    char quote[SRV_QUOTE_SIZE];
    srv_json_quote(name, strlen(name), quote);
    /* A long name would be cut in a pointer: then the object that holds it must do. */
    srv_place inside = {place, name, 0};
    const srv_place *at = strlen(name) <= NAME_LIMIT ? &inside : place;
    if (table == fields && find_field(return_fields, name) != NULL)
        return srv_place_fail(at, problem, SRV_UNKNOWN_FIELD,
                              "unknown field '%s'; the nearest known name is 'return.%s'", quote, name);
    return srv_place_fail(at, problem, SRV_UNKNOWN_FIELD,
                          "unknown field '%s'; the nearest known name is '%s'", quote,
                          nearest_name(table, name));
}

/* Whether every member of the object, and of the objects in it, is in the table. */
static bool check_known(const field *table, json_t *object, const srv_place *place, srv_problem *problem) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        const field *found = find_field(table, name);
        if (found == NULL) return fail_unknown(table, name, place, problem);
        srv_place inside = {place, name, 0};
        if (found->members != NULL && json_is_object(value))
            if (!check_known(found->members, value, &inside, problem)) return false;
    }
    return true;
}

/* Whether every member that is there is served. */
static bool check_served(const field *table, const json_t *object, const srv_place *place,
                         srv_problem *problem) {
    for (; table->name != NULL; table++) {
        const json_t *value = json_object_get(object, table->name);
        if (value == NULL || json_is_null(value)) continue;
        srv_place inside = {place, table->name, 0};
        if (table->members != NULL) {
            if (!check_served(table->members, value, &inside, problem)) return false;
        } else if (table->set == NULL) {
            return srv_place_fail(&inside, problem, SRV_NOT_SUPPORTED, "'%s' is not served by this version",
                                  table->name);
        }
    }
    return true;
}

static bool set_fields(const field *table, size_t count, srv_ask *ask, const json_t *object,
                       const srv_place *place) {
    char found[SRV_FOUND_SIZE];
    for (size_t i = 0; i < count && table[i].name != NULL; i++) {
        json_t *value = json_object_get(object, table[i].name);
        if (value == NULL || json_is_null(value)) continue;
        srv_place inside = {place, table[i].name, 0};
        if (table[i].members == NULL) {
            if (!table[i].set(ask, value, &inside)) return false;
        } else if (!json_is_object(value)) {
            return srv_place_fail(&inside, &ask->problem, SRV_WRONG_TYPE, "found %s; an object is expected",
                                  srv_json_found(value, found));
        } else if (!set_fields(table[i].members, SIZE_MAX, ask, value, &inside)) {
            return false;
        }
    }
    return true;
}

/* The members in the order of the problem table; the first problem is left in the ask. */
static void read_members(srv_ask *ask, json_t *root) {
    srv_problem *problem = &ask->problem;
    if (!set_fields(fields, NAMING_FIELDS, ask, root, NULL)) return;
    if (!check_known(fields, root, NULL, problem)) return;
    const json_t *inputs = json_object_get(root, "inputs");
    if (inputs == NULL || json_is_null(inputs)) {
        srv_place at = {NULL, "inputs", 0};
        srv_place_fail(&at, problem, SRV_MISSING_FIELD,
                       "'inputs' is required: rows of numbers, L×D or N×L×D");
        return;
    }
    if (!check_served(fields, root, NULL, problem)) return;
    set_fields(fields + NAMING_FIELDS, SIZE_MAX, ask, root, NULL);
}

/* Jansson's error as ours: by its code where its text would not help, else its text. */
static bool fail_text(const json_error_t *error, size_t size, srv_problem *problem) {
    char offset[24];
    snprintf(offset, sizeof offset, "%d", error->position < 0 ? 0 : error->position);
    switch (json_error_code(error)) {
    case json_error_unknown:
    case json_error_out_of_memory:
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for the %zu bytes of JSON", size);
    case json_error_stack_overflow:
        return srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset,
                               "nesting is deeper than the format has; tensors have at most rank 4");
    case json_error_numeric_overflow:
        return srv_problem_set(problem, SRV_OUT_OF_RANGE, SRV_WHERE_OFFSET, offset,
                               "number beyond double; float32 holds magnitudes up to 3.4028235e38");
    default:
        return srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset, "not JSON: %s", error->text);
    }
}

static json_t *read_text(const char *body, size_t size, srv_problem *problem) {
    json_error_t error = {0};
    if (size == 0) {
        srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, "0",
                        "the body is empty; a JSON object is expected");
        return NULL;
    }
    /* Integers as doubles: a tensor's may lie beyond 64 bits. */
    json_t *root = json_loadb(
        body, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL,
        &error);
    if (root == NULL) fail_text(&error, size, problem);
    return root;
}

bool srv_json_decode(const char *body, size_t size, srv_ask **out, srv_problem *problem) {
    bool done = false;
    char found[SRV_FOUND_SIZE];
    srv_ask *ask = NULL;
    json_t *root = read_text(body, size, problem);
    if (root == NULL) return false;
    if (!json_is_object(root)) {
        srv_problem_set(problem, SRV_WRONG_TYPE, SRV_WHERE_POINTER, "", "found %s; an object is expected",
                        srv_json_found(root, found));
        goto out;
    }
    ask = srv_ask_new();
    if (ask == NULL) {
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the request");
        goto out;
    }
    read_members(ask, root);
    *out = ask;
    done = true;
out:
    json_decref(root);
    return done;
}
