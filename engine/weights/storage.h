/* The memory of one model: blocks that are freed together. Belongs to whoever builds the model; one
 * thread. */
#ifndef ATTN_WEIGHTS_STORAGE_H
#define ATTN_WEIGHTS_STORAGE_H

#include <stddef.h>

typedef struct attn_storage attn_storage;

/* NULL without memory. */
attn_storage *attn_storage_new(void);

/* A zeroed block of count·size bytes, aligned to 64; NULL without memory or where the size overflows. */
void *attn_storage_take(attn_storage *storage, size_t count, size_t size);

/* A copy of the first `size` bytes of a string, NUL-terminated; NULL without memory. */
char *attn_storage_copy(attn_storage *storage, const char *string, size_t size);

/* Frees every block. */
void attn_storage_free(attn_storage *storage);

#endif
