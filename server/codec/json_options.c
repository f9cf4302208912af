/* The decoder's setters of names, switches, numbers and selections. */
#include "json_walk.h"

#include "config/cfg.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail_type(srv_ask *ask, const json_t *value, const srv_place *place, const char *expected) {
    char found[SRV_FOUND_SIZE];
    return srv_place_fail(place, &ask->problem, SRV_WRONG_TYPE, "found %s; %s is expected",
                          srv_json_found(value, found), expected);
}

static bool fail_memory(srv_ask *ask) {
    return srv_problem_set(&ask->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                           "no memory for the request");
}

/* A name as a C string. One that holds a NUL cannot be the name of anything: `missing` is the
 * problem then. */
static bool read_name(srv_ask *ask, const json_t *value, const srv_place *place, srv_problem_id missing,
                      char **out) {
    if (memchr(json_string_value(value), '\0', json_string_length(value)) != NULL)
        return srv_place_fail(place, &ask->problem, missing, "no name holds a NUL character");
    *out = strdup(json_string_value(value));
    return *out != NULL || fail_memory(ask);
}

bool srv_json_set_model(srv_ask *ask, json_t *value, const srv_place *place) {
    if (!json_is_string(value)) return fail_type(ask, value, place, "a model's name");
    return read_name(ask, value, place, SRV_MODEL_NOT_FOUND, &ask->model);
}

bool srv_json_set_layer(srv_ask *ask, json_t *value, const srv_place *place) {
    if (json_is_string(value)) return read_name(ask, value, place, SRV_LAYER_NOT_FOUND, &ask->layer_name);
    if (!json_is_number(value)) return fail_type(ask, value, place, "a layer's index or name");
    char found[SRV_FOUND_SIZE];
    double number = json_number_value(value);
    if (number < 0 || number >= 0x1p53)
        return srv_place_fail(place, &ask->problem, SRV_LAYER_NOT_FOUND, "found %s; layers count from 0",
                              srv_json_found(value, found));
    return srv_json_whole(value, place, &ask->problem, 0, SIZE_MAX, &ask->layer_index);
}

bool srv_json_set_causal(srv_ask *ask, json_t *value, const srv_place *place) {
    static const char expected[] = "true, false, \"top_left\" or \"bottom_right\"";
    if (json_is_boolean(value)) {
        ask->request.causal = json_is_true(value) ? ATTN_CAUSAL_SQUARE : ATTN_CAUSAL_OFF;
        return true;
    }
    if (!json_is_string(value)) return fail_type(ask, value, place, expected);
    const char *text = json_string_value(value);
    size_t size = json_string_length(value);
    if (size == strlen("top_left") && strcmp(text, "top_left") == 0) {
        ask->request.causal = ATTN_CAUSAL_TOP_LEFT;
    } else if (size == strlen("bottom_right") && strcmp(text, "bottom_right") == 0) {
        ask->request.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    } else {
        char quote[SRV_QUOTE_SIZE];
        return srv_place_fail(place, &ask->problem, SRV_OUT_OF_RANGE, "found \"%s\"; %s is expected",
                              srv_json_quote(text, size, quote), expected);
    }
    return true;
}

bool srv_json_set_window(srv_ask *ask, json_t *value, const srv_place *place) {
    if (!srv_json_whole(value, place, &ask->problem, 0, SIZE_MAX, &ask->request.window)) return false;
    ask->request.window_given = true;
    return true;
}

bool srv_json_set_scale(srv_ask *ask, json_t *value, const srv_place *place) {
    if (!srv_json_float(value, place, &ask->problem, &ask->request.scale)) return false;
    ask->request.scale_given = true;
    return true;
}

static bool set_want(srv_ask *ask, const json_t *value, const srv_place *place, unsigned bit) {
    if (!json_is_boolean(value)) return fail_type(ask, value, place, "true or false");
    ask->request.want = json_is_true(value) ? ask->request.want | bit : ask->request.want & ~bit;
    return true;
}

bool srv_json_set_outputs(srv_ask *ask, json_t *value, const srv_place *place) {
    return set_want(ask, value, place, ATTN_WANT_OUTPUTS);
}

bool srv_json_set_attention(srv_ask *ask, json_t *value, const srv_place *place) {
    return set_want(ask, value, place, ATTN_WANT_MAPS);
}

bool srv_json_set_scores(srv_ask *ask, json_t *value, const srv_place *place) {
    return set_want(ask, value, place, ATTN_WANT_SCORES);
}

bool srv_json_set_projections(srv_ask *ask, json_t *value, const srv_place *place) {
    return set_want(ask, value, place, ATTN_WANT_PROJECTIONS);
}

/* One index of a list. Text is told as such where it comes from a query, in which all is text. */
static bool read_index(srv_ask *ask, const json_t *value, const srv_place *place, bool is_of_query,
                       size_t *out) {
    char quote[SRV_QUOTE_SIZE];
    if (!is_of_query || !json_is_string(value))
        return srv_json_whole(value, place, &ask->problem, 0, SIZE_MAX, out);
    return srv_place_fail(place, &ask->problem, SRV_WRONG_TYPE,
                          "found '%s'; indices separated by commas are accepted",
                          srv_json_quote(json_string_value(value), json_string_length(value), quote));
}

/* A list of indices; whether they exist and whether one is repeated is for the plan to say. */
static bool read_selection(srv_ask *ask, const json_t *value, const srv_place *place, size_t **list,
                           const size_t **out, size_t *out_count) {
    size_t count = json_array_size(value);
    if (!json_is_array(value)) return fail_type(ask, value, place, "a list of indices");
    if (count == 0)
        return srv_place_fail(place, &ask->problem, SRV_OUT_OF_RANGE,
                              "found an empty list; at least one index is expected, or null for all");
    *list = calloc(count, sizeof **list);
    if (*list == NULL) return fail_memory(ask);
    bool is_of_query = value == json_object_get(ask->storage->query, place->name);
    for (size_t i = 0; i < count; i++) {
        srv_place element = {place, NULL, i};
        if (!read_index(ask, json_array_get(value, i), &element, is_of_query, *list + i)) return false;
    }
    *out = *list;
    *out_count = count;
    return true;
}

bool srv_json_set_heads(srv_ask *ask, json_t *value, const srv_place *place) {
    attn_request *request = &ask->request;
    return read_selection(ask, value, place, &ask->storage->heads, &request->heads, &request->head_count);
}

bool srv_json_set_queries(srv_ask *ask, json_t *value, const srv_place *place) {
    attn_request *request = &ask->request;
    return read_selection(ask, value, place, &ask->storage->queries, &request->queries,
                          &request->query_count);
}

bool srv_json_set_average_heads(srv_ask *ask, json_t *value, const srv_place *place) {
    if (!json_is_boolean(value)) return fail_type(ask, value, place, "true or false");
    ask->request.average_heads = json_is_true(value);
    return true;
}

bool srv_json_set_top_k(srv_ask *ask, json_t *value, const srv_place *place) {
    return srv_json_whole(value, place, &ask->problem, 1, SIZE_MAX, &ask->request.top_k);
}

bool srv_json_set_precision(srv_ask *ask, json_t *value, const srv_place *place) {
    size_t digits = 0;
    if (!srv_json_whole(value, place, &ask->problem, 1, 9, &digits)) return false;
    ask->precision = (int)digits;
    return true;
}

/* One of two words; *out: whether it is the second. */
static bool read_word(srv_ask *ask, const json_t *value, const srv_place *place, const char *const words[2],
                      bool *out) {
    char expected[32], quote[SRV_QUOTE_SIZE];
    snprintf(expected, sizeof expected, "\"%s\" or \"%s\"", words[0], words[1]);
    if (!json_is_string(value)) return fail_type(ask, value, place, expected);
    const char *text = json_string_value(value);
    size_t size = json_string_length(value);
    for (size_t i = 0; i < 2; i++) {
        if (size != strlen(words[i]) || memcmp(text, words[i], size) != 0) continue;
        *out = i == 1;
        return true;
    }
    return srv_place_fail(place, &ask->problem, SRV_OUT_OF_RANGE, "found \"%s\"; %s is expected",
                          srv_json_quote(text, size, quote), expected);
}

bool srv_json_set_encoding(srv_ask *ask, json_t *value, const srv_place *place) {
    return read_word(ask, value, place, (const char *const[]){"json", "base64"}, &ask->base64);
}

bool srv_json_set_dtype(srv_ask *ask, json_t *value, const srv_place *place) {
    return read_word(ask, value, place, (const char *const[]){"f32", "f16"}, &ask->half);
}

/* SIZE_MAX where there is no statistic of that name. */
static size_t find_statistic(const char *name, size_t size) {
    for (size_t i = 0; i < ATTN_STATISTICS_ALL; i++)
        if (strlen(attn_statistic_names[i]) == size && memcmp(attn_statistic_names[i], name, size) == 0)
            return i;
    return SIZE_MAX;
}

/* Which was probably meant, or all there are. */
static bool fail_statistic(srv_ask *ask, const char *name, size_t size, const srv_place *place) {
    char quote[SRV_QUOTE_SIZE], all[SRV_NAMES_SIZE] = "";
    cfg_guess guess = {0};
    for (size_t i = 0; i < ATTN_STATISTICS_ALL; i++) {
        cfg_guess_try(&guess, name, size, attn_statistic_names[i], 0);
        srv_json_add_name(all, attn_statistic_names[i]);
    }
    return srv_place_fail(place, &ask->problem, SRV_OUT_OF_RANGE,
                          guess.name ? "no statistic '%s'; the nearest known name is '%s'"
                                     : "no statistic '%s'; known are %s",
                          srv_json_quote(name, size, quote), guess.name ? guess.name : all);
}

static bool add_statistic(srv_ask *ask, const json_t *value, const srv_place *place) {
    if (!json_is_string(value)) return fail_type(ask, value, place, "the name of a statistic");
    const char *name = json_string_value(value);
    size_t size = json_string_length(value), found = find_statistic(name, size);
    if (found == SIZE_MAX) return fail_statistic(ask, name, size, place);
    ask->request.statistics |= ATTN_STATISTIC(found);
    return true;
}

bool srv_json_set_stats(srv_ask *ask, json_t *value, const srv_place *place) {
    if (json_is_true(value)) ask->request.statistics = ATTN_STATISTIC(ATTN_STATISTICS_ALL) - 1;
    if (!json_is_boolean(value) && !json_is_array(value))
        return fail_type(ask, value, place, "true or a list of names");
    if (json_is_array(value) && json_array_size(value) == 0)
        return srv_place_fail(place, &ask->problem, SRV_OUT_OF_RANGE,
                              "found an empty list; at least one name is expected, or true for all");
    for (size_t i = 0; i < json_array_size(value); i++) {
        srv_place element = {place, NULL, i};
        if (!add_statistic(ask, json_array_get(value, i), &element)) return false;
    }
    if (ask->request.statistics != 0) ask->request.want |= ATTN_WANT_STATISTICS;
    return true;
}

bool srv_json_set_timeout(srv_ask *ask, json_t *value, const srv_place *place) {
    return srv_json_whole(value, place, &ask->problem, 1, SIZE_MAX, &ask->timeout_ms);
}

bool srv_json_set_plan(srv_ask *ask, json_t *value, const srv_place *place) {
    if (!json_is_boolean(value)) return fail_type(ask, value, place, "true or false");
    ask->plan_only = json_is_true(value);
    return true;
}

/* What they hold is for a layer that depends on position to read; srv_ask_bind refuses them on all others. */
bool srv_json_set_positions(srv_ask *ask, json_t *value, const srv_place *place) {
    (void)value, (void)place;
    ask->storage->positions = true;
    return true;
}

bool srv_json_set_context_positions(srv_ask *ask, json_t *value, const srv_place *place) {
    (void)value, (void)place;
    ask->storage->context_positions = true;
    return true;
}
