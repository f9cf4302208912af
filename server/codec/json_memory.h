/* What Jansson allocates on one thread: whether all of it was served, and within what was held for it. Jansson
 * takes some failed allocations for wrong syntax. */
#ifndef SRV_CODEC_JSON_MEMORY_H
#define SRV_CODEC_JSON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* From now until srv_json_memory_end this thread's Jansson is expected to hold at most `limit` bytes. */
void srv_json_memory_begin(size_t limit);
/* Whether every allocation since then was served and the limit kept. */
bool srv_json_memory_end(void);

#endif
