/* Unpacking with zlib (inflater.h): a piece at a time, so that of the text nothing is kept but what its format's
 * decoder keeps. */
#include "inflater.h"

#include "buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    PIECE = 64 << 10,         /* of the text */
    BYTES_OF_ZLIB = 48 << 10, /* its window and tables */
    WINDOW = 15,
    GZIP = 16, /* added to it: gzip's frame instead of zlib's */
};

typedef struct inflater {
    srv_decoder base;
    srv_coding coding;
    size_t most;
    srv_decoder *inner; /* of the body's format */
    srv_buffer packed;
} inflater;

/* The work of one body. */
typedef struct unpacking {
    inflater *owner;
    z_stream stream;
    const attn_job *job;
    size_t read, written; /* bytes of the packed body, and of its text */
    srv_problem *problem;
} unpacking;

static bool collect(srv_decoder *decoder, const char *piece, size_t size, srv_problem *problem) {
    return srv_buffer_append(&((inflater *)decoder)->packed, piece, size, &decoder->share, problem);
}

static const char *name_of(const inflater *this) {
    return this->coding == SRV_CODING_GZIP ? "gzip" : "deflate";
}

static bool fail(const unpacking *of, const char *what) {
    char offset[24];
    snprintf(offset, sizeof offset, "%zu", of->read);
    return srv_problem_set(of->problem, SRV_BAD_BODY, SRV_WHERE_OFFSET, offset,
                           "Content-Encoding %s, and the body is not that: %s", name_of(of->owner), what);
}

/* Unpacks up to a piece's size; tells zlib's code. */
static int unpack(unpacking *of, unsigned char piece[PIECE], size_t *size) {
    const srv_buffer *packed = &of->owner->packed;
    size_t left = packed->size - of->read, given = left < PIECE ? left : PIECE;
    of->stream.next_in = (z_const Bytef *)packed->data + of->read;
    of->stream.avail_in = (uInt)given;
    of->stream.next_out = piece;
    of->stream.avail_out = PIECE;
    int code = inflate(&of->stream, Z_NO_FLUSH);
    of->read += given - of->stream.avail_in;
    *size = PIECE - of->stream.avail_out;
    of->written += *size;
    return code;
}

/* Whether a stream's end is the body's. Members of gzip may follow one another. */
static bool is_over(unpacking *of) {
    if (of->read == of->owner->packed.size) return true;
    if (of->owner->coding == SRV_CODING_GZIP) return inflateReset(&of->stream) != Z_OK;
    fail(of, "bytes follow its end");
    return true;
}

static bool feed_text(unpacking *of) {
    unsigned char piece[PIECE];
    for (;;) {
        size_t size;
        if (of->job != NULL && attn_job_is_cancelled(of->job)) return false;
        int code = unpack(of, piece, &size);
        if (of->written > of->owner->most)
            return srv_problem_set(of->problem, SRV_BODY_TOO_LARGE, SRV_WHERE_NONE, NULL,
                                   "a body that unpacks to more than %zu bytes (setting limits.max_body)",
                                   of->owner->most);
        if (size > 0 && !srv_decoder_feed(of->owner->inner, (const char *)piece, size, of->problem))
            return false;
        if (code == Z_STREAM_END && is_over(of)) return of->problem->id == SRV_NO_PROBLEM;
        if (code == Z_NEED_DICT) return fail(of, "it needs a dictionary");
        if (code == Z_MEM_ERROR)
            return srv_problem_set(of->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                                   "no memory for unpacking the body at this moment");
        if (code == Z_BUF_ERROR) return fail(of, "it is cut short");
        if (code != Z_OK && code != Z_STREAM_END)
            return fail(of, of->stream.msg ? of->stream.msg : "broken data");
    }
}

static bool unpack_all(inflater *this, const attn_job *job, srv_problem *problem) {
    unpacking of = {.owner = this, .job = job, .problem = problem};
    int window = this->coding == SRV_CODING_GZIP ? WINDOW + GZIP : WINDOW;
    srv_share *share = &this->base.share;
    if (this->packed.size == 0) return fail(&of, "it is empty");
    this->inner->head = this->base.head;
    if (!srv_share_take(share, BYTES_OF_ZLIB, problem)) return false;
    bool done = inflateInit2(&of.stream, window) == Z_OK;
    if (done) {
        done = feed_text(&of);
        inflateEnd(&of.stream);
    } else {
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                        "no memory for unpacking the body at this moment");
    }
    srv_share_give(share, BYTES_OF_ZLIB);
    return done;
}

static bool end(srv_decoder *decoder, const srv_source *source, srv_ask **out, srv_problem *problem) {
    inflater *this = (inflater *)decoder;
    if (!unpack_all(this, source->job, problem)) return false;
    srv_buffer_done(&this->packed, &decoder->share);
    return srv_decoder_end(this->inner, source, out, problem);
}

/* What the ask takes is held by the inner decoder, and by this one from then on. */
static void drop(srv_decoder *decoder) {
    inflater *this = (inflater *)decoder;
    size_t held = srv_decoder_close(this->inner);
    srv_buffer_done(&this->packed, &decoder->share);
    decoder->share.held += held;
    decoder->share.used += held;
}

srv_decoder *srv_inflater_new(srv_coding coding, size_t most, const srv_codec *codec, srv_budget *budget,
                              size_t max_text) {
    inflater *this = calloc(1, sizeof *this);
    srv_decoder *inner = this ? srv_decoder_new(codec, budget, max_text) : NULL;
    if (!inner) {
        free(this);
        return NULL;
    }
    *this = (inflater){
        .base = {.share = {.budget = budget}, .head = SIZE_MAX, .feed = collect, .end = end, .drop = drop},
        .coding = coding,
        .most = most,
        .inner = inner};
    return &this->base;
}
