/* The inputs of a request for inference: from their descriptions in JSON to tensors, which lie in the bytes behind the
 * JSON or in memory of their own. One thread at a time. Internal to server/codec. */
#ifndef SRV_CODEC_OIP_INPUTS_H
#define SRV_CODEC_OIP_INPUTS_H

#include "json_scan.h"
#include "named_tensors.h"
#include "oip.h"

typedef struct srv_oip_reader {
    const char *bytes; /* what stands behind the JSON */
    size_t size;
    bool has_tail;         /* bytes may stand there */
    size_t next;           /* where the next tensor's begin */
    srv_capture *captures; /* of the lists; what is used is taken out */
    size_t lists;          /* so many have been met */
    srv_share *share;
    srv_buffer *kept; /* SRV_OIP_INPUTS of them, for tensors with memory of their own */
    attn_file_tensor tensors[SRV_OIP_INPUTS];
    const char *places[SRV_OIP_INPUTS]; /* their bytes */
    size_t indices[SRV_OIP_INPUTS];     /* in the request's list */
    size_t count;
    srv_problem found;   /* the first thing that is wrong, but for … */
    srv_problem *broken; /* … bytes that do not fit together, no JSON, no memory */
} srv_oip_reader;

/* Reads the list of inputs (NULL: there is none). False with a problem in *broken. */
bool srv_oip_inputs_read(srv_oip_reader *reader, const json_t *inputs);

/* Whether an object has no other members than those of a list that NULL ends; else the first other one is in
 * reader->found. Those that belong to extensions which are not offered are SRV_NOT_IMPLEMENTED. */
bool srv_oip_check_members(srv_oip_reader *reader, const json_t *object, const srv_place *place,
                           const char *const known[]);
/* A member of an object that must be an object too; NULL where it is not there, or is none, which is told. */
const json_t *srv_oip_object(srv_oip_reader *reader, const json_t *value, const srv_place *place);

#endif
