/* One `data` of a request for inference: lists of numbers or flags, flat or nested as the shape says, as the scanner has
 * kept them (json_nest.h). Pure; any thread. Internal to server/codec. */
#ifndef SRV_CODEC_OIP_DATA_H
#define SRV_CODEC_OIP_DATA_H

#include "json_nest.h"

typedef struct srv_oip_data {
    const srv_nest *nest; /* of SRV_ELEMENT_EITHER and SRV_EVEN_BOX */
    const size_t *shape;
    size_t rank, count;
    bool is_mask; /* its elements are flags */
} srv_oip_data;

/* Whether the lists are what the shape asks for: `count` elements, one behind the other. Else the first thing in them that
 * is wrong, with its place below `place`. */
bool srv_oip_data_check(const srv_oip_data *data, const srv_place *place, srv_problem *problem);

#endif
