/* How deep Jansson's lists are, and how much is in them (oracle_parts.h). */
#include "oracle_parts.h"

static bool fail_list(const json_t *value, const srv_place *place, srv_problem *problem, const char *what) {
    char found[SRV_FOUND_SIZE];
    return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; expected %s",
                          srv_json_found(value, found), what);
}

bool oracle_rank(const json_t *value, const srv_place *place, srv_problem *problem, size_t limit,
                 const char *what, size_t *rank) {
    if (!json_is_array(value)) return fail_list(value, place, problem, what);
    if (json_array_size(value) == 0)
        return srv_place_fail(place, problem, SRV_OUT_OF_RANGE, "found an empty list; expected %s", what);
    const json_t *first = json_array_get(value, 0);
    srv_place inner = {place, NULL, 0};
    size_t below = 0;
    if (json_is_array(first) && limit > 0) {
        if (!oracle_rank(first, &inner, problem, limit - 1, what, &below)) return false;
    }
    *rank = below + 1;
    return true;
}

size_t oracle_count(const json_t *value, size_t depth) {
    size_t count = json_array_size(value), sum = 0;
    if (depth == 1) return count;
    for (size_t i = 0; i < count; i++)
        sum += oracle_count(json_array_get(value, i), depth - 1);
    return sum;
}
