/* A named list of attention blocks, from a weights file, from a seed, or without parameters.
 *
 * Building is single-threaded; a finished model never changes and may be read by any number of threads. The
 * model owns everything it points to. */
#ifndef ATTN_WEIGHTS_MODEL_H
#define ATTN_WEIGHTS_MODEL_H

#include "../base/error.h"
#include "../tensor/dtype.h"
#include "layer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ATTN_MODEL_NAME_SIZE = 65, ATTN_FILE_RANK = 8 };

/* What became of one tensor of the file. */
typedef struct attn_tensor_use {
    const char *name;
    attn_dtype dtype;
    size_t rank;
    size_t shape[ATTN_FILE_RANK];
    const char *use; /* "layers.0 query weight" …, or NULL: not used */
} attn_tensor_use;

typedef struct attn_model {
    char name[ATTN_MODEL_NAME_SIZE]; /* [A-Za-z0-9._-]{1,64}, not ending in "-maps" */
    const char *family; /* the naming scheme ("torch.nn.MultiheadAttention" …), "seeded", "parameter-free" */
    const char *file;   /* NULL where there is none */
    attn_dtype dtype;   /* of the weights on disk; F32 where there is no file */
    size_t bytes;       /* of the float32 weights in memory */

    attn_layer *layers;
    size_t layer_count; /* >= 1 */

    const attn_tensor_use *tensors; /* in file order; what inspect prints, and which were not used */
    size_t tensor_count;
    size_t unused_count;

    void *storage; /* the loader's; freed with the model */
} attn_model;

/* A weights file to load. */
typedef struct attn_model_source {
    const char *name;        /* the model's name */
    const char *path;        /* a .safetensors file, or a folder that holds model.safetensors */
    size_t heads;            /* H as configured, where no file tells; 0: heads.h tells who is asked */
    size_t kv_heads;         /* Hkv as configured; 0: likewise, and in the end the shapes */
    const atomic_bool *stop; /* loading ends between two reads once this is true; NULL: it does not */
} attn_model_source;

/* Reads a weights file as hostile input. On failure *out is untouched and the error names file and tensor:
 * ATTN_CANCELLED (stop), ATTN_IO, ATTN_BAD_FILE (format), ATTN_BAD_MODEL (no attention found, widths that do not
 * fit, heads unknown, contradictory or not a divisor, a weight that is not finite), ATTN_NO_MEMORY. */
attn_code attn_model_load(const attn_model_source *source, attn_model **out, attn_error *error);

/* The tensors of a weights file, every `use` NULL: what can be told where no model can be built from it. */
typedef struct attn_tensor_list {
    const attn_tensor_use *tensors; /* in file order */
    size_t count;
    void *storage;
} attn_tensor_list;

/* Reads the header of the same path that attn_model_load takes. On failure *out is untouched. Errors:
 * ATTN_IO, ATTN_BAD_FILE, ATTN_NO_MEMORY. */
attn_code attn_tensor_list_read(const char *path, attn_tensor_list *out, attn_error *error);
void attn_tensor_list_done(attn_tensor_list *list);

/* Seeded weights: Xavier-uniform matrices (Glorot & Bengio 2010: U(-a, a), a = sqrt(6 / (fan_in + fan_out))),
 * zero biases; torch.nn.MultiheadAttention's shapes. The same seed gives the same bytes on every machine. */
typedef struct attn_seed_spec {
    size_t d_model; /* D, 1 … 65536, a multiple of heads */
    size_t heads;   /* H */
    size_t layers;  /* 1 … 1024 */
    uint64_t seed;
} attn_seed_spec;

/* A model of seeded weights in memory. Errors: ATTN_RANGE, ATTN_NO_MEMORY. */
attn_code attn_model_seeded(const char *name, const attn_seed_spec *spec, attn_model **out,
                            attn_error *error);

/* Writes the same weights as a safetensors file with torch.nn.MultiheadAttention's names
 * (layers.N.in_proj_weight …) and `__metadata__.num_heads`; loading it gives the bits of attn_model_seeded.
 * The file appears whole or not at all (written beside and renamed). Errors: ATTN_RANGE, ATTN_IO. */
attn_code attn_model_seeded_write(const char *path, const attn_seed_spec *spec, attn_error *error);

/* softmax(X·Xᵀ/√D)·X for any D, one head, no parameters. */
attn_code attn_model_parameter_free(const char *name, attn_model **out, attn_error *error);

/* The block at index, or by name; NULL where there is none. */
const attn_layer *attn_model_layer(const attn_model *model, size_t index);
const attn_layer *attn_model_layer_named(const attn_model *model, const char *name);

/* Whether a model may bear this name. */
bool attn_model_name_is_valid(const char *name);

void attn_model_free(attn_model *model);

#endif
