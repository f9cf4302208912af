#include "written.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

char *written_parts(srv_parts *parts, size_t *size) {
    ck_assert(srv_parts_close(parts));
    char *text = NULL, *room = malloc(srv_parts_room(parts));
    FILE *out = open_memstream(&text, size);
    for (size_t block = 0; block < srv_parts_blocks(parts); block++) {
        size_t count;
        const char *memory = srv_parts_memory(parts, block, &count);
        if (!memory) {
            count = srv_parts_write(parts, block, room);
            ck_assert_uint_le(count, srv_parts_room(parts));
        }
        ck_assert_uint_eq(fwrite(memory ? memory : room, 1, count, out), count);
    }
    ck_assert_int_eq(fclose(out), 0);
    free(room);
    return text;
}

typedef struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool is_there;
} waiting;

static void wake(void *context) {
    waiting *wait = context;
    pthread_mutex_lock(&wait->lock);
    wait->is_there = true;
    pthread_cond_signal(&wait->came);
    pthread_mutex_unlock(&wait->lock);
}

static void await(srv_stream *stream) {
    waiting wait = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    if (!srv_stream_await(stream, wake, &wait)) return;
    pthread_mutex_lock(&wait.lock);
    while (!wait.is_there)
        pthread_cond_wait(&wait.came, &wait.lock);
    pthread_mutex_unlock(&wait.lock);
}

char *written_stream(srv_stream *stream, size_t *size) {
    size_t capacity = 4096;
    char *text = malloc(capacity + 1);
    *size = 0;
    while (text && !srv_stream_is_over(stream)) {
        size_t count = srv_stream_read(stream, text + *size, capacity - *size);
        *size += count;
        if (count == 0) await(stream);
        if (*size < capacity) continue;
        char *more = realloc(text, 2 * capacity + 1);
        if (!more) free(text);
        text = more;
        capacity *= 2;
    }
    if (text) text[*size] = '\0';
    return text;
}
