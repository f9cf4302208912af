/* Jansson's allocator (json_memory.h): malloc's, with an account for each thread. Set once, before the first
 * text of a client is read; what was allocated before may be freed after.
 *
 * What goes beyond the limit is served nevertheless: where a token's buffer cannot grow, Jansson 2.14 ends the
 * program. The text is finite, and its tree goes as soon as the account is closed. */
#include "json_memory.h"

#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct account {
    bool is_open, exceeded;
    size_t limit, held;
} account;

static _Thread_local account mine;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *take(size_t size) {
    void *block = malloc(size);
    if (!mine.is_open) return block;
    mine.held += malloc_usable_size(block);
    if (block == NULL || mine.held > mine.limit) mine.exceeded = true;
    return block;
}

static void give(void *block) {
    size_t size = malloc_usable_size(block);
    mine.held -= size < mine.held ? size : mine.held;
    free(block);
}

static void install(void) {
    json_set_alloc_funcs(take, give);
}

void srv_json_memory_begin(size_t limit) {
    pthread_once(&once, install);
    mine = (account){.is_open = true, .limit = limit};
}

bool srv_json_memory_end(void) {
    bool kept = !mine.exceeded;
    mine = (account){0};
    return kept;
}
