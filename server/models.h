/* The served models, found by name. The port opens before they are there: one thread loads them and
 * publishes the whole list at once; before, every other thread finds it not ready, and from then on nothing
 * changes any more, but that the files' digests become known one by one.
 *
 * Owns its models. */
#ifndef SRV_MODELS_H
#define SRV_MODELS_H

#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>

enum { SRV_DIGEST_SIZE = 65 }; /* 64 hexadecimal digits */

typedef struct srv_models srv_models;

/* NULL without memory. */
srv_models *srv_models_new(void);
void srv_models_free(srv_models *models);

/* Adds a model, the first one being the default, and takes it over. Before publication, by the loading thread
 * alone. Errors: ATTN_CONFLICT when the name is there already, ATTN_NO_MEMORY; the model is still the
 * caller's then. */
attn_code srv_models_add(srv_models *models, attn_model *model, attn_error *error);
/* Loads the models asked for in order, or the demo models (tiny, demo, plain) where none are: what has been
 * loaded before a failure stays. The error's text names the file and what to do. */
attn_code srv_models_load(srv_models *models, const attn_model_source *sources, size_t count,
                          attn_error *error);
/* Lets every thread see the list. */
void srv_models_publish(srv_models *models);
bool srv_models_are_ready(const srv_models *models);

/* Of a published list. Any thread. */
size_t srv_models_count(const srv_models *models);
const attn_model *srv_models_at(const srv_models *models, size_t index);
/* By name, NULL meaning the default; NULL where there is none. */
const attn_model *srv_models_find(const srv_models *models, const char *name);
/* The model's block by index or name, as they stand in a path or on a command line; NULL where there is none. */
const attn_layer *srv_models_layer(const attn_model *model, const char *index_or_name);
/* For the error where there is none: "its layers are 0 ('layers.0') to 1 ('layers.1')", cut where it does not fit. */
enum { SRV_LAYERS_SIZE = 200 };
void srv_models_layers(const attn_model *model, char *out, size_t size);
/* SHA-256 of the file of the model at `index`, in hexadecimal; NULL until srv_models_set_digest has told it. */
const char *srv_models_digest(const srv_models *models, size_t index);
/* Once a model; copies. For one thread at a time, while others read. */
void srv_models_set_digest(srv_models *models, size_t index, const char *digest);
/* Writes the names, quoted and separated by commas, into `out` and ends with "…" where they do not fit. */
void srv_models_names(const srv_models *models, char *out, size_t size);

#endif
