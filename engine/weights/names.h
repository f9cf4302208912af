/* The order and the names of a model's blocks: encoder blocks, then per decoder layer self and cross
 * ("encoder.0.self", "decoder.0.self", "decoder.0.cross"); a single stack is "layers.0", "layers.1" … */
#ifndef ATTN_WEIGHTS_NAMES_H
#define ATTN_WEIGHTS_NAMES_H

#include "blocks.h"

/* Sorts the blocks and sets is_cross and name of each. Names are unique. */
void attn_blocks_name(attn_block *blocks, size_t count);

/* Compares so that "h.9" stands before "h.10"; 0 only for equal strings. */
int attn_natural_compare(const char *a, size_t a_size, const char *b, size_t b_size);

#endif
