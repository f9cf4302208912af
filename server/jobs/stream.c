/* Writing ahead of a reader (stream.h).
 *
 * There is a ring of slots, each with room for one block: block b is written into slot b % slots. The stream has at most
 * one job with the pool, whose tiles are the blocks that free slots can take, so it takes turns with other requests like
 * any job. When the job ends, or the reader has emptied half of the ring, the next one is submitted. Before the very
 * first block every block is checked, where that is needed, by a stage of its own.
 *
 * `lock` guards all that changes. It is never held while something is written or somebody is called. Whoever is last,
 * the closing reader or the ending job, frees. */
#include "stream.h"

#include "server/obs/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Who is to be told that the stream can be read, once. */
typedef struct listener {
    srv_stream_ready *ready; /* NULL: nobody any more */
    void *context;
} listener;

struct srv_stream {
    srv_stream_source source;
    size_t held; /* bytes of the budget, the payload's included until that is freed */
    size_t blocks, slots, room;
    size_t size; /* of the answer; SIZE_MAX: not known yet */
    bool is_whole;
    char *ring;           /* slots × room, and as many × squeezed room where it is compressed */
    srv_squeeze *squeeze; /* NULL: not compressed */
    size_t squeezed_room;
    srv_span *texts; /* of the slots, that are yet to be compressed */
    attn_job job;

    pthread_mutex_t lock;
    listener listener;
    srv_stream_wake *wake; /* NULL: nobody waits */
    void *wake_context;
    size_t submitted;    /* blocks that a job has or had */
    size_t first, count; /* of the present job */
    size_t written, bytes;
    size_t reading, offset; /* the block that is read, and how much of it has been */
    bool is_running, is_closed, is_unsound;
    double spent;
    srv_span there[]; /* the slots' blocks; no data: not there yet. Behind them the texts, if there are any */
};

static srv_span *slot_of(srv_stream *stream, size_t block) {
    return &stream->there[block % stream->slots];
}

static void free_stream(srv_stream *stream) {
    if (stream->source.payload) stream->source.free_payload(stream->source.payload);
    srv_parts_free(stream->source.parts);
    srv_budget_give(stream->source.budget, stream->held);
    pthread_mutex_destroy(&stream->lock);
    srv_squeeze_free(stream->squeeze);
    free(stream->ring);
    free(stream);
}

/* The payload goes when all is written and no block stands in its memory. Called without the lock, by the job's end. */
static void free_payload(srv_stream *stream) {
    srv_stream_source *source = &stream->source;
    if (!source->payload || srv_parts_use_memory(source->parts)) return;
    source->free_payload(source->payload);
    source->payload = NULL;
    srv_budget_give(source->budget, source->payload_bytes);
    stream->held -= source->payload_bytes;
}

/* Under the lock. */
static listener take_listener(srv_stream *stream) {
    listener taken = stream->listener;
    stream->listener = (listener){0};
    return taken;
}

/* Under the lock: whether the block that is read is there. */
static bool is_there(srv_stream *stream) {
    return stream->reading < stream->submitted && slot_of(stream, stream->reading)->data != NULL;
}

/* A block is there: whoever waits for it is told. */
static void put_block(srv_stream *stream, size_t block, srv_span span, double spent) {
    pthread_mutex_lock(&stream->lock);
    *slot_of(stream, block) = span;
    stream->written++;
    stream->bytes += span.size;
    stream->spent += spent;
    srv_stream_wake *wake = is_there(stream) ? stream->wake : NULL;
    void *context = stream->wake_context;
    if (wake) stream->wake = NULL;
    listener first = block == 0 && !stream->is_whole ? take_listener(stream) : (listener){0};
    pthread_mutex_unlock(&stream->lock);
    if (wake) wake(context);
    if (first.ready) first.ready(first.context, true);
}

static void write_block(srv_stream *stream, size_t block) {
    double began = srv_clock_ms();
    srv_span span = {0};
    span.data = srv_parts_memory(stream->source.parts, block, &span.size);
    if (!span.data) {
        char *room = stream->ring + block % stream->slots * stream->room;
        span = (srv_span){room, srv_parts_write(stream->source.parts, block, room)};
    }
    if (stream->squeeze) {
        stream->texts[block % stream->slots] = span;
    } else {
        put_block(stream, block, span, srv_clock_ms() - began);
    }
}

/* Whether all of it, written by now, is small enough. */
static bool is_worth_squeezing(const srv_stream *stream) {
    size_t size = 0;
    if (stream->source.squeezes_any) return true;
    for (size_t block = 0; block < stream->blocks; block++)
        size += stream->texts[block].size;
    return size <= SRV_SQUEEZE_MOST;
}

static void squeeze_block(srv_stream *stream, size_t block) {
    double began = srv_clock_ms();
    size_t slot = block % stream->slots;
    srv_span text = stream->texts[slot];
    char *room = stream->ring + stream->slots * stream->room + slot * stream->squeezed_room;
    size_t size = srv_squeeze_write(stream->squeeze, text.data, text.size, block + 1 == stream->blocks, room);
    put_block(stream, block, (srv_span){room, size}, srv_clock_ms() - began);
}

/* The blocks of the present job, one after the other: what is compressed depends on what went before. */
static void squeeze_blocks(srv_stream *stream) {
    if (stream->first == 0 && !is_worth_squeezing(stream)) stream->source.coding = SRV_CODING_IDENTITY;
    for (size_t block = stream->first; block < stream->first + stream->count; block++) {
        if (stream->source.coding == SRV_CODING_IDENTITY) {
            put_block(stream, block, stream->texts[block], 0);
        } else {
            squeeze_block(stream, block);
        }
    }
}

static bool is_refused(srv_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    bool is_refused = stream->is_unsound;
    pthread_mutex_unlock(&stream->lock);
    return is_refused;
}

static void check_block(srv_stream *stream, size_t block) {
    double began = srv_clock_ms();
    bool is_sound = srv_parts_check(stream->source.parts, block);
    pthread_mutex_lock(&stream->lock);
    stream->is_unsound = stream->is_unsound || !is_sound;
    stream->spent += srv_clock_ms() - began;
    pthread_mutex_unlock(&stream->lock);
}

static void check_tile(void *context, size_t block, size_t worker) {
    (void)worker;
    srv_stream *stream = context;
    const attn_job *job = stream->source.job;
    if (job && attn_job_is_cancelled(job)) {
        pthread_mutex_lock(&stream->lock);
        stream->is_unsound = true;
        pthread_mutex_unlock(&stream->lock);
    }
    if (!is_refused(stream)) check_block(stream, block);
}

static void write_tile(void *context, size_t tile, size_t worker) {
    (void)worker;
    srv_stream *stream = context;
    if (!is_refused(stream)) write_block(stream, stream->first + tile);
}

static void squeeze_tile(void *context, size_t tile, size_t worker) {
    (void)tile, (void)worker;
    if (!is_refused(context)) squeeze_blocks(context);
}

/* Under the lock: gives the pool what the ring has room for, if that is worth a job. */
static void submit_more(srv_stream *stream) {
    size_t left = stream->blocks - stream->submitted;
    size_t empty = stream->slots - (stream->submitted - stream->reading);
    size_t count = left < empty ? left : empty;
    if (stream->is_running || stream->is_closed || count == 0) return;
    if (count < left && 2 * empty < stream->slots) return;
    bool checks = stream->submitted == 0 && srv_parts_need_check(stream->source.parts);
    stream->job.stages[0] = (attn_stage){check_tile, checks ? stream->blocks : 0};
    stream->job.stages[1] = (attn_stage){write_tile, count};
    stream->job.stages[2] = (attn_stage){squeeze_tile, stream->squeeze ? 1 : 0};
    stream->first = stream->submitted;
    stream->count = count;
    stream->submitted += count;
    stream->is_running = true;
    attn_pool_submit(stream->source.pool, &stream->job);
}

static void job_ended(void *context, bool cancelled) {
    (void)cancelled; /* only closing cancels */
    srv_stream *stream = context;
    pthread_mutex_lock(&stream->lock);
    bool is_written = stream->written == stream->blocks, is_unsound = stream->is_unsound;
    if (is_written && stream->is_whole) stream->size = stream->bytes;
    pthread_mutex_unlock(&stream->lock);
    if (is_written) free_payload(stream);

    pthread_mutex_lock(&stream->lock);
    stream->is_running = false;
    bool is_last = stream->is_closed;
    listener told = is_written || is_unsound ? take_listener(stream) : (listener){0};
    if (!is_unsound) submit_more(stream);
    pthread_mutex_unlock(&stream->lock);
    /* Whoever is told may close the stream at once. */
    if (is_last)
        free_stream(stream);
    else if (told.ready)
        told.ready(told.context, !is_unsound);
}

/* What one block could hold is not worth the way through the pool's queue. */
static void write_at_once(srv_stream *stream) {
    bool checks = srv_parts_need_check(stream->source.parts);
    stream->submitted = stream->count = stream->blocks;
    stream->is_running = true;
    for (size_t block = 0; block < stream->blocks; block++)
        if (checks) check_block(stream, block);
    for (size_t block = 0; block < stream->blocks && !stream->is_unsound; block++)
        write_block(stream, block);
    if (stream->squeeze && !stream->is_unsound) squeeze_blocks(stream);
    job_ended(stream, false);
}

/* From what the caller holds, and the rest from the budget. */
static bool hold(srv_stream *stream, size_t need, size_t *held) {
    size_t given = need < *held ? need : *held;
    if (!srv_budget_take(stream->source.budget, need - given)) return false;
    *held -= given;
    stream->held = need;
    return true;
}

/* Whether all of the answer is there before anybody is told of it. */
static bool is_whole(const srv_stream_source *source, size_t slots) {
    bool waits = source->coding != SRV_CODING_IDENTITY && !source->squeezes_any;
    return srv_parts_blocks(source->parts) <= slots &&
           srv_parts_written(source->parts) <= (waits ? SRV_STREAM_AHEAD : SRV_STREAM_WHOLE);
}

/* The ring, and what compressing takes. */
static bool allocate_rooms(srv_stream *stream) {
    bool squeezes = stream->source.coding != SRV_CODING_IDENTITY;
    if (squeezes) {
        stream->squeezed_room = srv_squeeze_room(stream->room);
        stream->squeeze = srv_squeeze_new(stream->source.coding);
    }
    stream->ring = malloc(stream->slots * (stream->room + stream->squeezed_room));
    return stream->ring && (stream->squeeze || !squeezes);
}

static size_t bytes_of(const srv_stream *stream) {
    size_t slot = 2 * sizeof(srv_span) + stream->room + stream->squeezed_room;
    return sizeof *stream + stream->slots * slot + srv_parts_bytes(stream->source.parts) +
           (stream->squeeze ? SRV_SQUEEZE_BYTES : 0);
}

/* Everything that writing takes, so that nothing can fail once the first byte is out. */
static srv_stream *allocate(const srv_stream_source *source, size_t *held) {
    const srv_parts *parts = source->parts;
    size_t blocks = srv_parts_blocks(parts), room = srv_parts_room(parts);
    size_t most = SRV_STREAM_AHEAD / room, slots = blocks < most ? blocks : most;
    srv_stream *stream = calloc(1, sizeof *stream + 2 * slots * sizeof(srv_span));
    if (!stream) return NULL;
    stream->source = *source;
    stream->blocks = blocks;
    stream->slots = slots;
    stream->room = room;
    stream->texts = stream->there + slots;
    stream->is_whole = is_whole(source, slots);
    /* Too large for finding out how large it is. */
    if (!stream->is_whole && !source->squeezes_any) stream->source.coding = SRV_CODING_IDENTITY;
    stream->size = stream->source.coding == SRV_CODING_IDENTITY ? srv_parts_size(parts) : SIZE_MAX;
    if (allocate_rooms(stream) && hold(stream, source->payload_bytes + bytes_of(stream), held)) return stream;
    srv_squeeze_free(stream->squeeze);
    free(stream->ring);
    free(stream);
    return NULL;
}

bool srv_stream_start(const srv_stream_source *source, size_t *held, srv_stream_ready *ready, void *context,
                      srv_stream **out) {
    srv_stream *stream = allocate(source, held);
    if (!stream) return false;
    pthread_mutex_init(&stream->lock, NULL);
    stream->listener = (listener){ready, context};
    stream->job = (attn_job){.stage_count = 3, .context = stream, .done = job_ended};
    *out = stream;
    if (stream->is_whole && srv_parts_written(source->parts) <= SRV_BLOCK_BYTES) {
        write_at_once(stream);
        return true;
    }
    pthread_mutex_lock(&stream->lock);
    submit_more(stream);
    pthread_mutex_unlock(&stream->lock);
    return true;
}

bool srv_stream_may_squeeze(const srv_parts *parts, bool squeezes_any) {
    bool is_exact;
    size_t bound = srv_parts_bound(parts, &is_exact);
    return squeezes_any || bound <= (is_exact ? SRV_SQUEEZE_MOST : SRV_STREAM_AHEAD);
}

srv_coding srv_stream_coding(const srv_stream *stream) {
    return stream->source.coding;
}

size_t srv_stream_size(const srv_stream *stream) {
    return stream->size;
}

/* The next bytes that are there; no data: none. */
static srv_span peek(srv_stream *stream) {
    srv_span span = {0};
    pthread_mutex_lock(&stream->lock);
    if (is_there(stream)) {
        span = *slot_of(stream, stream->reading);
        span.data += stream->offset;
        span.size -= stream->offset;
    }
    pthread_mutex_unlock(&stream->lock);
    return span;
}

/* A block has been read to its end: its slot is free. */
static void next_block(srv_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    *slot_of(stream, stream->reading) = (srv_span){0};
    stream->reading++;
    stream->offset = 0;
    submit_more(stream);
    pthread_mutex_unlock(&stream->lock);
}

size_t srv_stream_read(srv_stream *stream, char *to, size_t size) {
    size_t copied = 0;
    while (copied < size) {
        srv_span span = peek(stream);
        if (!span.data) break;
        size_t count = span.size < size - copied ? span.size : size - copied;
        memcpy(to + copied, span.data, count);
        copied += count;
        stream->offset += count;
        if (count == span.size) next_block(stream);
    }
    return copied;
}

bool srv_stream_is_over(srv_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    bool is_over = stream->reading == stream->blocks;
    pthread_mutex_unlock(&stream->lock);
    return is_over;
}

bool srv_stream_await(srv_stream *stream, srv_stream_wake *wake, void *context) {
    pthread_mutex_lock(&stream->lock);
    bool waits = stream->reading < stream->blocks && !is_there(stream);
    if (waits) {
        stream->wake = wake;
        stream->wake_context = context;
    }
    pthread_mutex_unlock(&stream->lock);
    return waits;
}

size_t srv_stream_spans(srv_stream *stream, srv_span *spans, size_t most) {
    pthread_mutex_lock(&stream->lock);
    size_t count = stream->is_whole && stream->blocks <= most ? stream->blocks : 0;
    for (size_t i = 0; i < count; i++)
        spans[i] = *slot_of(stream, i);
    pthread_mutex_unlock(&stream->lock);
    return count;
}

double srv_stream_ms(srv_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    double spent = stream->spent;
    pthread_mutex_unlock(&stream->lock);
    return spent;
}

const srv_parts *srv_stream_parts(const srv_stream *stream) {
    return stream->source.parts;
}

void srv_stream_close(srv_stream *stream) {
    if (!stream) return;
    pthread_mutex_lock(&stream->lock);
    stream->is_closed = true;
    bool is_last = !stream->is_running;
    if (!is_last) attn_job_cancel(&stream->job);
    pthread_mutex_unlock(&stream->lock);
    if (is_last) free_stream(stream);
}
