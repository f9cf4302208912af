/* Masks, bias, causal order and window, one row of scores at a time. */
#ifndef ATTN_ATTENTION_MASK_H
#define ATTN_ATTENTION_MASK_H

#include "geometry.h"

/* scores[j − keys.begin] for j in `keys`: adds the bias of every key that query `row` of head `head` may see
 * and makes every other −Infinity, whatever it held. `keys` are some of those that causal order and window
 * leave to the row. Returns how many of them the query may see. */
size_t attn_mask_row(const attn_sequence *sequence, size_t head, size_t row, attn_span keys, float *scores);

/* Whether the query may see any of them; looks no further than the first. */
bool attn_mask_sees_any(const attn_sequence *sequence, size_t head, size_t row, attn_span keys);

/* The same count without scores. */
size_t attn_mask_count(const attn_sequence *sequence, size_t head, size_t row, attn_span keys);

/* Whether a mask that is the same for every query of the head removes the key. */
bool attn_mask_removes(const attn_sequence *sequence, size_t head, size_t key);

#endif
