/* The decoder's lengths: the integers that make rank-2 tensors a packed batch. */
#include "json_walk.h"

#include <stdlib.h>

static bool read_lengths(srv_ask *ask, const json_t *value, const srv_place *place, srv_lengths *lengths) {
    char found[SRV_FOUND_SIZE];
    size_t count = json_array_size(value);
    if (!json_is_array(value))
        return srv_place_fail(place, &ask->problem, SRV_WRONG_TYPE, "found %s; a list of lengths is expected",
                              srv_json_found(value, found));
    if (count == 0)
        return srv_place_fail(place, &ask->problem, SRV_OUT_OF_RANGE,
                              "found an empty list; the length of at least one sequence is expected");
    lengths->list = calloc(count, sizeof *lengths->list);
    if (lengths->list == NULL)
        return srv_problem_set(&ask->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for '%s'",
                               place->name);
    lengths->count = count;
    for (size_t i = 0; i < count; i++) {
        srv_place element = {place, NULL, i};
        if (!srv_json_whole(json_array_get(value, i), &element, &ask->problem, 1, SIZE_MAX,
                            lengths->list + i))
            return false;
        if (!attn_size_add(lengths->sum, lengths->list[i], &lengths->sum))
            return srv_place_fail(place, &ask->problem, SRV_OUT_OF_RANGE, "lengths that add up beyond 2^64");
    }
    return true;
}

bool srv_json_set_lengths(srv_ask *ask, json_t *value, const srv_place *place) {
    ask->packed = true;
    return read_lengths(ask, value, place, &ask->storage->lengths);
}

bool srv_json_set_context_lengths(srv_ask *ask, json_t *value, const srv_place *place) {
    const srv_lengths *lengths = &ask->storage->lengths;
    if (lengths->list == NULL)
        return srv_place_fail(
            place, &ask->problem, SRV_CONFLICT,
            "'context_lengths' without 'lengths'; those of inputs are expected beside them");
    if (!read_lengths(ask, value, place, &ask->storage->context_lengths)) return false;
    size_t count = ask->storage->context_lengths.count;
    if (count == lengths->count) return true;
    return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH,
                          "found %zu lengths; 'lengths' has %zu, so many are expected", count,
                          lengths->count);
}
