/* What an ask keeps for an answer in the Open Inference Protocol. Internal to server/codec. */
#ifndef SRV_CODEC_OIP_ASK_H
#define SRV_CODEC_OIP_ASK_H

#include "oip.h"

typedef struct srv_oip_output {
    size_t which;   /* of srv_oip_outputs */
    bool is_binary; /* bytes behind the JSON instead of a list in it */
} srv_oip_output;

typedef struct srv_oip {
    json_t *id;    /* echoed; NULL: none */
    bool has_maps; /* part of the model's name */
    srv_oip_output outputs[SRV_OIP_OUTPUTS];
    size_t output_count;
} srv_oip;

#endif
