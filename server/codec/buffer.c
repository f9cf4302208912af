/* Growing (buffer.h): small ones with malloc; large ones are mappings of their own, which the kernel moves without
 * copying, and of which only what has been written to is there. */
#include "buffer.h"

#include "engine/engine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SMALLEST = 256,
    DOUBLES = 64 << 10, /* up to here */
    MAPPED = 512 << 10, /* from here on */
    PAGE = 4096,
};

static char *map(size_t size) {
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static char *move(const srv_buffer *buffer, size_t capacity) {
    if (buffer->capacity >= MAPPED && capacity >= MAPPED) {
        void *at = mremap(buffer->data, buffer->capacity, capacity, MREMAP_MAYMOVE);
        return at == MAP_FAILED ? NULL : at;
    }
    if (buffer->capacity < MAPPED && capacity < MAPPED) return realloc(buffer->data, capacity);
    char *data = capacity < MAPPED ? malloc(capacity) : map(capacity);
    if (data == NULL) return NULL;
    size_t kept = buffer->size < capacity ? buffer->size : capacity;
    if (kept > 0) memcpy(data, buffer->data, kept);
    if (buffer->capacity < MAPPED)
        free(buffer->data);
    else
        munmap(buffer->data, buffer->capacity);
    return data;
}

static bool change(srv_buffer *buffer, size_t capacity) {
    char *data = move(buffer, capacity);
    if (data == NULL) return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

/* The capacity that holds `needed` bytes and some more; SIZE_MAX where there is none. */
static size_t capacity_for(size_t old, size_t needed) {
    size_t grown = old < SMALLEST ? SMALLEST : old < DOUBLES ? 2 * old : old;
    if (old >= DOUBLES && !attn_size_add(old, old / 4, &grown)) return SIZE_MAX;
    if (grown < needed) grown = needed;
    if (grown < MAPPED) return grown;
    return attn_size_add(grown, PAGE - 1, &grown) ? grown / PAGE * PAGE : SIZE_MAX;
}

bool srv_buffer_reserve(srv_buffer *buffer, size_t more, srv_share *share, srv_problem *problem) {
    size_t needed, capacity;
    if (more <= buffer->capacity - buffer->size) return true;
    if (!attn_size_add(buffer->size, more, &needed)) needed = SIZE_MAX;
    capacity = capacity_for(buffer->capacity, needed);
    size_t step = capacity - buffer->capacity;
    if (!srv_share_take(share, step, problem)) return false;
    if (change(buffer, capacity)) return true;
    srv_share_give(share, step);
    srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the body at this moment");
    problem->retry_after = 1;
    return false;
}

bool srv_buffer_append(srv_buffer *buffer, const void *bytes, size_t size, srv_share *share,
                       srv_problem *problem) {
    if (!srv_buffer_reserve(buffer, size, share, problem)) return false;
    if (size > 0) memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

void srv_buffer_fit(srv_buffer *buffer, srv_share *share) {
    size_t capacity = buffer->size < SMALLEST ? SMALLEST : buffer->size, before = buffer->capacity;
    if (capacity >= MAPPED) capacity = (capacity + PAGE - 1) / PAGE * PAGE;
    /* Where a mapping would become a small block, both would be there for a moment: not worth it. */
    if (capacity >= before || (before >= MAPPED && capacity < MAPPED)) return;
    if (change(buffer, capacity)) srv_share_give(share, before - capacity);
}

void srv_buffer_done(srv_buffer *buffer, srv_share *share) {
    if (share != NULL) srv_share_give(share, buffer->capacity);
    if (buffer->capacity < MAPPED)
        free(buffer->data);
    else
        munmap(buffer->data, buffer->capacity);
    *buffer = (srv_buffer){0};
}
