/* One `data` of a request for inference: a list of numbers or flags, flat or nested as the shape says. Read where it
 * lies. Pure; any thread. Internal to server/codec. */
#ifndef SRV_CODEC_OIP_LIST_H
#define SRV_CODEC_OIP_LIST_H

#include "json_walk.h"

typedef struct srv_oip_list {
    const char *body;  /* offsets count from here */
    size_t begin, end; /* of the list, brackets included */
    const size_t *shape;
    size_t rank, count;
    /* Where `count` elements go: float32, or 0 and 1. NULL both: only whether this is JSON is looked at. */
    float *numbers;
    uint8_t *flags;
    const srv_place *place;
} srv_oip_list;

/* False with SRV_BAD_JSON in *broken where it is no JSON. What else is wrong, with its place, goes to *found; the list is
 * read to its end nevertheless. */
bool srv_oip_list_read(const srv_oip_list *list, srv_problem *found, srv_problem *broken);

#endif
