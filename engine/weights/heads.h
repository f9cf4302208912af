/* How many heads a file's layers have: shapes do not tell it, so somebody must. */
#ifndef ATTN_WEIGHTS_HEADS_H
#define ATTN_WEIGHTS_HEADS_H

#include "safetensors.h"

enum { ATTN_HEADS_MAX = 65536 };

typedef struct attn_head_counts {
    size_t heads, kv_heads; /* 0: nobody says */
} attn_head_counts;

/* Asks the file's `__metadata__` (num_heads, num_kv_heads) and, where that does not tell H, num_attention_heads and
 * num_key_value_heads of a config.json in the file's folder (hostile input as well). What is configured stands in for
 * what neither tells, be it that they cannot be read; where one tells, it must say the same. Errors: ATTN_BAD_FILE,
 * ATTN_BAD_MODEL (also a contradiction), ATTN_IO, ATTN_NO_MEMORY. */
attn_code attn_head_counts_find(const attn_model_source *source, const attn_file_header *header,
                                const char *file, attn_head_counts *out, attn_error *error);

/* The largest divisor of `width` below `heads` and the smallest above; 0: there is none. width >= 1. */
void attn_nearest_divisors(size_t width, size_t heads, size_t *below, size_t *above);

#endif
