/* Lists within lists, as they stood in a body: the numbers or flags of the innermost ones in one buffer, how long all
 * the lists are, and the first thing that does not belong there. A sink for the scanner (json_scan.h), a thing to
 * walk through for those who check shapes (json_rows.c, json_grids.c). Internal to server/codec.
 *
 * Lists are told by their level: 1 is the outermost one, `rank` that of the innermost along the first elements, whose
 * elements are numbers or flags. */
#ifndef SRV_CODEC_JSON_NEST_H
#define SRV_CODEC_JSON_NEST_H

#include "buffer.h"
#include "json_walk.h"

#include <stdint.h>

enum { SRV_NEST_LEVELS = 5 };

typedef enum srv_element {
    SRV_ELEMENT_NUMBER,  /* a number that float32 holds: float */
    SRV_ELEMENT_FLAG,    /* a boolean, 0 or 1: uint8_t */
    SRV_ELEMENT_BOOLEAN, /* a boolean: uint8_t */
    /* A number that float32 holds or a boolean, which are 1 and 0: float. Which of them belong here is known later: the
     * first one of each kind is noted. */
    SRV_ELEMENT_EITHER,
    SRV_ELEMENT_ANY, /* anything, and nothing is kept */
} srv_element;

/* Which lists are of one length. What comes behind one that is of another length than those before is not kept. */
typedef enum srv_even {
    SRV_EVEN_NONE, /* none need to be */
    SRV_EVEN_ROWS, /* the innermost ones */
    SRV_EVEN_BOX,  /* those of each level */
} srv_even;

/* Lengths of a level's lists in their order: runs of equal ones. */
typedef struct srv_run {
    size_t length, lists;
} srv_run;

typedef struct srv_runs {
    srv_run last; /* lists 0: there are none */
    srv_buffer before;
    size_t lists;
} srv_runs;

typedef enum srv_kind {
    SRV_KIND_NULL,
    SRV_KIND_FALSE,
    SRV_KIND_TRUE,
    SRV_KIND_NUMBER,
    SRV_KIND_STRING,
    SRV_KIND_OBJECT,
    SRV_KIND_LIST,
} srv_kind;

/* A value that is not what belongs at its place: among tensors, something else. */
typedef struct srv_odd {
    size_t level;       /* of the list that holds it; 0: there is none */
    size_t list, index; /* which of that level's lists, which of its elements: from 0 */
    srv_kind kind;
    double number;
    size_t length; /* of a list */
} srv_odd;

typedef struct srv_nest {
    srv_element element;
    size_t rank;         /* more than SRV_NEST_LEVELS: nothing is kept. 0: there are no lists */
    bool is_empty_first; /* the list of level `rank` along the first elements is empty */
    bool
        lists_objects; /* a list whose first element is an object, as tensors are: rank is 1, no elements are kept */
    srv_even even;
    srv_runs levels[SRV_NEST_LEVELS];
    srv_buffer elements;
    srv_odd odd;
    /* Among elements that are either: the first boolean; the first number beside 0 and 1. */
    srv_odd no_number, no_flag;

    /* While it is filled. */
    bool is_hopeless; /* it will be refused: no more elements are kept */
    bool is_odd_open; /* the odd value is a list that has not ended */
    size_t depth;     /* open lists */
    size_t wanted;    /* levels up to this one whose open list's length is still to be kept */
    size_t counts[SRV_NEST_LEVELS +
                  3]; /* elements so far of the open list of each level; deeper ones share one */
} srv_nest;

/* Filling: one call for each thing that is met. False with a problem where there is no memory. */
void srv_nest_open(srv_nest *nest, srv_share *share);
bool srv_nest_close(srv_nest *nest, srv_share *share, srv_problem *problem);
bool srv_nest_number(srv_nest *nest, double value, srv_share *share, srv_problem *problem);
bool srv_nest_other(srv_nest *nest, srv_kind kind, srv_share *share, srv_problem *problem);
void srv_nest_done(srv_nest *nest, srv_share *share);

/* Whether numbers that come now are elements to keep: then `count` of them may be put behind nest->elements at once,
 * in room that is there. */
static inline bool srv_nest_takes_floats(const srv_nest *nest) {
    bool takes_any = nest->element == SRV_ELEMENT_NUMBER ||
                     (nest->element == SRV_ELEMENT_EITHER && nest->no_flag.level > 0);
    return takes_any && nest->depth == nest->rank && !nest->is_hopeless;
}
static inline void srv_nest_took_floats(srv_nest *nest, size_t count) {
    nest->elements.size += count * sizeof(float);
    nest->counts[nest->depth] += count;
}

/* How deep lists are along the first elements: 1 … limit + 1, deeper ones are not told apart. Refuses empty lists among
 * them. `what` says what would be accepted. */
bool srv_nest_rank(const srv_nest *nest, const srv_place *place, srv_problem *problem, size_t limit,
                   const char *what, size_t *rank);

/* Walking in the order of the text, level by level. */
typedef struct srv_walk {
    const srv_nest *nest;
    struct {
        size_t run, used; /* the next list's run, and how many of that are behind it */
        size_t lists;     /* so many have been met */
    } levels[SRV_NEST_LEVELS];
} srv_walk;

/* The length of the level's next list, which becomes the current one. */
size_t srv_walk_next(srv_walk *walk, size_t level);
/* What stands at an index of the level's current list and does not belong there; NULL: what does. */
const srv_odd *srv_walk_odd(const srv_walk *walk, size_t level, size_t index);
/* The same for any index: of an innermost list, whose elements need no walk. */
const srv_odd *srv_walk_any_odd(const srv_walk *walk, size_t level);

/* How many elements the outermost list has. */
size_t srv_nest_length(const srv_nest *nest);

/* As srv_json_found. */
const char *srv_odd_found(const srv_odd *odd, char buffer[SRV_FOUND_SIZE]);

#endif
