/* Lists and the shape that they should have (oip_data.h). */
#include "oip_data.h"

#include "engine/engine.h"

#include <stdio.h>

enum { SHAPE_SIZE = 128 };

typedef struct reader {
    const srv_oip_data *data;
    srv_walk walk;
    srv_problem *problem;
    char shape[SHAPE_SIZE]; /* as it is told */
} reader;

static void describe_shape(const srv_oip_data *data, char out[SHAPE_SIZE]) {
    size_t used = 0;
    for (size_t i = 0; i < data->rank; i++)
        used += (size_t)snprintf(out + used, SHAPE_SIZE - used, "%s%zu", i == 0 ? "[" : ",", data->shape[i]);
    snprintf(out + used, SHAPE_SIZE - used, "]");
}

static bool is_flat(const reader *in) {
    return in->data->nest->rank == 1;
}

static bool fail_list(reader *in, const srv_place *place) {
    return srv_place_fail(place, in->problem, SRV_SHAPE_MISMATCH,
                          "found a list where shape %s asks for a number", in->shape);
}

static bool check_length(reader *in, size_t level, size_t length, const srv_place *place) {
    size_t wanted = is_flat(in) ? in->data->count : in->data->shape[level - 1];
    if (length == wanted) return true;
    if (is_flat(in))
        return srv_place_fail(place, in->problem, SRV_SHAPE_MISMATCH, "found %zu elements; shape %s has %zu",
                              length, in->shape, wanted);
    return srv_place_fail(place, in->problem, SRV_SHAPE_MISMATCH,
                          "found a list of %zu; shape %s asks for %zu here, or for one flat list", length,
                          in->shape, wanted);
}

/* A number where numbers stand. */
static bool fail_number(reader *in, const srv_odd *odd, const srv_place *place) {
    if (in->data->is_mask)
        return srv_place_fail(place, in->problem, SRV_OUT_OF_RANGE,
                              "found the number %.9g; a mask holds 0 and 1, or false and true", odd->number);
    return srv_place_fail(place, in->problem, SRV_OUT_OF_RANGE,
                          "found a number beyond float32, which holds magnitudes up to 3.4028235e38");
}

/* What does not belong where it stands: in a list of that level. */
static bool fail_odd(reader *in, const srv_odd *odd, const srv_place *list) {
    srv_place place = {list, NULL, odd->index};
    char found[SRV_FOUND_SIZE];
    bool is_innermost = odd->level == in->data->nest->rank;
    const char *what = srv_odd_found(odd, found);
    if (odd->kind == SRV_KIND_LIST) return fail_list(in, &place);
    if (odd->kind == SRV_KIND_NUMBER && is_innermost) return fail_number(in, odd, &place);
    if (odd->kind == SRV_KIND_NUMBER)
        return srv_place_fail(&place, in->problem, SRV_SHAPE_MISMATCH,
                              "found a number where shape %s asks for a list", in->shape);
    return srv_place_fail(&place, in->problem, SRV_WRONG_TYPE, "found %s; %s is expected", what,
                          !is_innermost       ? "a list"
                          : in->data->is_mask ? "true or false, or 1 or 0,"
                                              : "a number");
}

/* The first boolean where numbers belong, or the first number that is no flag. */
static const srv_odd *other_kind(const reader *in, size_t level) {
    const srv_nest *nest = in->data->nest;
    const srv_odd *odd = in->data->is_mask ? &nest->no_flag : &nest->no_number;
    return odd->level == level && odd->list + 1 == in->walk.levels[level - 1].lists ? odd : NULL;
}

/* The present list of the innermost ones, whose elements need no walk. */
static bool check_elements(reader *in, size_t level, size_t length, const srv_place *place) {
    const srv_odd *odd = srv_walk_any_odd(&in->walk, level), *other = other_kind(in, level);
    srv_place first = {place, NULL, 0};
    if (other == NULL) other = odd; /* nothing is noted behind what is odd */
    bool is_other_first = other != NULL && other->index == 0 && other->kind != SRV_KIND_NUMBER;
    if (!is_flat(in) && level < in->data->rank && length > 0 && !is_other_first)
        return srv_place_fail(&first, in->problem, SRV_SHAPE_MISMATCH,
                              "found a number where shape %s asks for a list", in->shape);
    return other == NULL || fail_odd(in, other, place);
}

/* The next list of a level, and all within it. */
static bool check_list(reader *in, size_t level, const srv_place *place) {
    size_t length = srv_walk_next(&in->walk, level);
    if (level == in->data->nest->rank)
        return check_elements(in, level, length, place) && check_length(in, level, length, place);
    for (size_t i = 0; i < length; i++) {
        srv_place inside = {place, NULL, i};
        const srv_odd *odd = srv_walk_odd(&in->walk, level, i);
        if (odd != NULL) return fail_odd(in, odd, place);
        if (!check_list(in, level + 1, &inside)) return false;
    }
    return check_length(in, level, length, place);
}

bool srv_oip_data_check(const srv_oip_data *data, const srv_place *place, srv_problem *problem) {
    reader in = {.data = data, .walk = {.nest = data->nest}, .problem = problem};
    srv_place first[ATTN_MAX_RANK];
    describe_shape(data, in.shape);
    if (is_flat(&in) || data->nest->rank <= data->rank) return check_list(&in, 1, place);
    for (size_t i = 0; i < data->rank; i++) {
        first[i] = (srv_place){place, NULL, 0};
        place = first + i;
    }
    return fail_list(&in, place);
}
