/* Filling a nest and walking through it (json_nest.h). Memory grows with the elements: lists of equal lengths are one
 * run, and once something odd is known nothing is kept but what tells where it is. */
#include "json_nest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool add_length(srv_runs *runs, size_t length, srv_share *share, srv_problem *problem) {
    runs->lists++;
    if (runs->last.lists > 0 && runs->last.length == length) {
        runs->last.lists++;
        return true;
    }
    if (runs->last.lists > 0 &&
        !srv_buffer_append(&runs->before, &runs->last, sizeof runs->last, share, problem))
        return false;
    runs->last = (srv_run){length, 1};
    return true;
}

/* From here on only the lengths of lists that are open now are kept, of levels up to `wanted`. */
static void give_up(srv_nest *nest, size_t wanted, srv_share *share) {
    nest->is_hopeless = true;
    nest->wanted = wanted;
    srv_buffer_done(&nest->elements, share);
}

/* The value that comes now. */
static srv_odd odd_here(const srv_nest *nest, srv_kind kind, double number) {
    return (srv_odd){.level = nest->depth,
                     .list = nest->levels[nest->depth - 1].lists,
                     .index = nest->counts[nest->depth],
                     .kind = kind,
                     .number = number};
}

/* A value of the innermost open list that is no element of it. */
static void note_odd(srv_nest *nest, srv_kind kind, double number, srv_share *share) {
    size_t level = nest->depth;
    bool is_object = level == 1 && kind == SRV_KIND_OBJECT && nest->element != SRV_ELEMENT_EITHER;
    if (nest->element == SRV_ELEMENT_ANY) return;
    if (!nest->is_hopeless) {
        give_up(nest, level, share);
        nest->lists_objects = is_object && nest->counts[1] == 0;
        if (nest->lists_objects) return;
    } else if (!nest->lists_objects || level != 1 || is_object || nest->odd.level > 0) {
        return;
    }
    nest->odd = odd_here(nest, kind, number);
    nest->is_odd_open = kind == SRV_KIND_LIST;
}

static size_t *count_of(srv_nest *nest) {
    size_t last = SRV_NEST_LEVELS + 2;
    return &nest->counts[nest->depth < last ? nest->depth : last];
}

/* The first thing along the first elements that opens no list tells how deep those are. */
static void settle_rank(srv_nest *nest, srv_share *share) {
    if (nest->rank > 0) return;
    nest->rank = nest->depth;
    if (nest->rank > SRV_NEST_LEVELS) give_up(nest, 0, share);
}

void srv_nest_open(srv_nest *nest, srv_share *share) {
    if (nest->rank > 0 && nest->depth >= nest->rank) note_odd(nest, SRV_KIND_LIST, 0, share);
    if (nest->depth > 0) ++*count_of(nest);
    nest->depth++;
    *count_of(nest) = 0;
}

bool srv_nest_close(srv_nest *nest, srv_share *share, srv_problem *problem) {
    size_t level = nest->depth, length = *count_of(nest);
    if (nest->rank == 0) {
        settle_rank(nest, share);
        nest->is_empty_first = true;
        if (!nest->is_hopeless) give_up(nest, level, share);
    }
    nest->depth--;
    if (nest->is_odd_open && level == nest->odd.level + 1) {
        nest->odd.length = length;
        nest->is_odd_open = false;
    }
    if (nest->is_hopeless ? level != nest->wanted : level > nest->rank) return true;
    if (nest->is_hopeless) nest->wanted--;
    srv_runs *runs = nest->levels + level - 1;
    bool is_judged = nest->even == SRV_EVEN_BOX || (nest->even == SRV_EVEN_ROWS && level == nest->rank);
    bool is_uneven = is_judged && runs->lists > 0 && runs->last.length != length;
    if (!add_length(runs, length, share, problem)) return false;
    if (is_uneven && !nest->is_hopeless) give_up(nest, level - 1, share);
    return true;
}

static bool add_number(srv_nest *nest, double value, srv_share *share, srv_problem *problem) {
    float number = (float)value;
    bool is_flag = value == 0 || value == 1, is_either = nest->element == SRV_ELEMENT_EITHER;
    uint8_t flag = value == 1;
    if ((nest->element == SRV_ELEMENT_NUMBER || is_either) && isfinite(number)) {
        if (is_either && !is_flag && nest->no_flag.level == 0)
            nest->no_flag = odd_here(nest, SRV_KIND_NUMBER, value);
        return srv_buffer_append(&nest->elements, &number, sizeof number, share, problem);
    }
    if (nest->element == SRV_ELEMENT_FLAG && is_flag)
        return srv_buffer_append(&nest->elements, &flag, sizeof flag, share, problem);
    note_odd(nest, SRV_KIND_NUMBER, value, share);
    return true;
}

bool srv_nest_number(srv_nest *nest, double value, srv_share *share, srv_problem *problem) {
    bool fine = true;
    settle_rank(nest, share);
    if (nest->depth != nest->rank || nest->lists_objects) {
        note_odd(nest, SRV_KIND_NUMBER, value, share);
    } else if (!nest->is_hopeless && nest->element != SRV_ELEMENT_ANY) {
        fine = add_number(nest, value, share, problem);
    }
    ++*count_of(nest);
    return fine;
}

static bool add_flag(srv_nest *nest, srv_kind kind, srv_share *share, srv_problem *problem) {
    uint8_t flag = kind == SRV_KIND_TRUE;
    float number = flag;
    if (nest->element != SRV_ELEMENT_EITHER)
        return srv_buffer_append(&nest->elements, &flag, sizeof flag, share, problem);
    if (nest->no_number.level == 0) nest->no_number = odd_here(nest, kind, 0);
    return srv_buffer_append(&nest->elements, &number, sizeof number, share, problem);
}

bool srv_nest_other(srv_nest *nest, srv_kind kind, srv_share *share, srv_problem *problem) {
    bool fine = true, is_flag = kind == SRV_KIND_TRUE || kind == SRV_KIND_FALSE;
    bool takes_flags = nest->element == SRV_ELEMENT_FLAG || nest->element == SRV_ELEMENT_BOOLEAN ||
                       nest->element == SRV_ELEMENT_EITHER;
    settle_rank(nest, share);
    if (nest->depth != nest->rank || nest->lists_objects || !is_flag || !takes_flags)
        note_odd(nest, kind, 0, share);
    else if (!nest->is_hopeless)
        fine = add_flag(nest, kind, share, problem);
    ++*count_of(nest);
    return fine;
}

void srv_nest_done(srv_nest *nest, srv_share *share) {
    for (size_t i = 0; i < SRV_NEST_LEVELS; i++)
        srv_buffer_done(&nest->levels[i].before, share);
    srv_buffer_done(&nest->elements, share);
}

bool srv_nest_rank(const srv_nest *nest, const srv_place *place, srv_problem *problem, size_t limit,
                   const char *what, size_t *rank) {
    srv_place above[SRV_NEST_LEVELS];
    *rank = nest->rank <= limit ? nest->rank : limit + 1;
    if (!nest->is_empty_first || nest->rank > limit + 1) return true;
    for (size_t i = 0; i + 1 < nest->rank && i < SRV_NEST_LEVELS; i++) {
        above[i] = (srv_place){place, NULL, 0};
        place = above + i;
    }
    return srv_place_fail(place, problem, SRV_OUT_OF_RANGE, "found an empty list; expected %s", what);
}

size_t srv_walk_next(srv_walk *walk, size_t level) {
    const srv_runs *runs = walk->nest->levels + level - 1;
    size_t count = runs->before.size / sizeof(srv_run), *run = &walk->levels[level - 1].run;
    srv_run now = runs->last;
    if (*run < count) memcpy(&now, runs->before.data + *run * sizeof now, sizeof now);
    if (*run > count || now.lists == 0) return 0; /* not reached: something odd comes before */
    if (++walk->levels[level - 1].used == now.lists) {
        ++*run;
        walk->levels[level - 1].used = 0;
    }
    walk->levels[level - 1].lists++;
    return now.length;
}

const srv_odd *srv_walk_any_odd(const srv_walk *walk, size_t level) {
    const srv_odd *odd = &walk->nest->odd;
    return odd->level == level && odd->list + 1 == walk->levels[level - 1].lists ? odd : NULL;
}

const srv_odd *srv_walk_odd(const srv_walk *walk, size_t level, size_t index) {
    const srv_odd *odd = srv_walk_any_odd(walk, level);
    return odd != NULL && odd->index == index ? odd : NULL;
}

size_t srv_nest_length(const srv_nest *nest) {
    return nest->levels[0].last.length;
}

const char *srv_odd_found(const srv_odd *odd, char buffer[SRV_FOUND_SIZE]) {
    switch (odd->kind) {
    case SRV_KIND_OBJECT: return "an object";
    case SRV_KIND_LIST: snprintf(buffer, SRV_FOUND_SIZE, "a list of %zu", odd->length); return buffer;
    case SRV_KIND_STRING: return "a string";
    case SRV_KIND_NUMBER: snprintf(buffer, SRV_FOUND_SIZE, "the number %.9g", odd->number); return buffer;
    case SRV_KIND_TRUE: return "true";
    case SRV_KIND_FALSE: return "false";
    case SRV_KIND_NULL: break;
    }
    return "null";
}
