/* What the routes of the Open Inference Protocol share. */
#ifndef SRV_ROUTES_V2_H
#define SRV_ROUTES_V2_H

#include "site.h"

/* A name of a model: its own, or with "-maps" behind it, which answers with maps as well. */
typedef struct srv_v2_name {
    size_t index; /* of the model */
    const attn_model *model;
    bool has_maps;
    char text[SRV_PARAMETER_SIZE];
} srv_v2_name;

/* There are two for each model; `number` counts them. */
size_t srv_v2_names(const srv_models *models);
srv_v2_name srv_v2_name_at(const srv_models *models, size_t number);
size_t srv_v2_number(const srv_v2_name *name);

/* The name in a call's path, and its version if there is one; false with a 404. */
bool srv_v2_find(srv_call *call, srv_v2_name *out);
/* Whether the daemon wants requests; false with a 503. */
bool srv_v2_is_ready(srv_call *call);

#endif
