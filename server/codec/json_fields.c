/* The table, and names that are not in it (json_fields.h). No state: any thread. */
#include "json_fields.h"

#include "config/cfg.h"

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

/* Of the contract, but no layer takes them yet (srv_ask_bind). */
static bool is_always_refused(const srv_field *field) {
    return field->set == srv_json_set_positions || field->set == srv_json_set_context_positions;
}

/* Tries the names of a table and lists them; `parameters`: only those that can stand in a query. */
static void try_names(const srv_field *table, const char *name, bool parameters, cfg_guess *guess,
                      char list[SRV_NAMES_SIZE]) {
    for (; table->name != NULL; table++) {
        bool is_served = table->set != NULL || table->members != NULL || table->take != NULL;
        if (!is_served || is_always_refused(table) || (parameters && table->kind == SRV_FIELD_BODY)) continue;
        cfg_guess_try(guess, name, strlen(name), table->name, 0);
        srv_json_add_name(list, table->name);
    }
}

static void try_texts(const char *const *names, const char *name, cfg_guess *guess,
                      char list[SRV_NAMES_SIZE]) {
    for (; *names != NULL; names++) {
        cfg_guess_try(guess, name, strlen(name), *names, 0);
        srv_json_add_name(list, *names);
    }
}

static bool is_among(const char *const *names, const char *name) {
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Names under which other services take what stands before the vectors. */
static bool is_of_text(const char *name) {
    static const char *const names[] = {"input_ids", "token_ids", "tokens_ids", "text",
                                        "texts",     "prompt",    NULL};
    return is_among(names, name);
}

/* Names that `inputs` has elsewhere. */
static bool is_of_vectors(const char *name) {
    static const char *const names[] = {"embeddings", "hidden_states", "inputs_embeds", "x", NULL};
    return is_among(names, name);
}

bool srv_field_fail_unknown(const srv_field *table, const char *name, const srv_place *place,
                            srv_problem *problem) {
    char quote[SRV_QUOTE_SIZE], list[SRV_NAMES_SIZE] = "";
    cfg_guess guess = {0};
    srv_json_quote(name, strlen(name), quote);
    /* A long name would be cut in a pointer: then the object that holds it must do. */
    srv_place inside = {place, name, 0};
    const srv_place *at = strlen(name) <= POINTED_NAME ? &inside : place;
    bool is_of_return = table == srv_fields && srv_field_find(return_fields, name) != NULL;
    if (table == srv_fields && is_of_text(name))
        return srv_place_fail(
            at, problem, SRV_UNKNOWN_FIELD,
            "unknown field '%s'; attention takes vectors (embeddings), not token ids or text: send "
            "them as 'inputs'",
            quote);
    try_names(is_of_return ? return_fields : table, name, false, &guess, list);
    if (table == srv_fields && is_of_vectors(name)) guess.name = "inputs";
    if (guess.name == NULL)
        return srv_place_fail(at, problem, SRV_UNKNOWN_FIELD, "unknown field '%s'; known are %s", quote,
                              list);
    return srv_place_fail(at, problem, SRV_UNKNOWN_FIELD,
                          "unknown field '%s'; the nearest known name is '%s%s'", quote,
                          is_of_return ? "return." : "", guess.name);
}

bool srv_field_fail_parameter(const char *name, const char *const *more, srv_problem *problem) {
    char quote[SRV_QUOTE_SIZE], list[SRV_NAMES_SIZE] = "";
    const char *inner = strncmp(name, "return.", strlen("return.")) == 0 ? name + strlen("return.") : name;
    cfg_guess guess = {0};
    srv_json_quote(name, strlen(name), quote);
    try_names(srv_fields, inner, true, &guess, list);
    try_names(return_fields, inner, true, &guess, list);
    try_texts((const char *const[]){"compress", NULL}, inner, &guess, list);
    if (more != NULL) try_texts(more, inner, &guess, list);
    return srv_problem_set(problem, SRV_UNKNOWN_FIELD, SRV_WHERE_PARAMETER, name,
                           guess.name != NULL ? "unknown parameter '%s'; the nearest known name is '%s'"
                                              : "unknown parameter '%s'; known are %s",
                           quote, guess.name != NULL ? guess.name : list);
}
