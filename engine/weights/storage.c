/* A list of aligned blocks, newest first. One thread at a time. */
#include "storage.h"

#include "../base/size.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* Stands at the front of each block, so that what follows keeps the alignment. */
typedef struct block {
    _Alignas(ALIGNMENT) struct block *next;
    void *allocated;
} block;

struct attn_storage {
    block *newest;
};

attn_storage *attn_storage_new(void) {
    return calloc(1, sizeof(attn_storage));
}

/* calloc rather than aligned_alloc and memset: the pages of large weights are then touched once, by their
 * reader. */
void *attn_storage_take(attn_storage *storage, size_t count, size_t size) {
    size_t bytes;
    if (!attn_size_mul(count, size, &bytes)) return NULL;
    if (!attn_size_add(bytes, sizeof(block) + ALIGNMENT, &bytes)) return NULL;
    char *allocated = calloc(1, bytes);
    if (allocated == NULL) return NULL;
    block *taken = (void *)(allocated + ALIGNMENT - (uintptr_t)allocated % ALIGNMENT);
    taken->allocated = allocated;
    taken->next = storage->newest;
    storage->newest = taken;
    return taken + 1;
}

char *attn_storage_copy(attn_storage *storage, const char *string, size_t size) {
    char *copy = size == SIZE_MAX ? NULL : attn_storage_take(storage, size + 1, 1);
    if (copy != NULL) memcpy(copy, string, size);
    return copy;
}

void attn_storage_free(attn_storage *storage) {
    if (storage == NULL) return;
    for (block *next, *at = storage->newest; at != NULL; at = next) {
        next = at->next;
        free(at->allocated);
    }
    free(storage);
}
