/* The list of a file's tensors and what became of each. */
#ifndef ATTN_WEIGHTS_USES_H
#define ATTN_WEIGHTS_USES_H

#include "blocks.h"
#include "storage.h"

/* One entry for each tensor of the header, in its order, with a copy of the name; uses NULL. The storage owns
 * all. NULL without memory. */
attn_tensor_use *attn_uses_list(const attn_file_header *header, attn_storage *storage);

/* Says for each tensor of a block what it became; false without memory. */
bool attn_uses_mark(attn_tensor_use *uses, const attn_file_header *header, const attn_block *block,
                    attn_storage *storage);

#endif
