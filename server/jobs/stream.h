/* An answer on its way from the workers to whoever reads it. The pool writes its blocks, several at a time, a bounded
 * stretch ahead of the reader; a reader that is slow or gone holds no worker, and of the text no more than
 * SRV_STREAM_AHEAD bytes are there at a time, however large the result.
 *
 *   srv_stream_start        on a worker; the stream is read once `ready` has been called
 *   srv_stream_read …       the bytes in order; where none is there yet, srv_stream_await tells when
 *   srv_stream_close        ends it at any point
 *
 * One thread reads and closes; it need not be the same one all the time. What the tensors point into (the payload) is
 * freed as soon as no block needs it any more, which the budget then has back; the rest goes with closing. */
#ifndef SRV_JOBS_STREAM_H
#define SRV_JOBS_STREAM_H

#include "budget.h"
#include "engine/engine.h"
#include "server/codec/parts.h"
#include "squeeze.h"

enum {
    SRV_STREAM_AHEAD = 4 << 20, /* bytes of text that are written before they are read, at most */
    SRV_STREAM_WHOLE =
        1 << 20, /* where no more than that can be to write, the stream is ready when all of it is written */
    SRV_SQUEEZE_MOST = 1 << 20, /* bytes of an answer that is compressed without being told to */
};

typedef struct srv_stream srv_stream;

typedef struct srv_stream_source {
    srv_parts *parts; /* closed; the stream's from then on */
    attn_pool *pool;
    srv_budget *budget;
    srv_coding coding; /* what the reader unpacks; identity: nothing */
    bool squeezes_any; /* compressed however large the answer is; else up to SRV_SQUEEZE_MOST bytes of it */
    const attn_job
        *job; /* where it is cancelled before the stream is ready, that is refused; NULL: nobody cancels. Not
                            looked at later */
    void *payload; /* the stream's likewise; `free_payload` is called once, on any thread */
    size_t payload_bytes;
    void (*free_payload)(void *payload);
} srv_stream_source;

/* Called once on a worker. False: binary16 cannot hold some number (srv_parts_refuse says which), or source->job has been
 * cancelled; the stream can only be closed. True: it can be read. */
typedef void srv_stream_ready(void *context, bool is_sound);

/* Starts writing. Holds payload_bytes and what the text takes: from *held, which becomes less, and where that is too
 * little from the budget. *out stands before `ready` is called, which can be before this returns. False, with nothing
 * taken over, without memory or room in the budget. */
bool srv_stream_start(const srv_stream_source *source, size_t *held, srv_stream_ready *ready, void *context,
                      srv_stream **out);

/* How the answer is compressed, once it is ready. Whether it is small enough to be shows when it is written, as long as
 * SRV_STREAM_AHEAD bytes hold it. */
srv_coding srv_stream_coding(const srv_stream *stream);
/* Whether an answer of these parts, not closed yet, may be compressed; if so they are to be closed so that all of it is
 * written (srv_parts_write_all). */
bool srv_stream_may_squeeze(const srv_parts *parts, bool squeezes_any);

/* Bytes of the whole answer; SIZE_MAX: only its end tells. */
size_t srv_stream_size(const srv_stream *stream);

/* Copies the next bytes, as many as are there and at most `size`; 0: none is there yet, or the end. */
size_t srv_stream_read(srv_stream *stream, char *to, size_t size);
bool srv_stream_is_over(srv_stream *stream);

/* Called once for each await that returned true, on a worker. */
typedef void srv_stream_wake(void *context);
/* False: something can be read already, or it is over. */
bool srv_stream_await(srv_stream *stream, srv_stream_wake *wake, void *context);

/* The answer without copying, until closing: its blocks in order, and their count. 0 where not all of them were there
 * when it was ready, or there are more than `most`. Not together with reading. */
typedef struct srv_span {
    const char *data;
    size_t size;
} srv_span;
size_t srv_stream_spans(srv_stream *stream, srv_span *spans, size_t most);

/* Milliseconds that workers have spent on writing so far. */
double srv_stream_ms(srv_stream *stream);

const srv_parts *srv_stream_parts(const srv_stream *stream);

/* NULL is fine. Not while an await is out. */
void srv_stream_close(srv_stream *stream);

#endif
