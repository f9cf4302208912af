/* What the makers of models (loader, seeds, parameter-free) share. */
#ifndef ATTN_WEIGHTS_BUILD_H
#define ATTN_WEIGHTS_BUILD_H

#include "model.h"
#include "storage.h"

/* A model of `layer_count` zeroed layers that owns a storage; attn_model_free takes it at any stage. On
 * failure *out is untouched. Errors: ATTN_RANGE (the name), ATTN_NO_MEMORY. */
attn_code attn_model_begin(const char *name, const char *family, size_t layer_count, attn_model **out,
                           attn_error *error);

/* Names layer `index` "layers.N". */
void attn_layer_set_index_name(attn_layer *layer, size_t index);

#endif
