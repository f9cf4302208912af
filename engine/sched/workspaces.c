/* The store of workspaces (workspaces.h): a short list of idle blocks, the oldest first, under one lock. Allocates
 * nothing but the blocks. */
#include "workspaces.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks of PAGED bytes and more begin on a page, so that what is behind them can go back page by page. LARGE ones ask for
 * huge pages, where the system has them for who asks: what has gone back comes again with few faults instead of thousands,
 * which is a tenth of a forward pass with maps. The last one is made of small pages, unless all of it was asked for. */
enum {
    IDLE_BLOCKS = 64,
    LINE = 64,
    PAGE = 4096,
    PAGED = 64 << 10,
    HUGE_PAGE = 2 << 20,
    LARGE = 8 << 20,
    LARGEST_PART = 4,
};

static struct store {
    pthread_mutex_t lock;
    size_t most;
    unsigned idle_ms;
    attn_workspace idle[IDLE_BLOCKS];
    size_t count;
    size_t kept; /* bytes used of the idle ones */
    size_t in_use, high_water;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t rounded_up(size_t bytes, size_t to) {
    return (bytes + to - 1) / to * to;
}

/* Takes the block at `index` out of the list. */
static attn_workspace take_out(size_t index) {
    attn_workspace block = store.idle[index];
    store.count--;
    store.kept -= block.used;
    memmove(&store.idle[index], &store.idle[index + 1], (store.count - index) * sizeof store.idle[0]);
    return block;
}

/* The idle block that is the smallest of those that suffice; `count`: none. Pages behind what is asked for would be lost, so
 * a block many times too large is none. */
static size_t best_fit(size_t bytes) {
    size_t best = store.count;
    for (size_t i = 0; i < store.count; i++)
        if (store.idle[i].capacity >= bytes && store.idle[i].capacity / LARGEST_PART <= bytes &&
            (best == store.count || store.idle[i].capacity < store.idle[best].capacity))
            best = i;
    return best;
}

/* Gives whole pages behind the first `bytes` back to the system; they read as zeros from then on. What is left of the
 * last page counts as used. */
static void shrink(attn_workspace *block, size_t bytes) {
    size_t from = rounded_up(bytes, PAGE), to = block->used / PAGE * PAGE;
    if (block->capacity < PAGED || to <= from) return;
    if (madvise((char *)block->memory + from, to - from, MADV_DONTNEED) == 0) block->used -= to - from;
}

static bool allocate(size_t bytes, attn_workspace *out) {
    size_t alignment = bytes >= LARGE ? HUGE_PAGE : bytes >= PAGED ? PAGE : LINE;
    if (bytes > PTRDIFF_MAX - (size_t)HUGE_PAGE) return false;
    size_t capacity = rounded_up(bytes, alignment);
    void *memory = aligned_alloc(alignment, capacity);
    if (!memory) return false;
    /* Where it fails small ones serve as well. */
    if (bytes >= LARGE) (void)madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    *out = (attn_workspace){memory, capacity, bytes};
    return true;
}

/* Frees the oldest until at most `most` bytes are kept; the lock is held. */
static void trim(size_t most) {
    while (store.count > 0 && store.kept > most) {
        attn_workspace block = take_out(0);
        free(block.memory);
    }
}

void attn_workspaces_keep(size_t most, unsigned idle_ms) {
    pthread_mutex_lock(&store.lock);
    store.most = most;
    store.idle_ms = idle_ms;
    trim(most);
    pthread_mutex_unlock(&store.lock);
}

unsigned attn_workspaces_idle_ms(void) {
    pthread_mutex_lock(&store.lock);
    unsigned idle_ms = store.idle_ms;
    pthread_mutex_unlock(&store.lock);
    return idle_ms;
}

bool attn_workspace_take(size_t bytes, attn_workspace *out) {
    pthread_mutex_lock(&store.lock);
    size_t found = best_fit(bytes);
    bool taken = true;
    if (found < store.count) {
        *out = take_out(found);
        shrink(out, bytes);
        out->used = bytes;
    } else {
        taken = allocate(bytes, out);
        if (!taken && store.count > 0) {
            trim(0);
            taken = allocate(bytes, out);
        }
    }
    if (taken) store.in_use += bytes;
    if (store.in_use > store.high_water) store.high_water = store.in_use;
    pthread_mutex_unlock(&store.lock);
    return taken;
}

void attn_workspace_give(attn_workspace *workspace) {
    if (!workspace->memory) return;
    attn_workspace block = *workspace; /* which may lie in its own memory */
    pthread_mutex_lock(&store.lock);
    store.in_use -= block.used;
    if (block.used > store.most) {
        free(block.memory);
    } else {
        trim(store.most - block.used);
        if (store.count == IDLE_BLOCKS) trim(store.kept - 1);
        store.idle[store.count++] = block;
        store.kept += block.used;
    }
    pthread_mutex_unlock(&store.lock);
}

void attn_workspaces_trim(size_t most) {
    pthread_mutex_lock(&store.lock);
    trim(most);
    pthread_mutex_unlock(&store.lock);
}

size_t attn_workspaces_kept(void) {
    pthread_mutex_lock(&store.lock);
    size_t kept = store.kept;
    pthread_mutex_unlock(&store.lock);
    return kept;
}

size_t attn_workspaces_high_water(void) {
    pthread_mutex_lock(&store.lock);
    size_t high_water = store.high_water;
    pthread_mutex_unlock(&store.lock);
    return high_water;
}
