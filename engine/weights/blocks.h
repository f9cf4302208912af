/* Which tensors of a file belong together: attention blocks by naming scheme and prefix, in the order in
 * which a model lists them, with their names there. */
#ifndef ATTN_WEIGHTS_BLOCKS_H
#define ATTN_WEIGHTS_BLOCKS_H

#include "layer.h"
#include "safetensors.h"
#include "schemes.h"

/* In the order in which a model lists them. */
typedef enum attn_stack { ATTN_STACK_ENCODER, ATTN_STACK_DECODER, ATTN_STACK_NONE } attn_stack;

/* Borrows everything from the header. */
typedef struct attn_block {
    const attn_scheme *scheme;
    const char *prefix; /* not NUL-terminated: the beginning of a tensor's name */
    size_t prefix_size;
    const attn_file_tensor *tensors[ATTN_ROLE_COUNT]; /* NULL: not there */
    attn_stack stack;
    bool is_cross;
    char name[ATTN_LAYER_NAME_SIZE];
} attn_block;

/* *out: malloc'ed, at least one block; the caller frees it. All are of one family. On failure the outputs are
 * untouched. Errors: ATTN_BAD_MODEL, ATTN_NO_MEMORY. */
attn_code attn_blocks_find(const attn_file_header *header, const char *file, attn_block **out, size_t *count,
                           attn_error *error);

#endif
