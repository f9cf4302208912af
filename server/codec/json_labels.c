/* The decoder's labels: one string for every row, kept as they came and passed through: the ask shares them
 * with the body's tree, which goes before anybody else sees the ask. */
#include "json_walk.h"

static bool check_list(srv_ask *ask, const json_t *list, const srv_place *place, size_t length,
                       const char *whose, bool of_keys) {
    const char *axis = !of_keys ? attn_queries(length) : length == 1 ? "key" : "keys";
    char found[SRV_FOUND_SIZE];
    if (!json_is_array(list) || json_array_size(list) != length)
        return srv_place_fail(place, &ask->problem, json_is_array(list) ? SRV_SHAPE_MISMATCH : SRV_WRONG_TYPE,
                              "found %s; %s %zu %s, a list of as many strings is expected",
                              srv_json_found(list, found), whose, length, axis);
    for (size_t i = 0; i < length; i++) {
        const json_t *label = json_array_get(list, i);
        srv_place element = {place, NULL, i};
        if (!json_is_string(label))
            return srv_place_fail(&element, &ask->problem, SRV_WRONG_TYPE, "found %s; a string is expected",
                                  srv_json_found(label, found));
    }
    return true;
}

static bool check_sequence(srv_ask *ask, const json_t *list, const srv_place *place, size_t length,
                           bool of_keys) {
    return check_list(ask, list, place, length, "the sequence has", of_keys);
}

/* A packed batch has its labels in one list, as its rows. */
static bool check_packed(srv_ask *ask, const json_t *list, const srv_place *place, bool of_keys) {
    const attn_sequence *sequences = ask->storage->sequences;
    size_t sum = 0;
    for (size_t i = 0; i < ask->request.sequence_count; i++)
        sum += of_keys ? sequences[i].keys : sequences[i].queries;
    return check_list(ask, list, place, sum, "the sequences have", of_keys);
}

static bool check_labels(srv_ask *ask, const json_t *value, const srv_place *place, bool of_keys) {
    const attn_sequence *sequences = ask->storage->sequences;
    size_t count = ask->request.sequence_count;
    char found[SRV_FOUND_SIZE];
    if (ask->packed) return check_packed(ask, value, place, of_keys);
    if (ask->single)
        return check_sequence(ask, value, place, of_keys ? sequences[0].keys : sequences[0].queries, of_keys);
    if (!json_is_array(value) || json_array_size(value) != count)
        return srv_place_fail(place, &ask->problem,
                              json_is_array(value) ? SRV_SHAPE_MISMATCH : SRV_WRONG_TYPE,
                              "found %s; inputs has %zu sequences, a list of as many lists is expected",
                              srv_json_found(value, found), count);
    for (size_t i = 0; i < count; i++) {
        srv_place sequence = {place, NULL, i};
        size_t length = of_keys ? sequences[i].keys : sequences[i].queries;
        if (!check_sequence(ask, json_array_get(value, i), &sequence, length, of_keys)) return false;
    }
    return true;
}

/* Tokens of queries may have to be compared. */
bool srv_json_set_tokens(srv_ask *ask, json_t *value, const srv_place *place) {
    if (!check_labels(ask, value, place, false)) return false;
    size_t count = 0;
    for (size_t n = 0; n < ask->request.sequence_count; n++)
        count += ask->storage->sequences[n].queries;
    if (!srv_ask_take(ask, srv_ask_cost_of_numbers(count))) return false;
    ask->tokens = json_incref(value);
    return true;
}

bool srv_json_set_context_tokens(srv_ask *ask, json_t *value, const srv_place *place) {
    if (!check_labels(ask, value, place, true)) return false;
    ask->context_tokens = json_incref(value);
    return true;
}
