/* Masks, bias, causal order and window, one row of scores at a time. */
#ifndef ATTN_ATTENTION_MASK_H
#define ATTN_ATTENTION_MASK_H

#include "geometry.h"

/* scores[0..S): adds the bias of every key that query `row` of head `head` may see and makes every other
 * −Infinity, whatever it held. `keys` is attn_row_keys' answer for that row; scores outside it need not be
 * initialised. Returns how many keys the query may see. */
size_t attn_mask_row(const attn_sequence *sequence, size_t head, size_t row, attn_span keys, float *scores);

/* The same count without scores. */
size_t attn_mask_count(const attn_sequence *sequence, size_t head, size_t row, attn_span keys);

#endif
