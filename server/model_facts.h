/* Models and layers as documents for clients: all that shapes the attention. Any thread, of a published list.
 * Each function makes a new JSON object; NULL without memory. */
#ifndef SRV_MODEL_FACTS_H
#define SRV_MODEL_FACTS_H

#include "server/models.h"

#include <jansson.h>

/* One line of the list of models. */
json_t *srv_model_summary(const srv_models *models, size_t index);
/* The same members and more, with every layer. */
json_t *srv_model_document(const srv_models *models, size_t index);
json_t *srv_layer_document(const attn_model *model, size_t index);

#endif
