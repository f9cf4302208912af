/* zlib's deflate, which allocates at its beginning and never again (squeeze.h). */
#include "squeeze.h"

#include <stdlib.h>
#include <zlib.h>

struct srv_squeeze {
    z_stream stream;
    bool has_failed;
};

enum {
    WINDOW = 15, /* of 32 KiB, zlib's largest */
    GZIP = 16,   /* added to it: gzip's frame instead of zlib's */
    MEMORY = 8,  /* zlib's default */
};

srv_squeeze *srv_squeeze_new(srv_coding coding) {
    srv_squeeze *squeeze = calloc(1, sizeof *squeeze);
    int window = coding == SRV_CODING_GZIP ? WINDOW + GZIP : WINDOW;
    if (squeeze &&
        deflateInit2(&squeeze->stream, Z_BEST_SPEED, Z_DEFLATED, window, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
        return squeeze;
    free(squeeze);
    return NULL;
}

void srv_squeeze_free(srv_squeeze *squeeze) {
    if (!squeeze) return;
    deflateEnd(&squeeze->stream);
    free(squeeze);
}

/* What does not shrink is stored in blocks with five bytes around each; the frame and the mark of a flush come on
 * top. */
size_t srv_squeeze_room(size_t size) {
    return size + size / 1024 + 128;
}

size_t srv_squeeze_write(srv_squeeze *squeeze, const char *piece, size_t size, bool is_last, char *out) {
    z_stream *stream = &squeeze->stream;
    size_t room = srv_squeeze_room(size);
    if (squeeze->has_failed) return 0;
    stream->next_in = (z_const Bytef *)piece;
    stream->avail_in = (uInt)size;
    stream->next_out = (Bytef *)out;
    stream->avail_out = (uInt)room;
    int code = deflate(stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
    bool is_empty = size == 0 && !is_last && code == Z_BUF_ERROR; /* nothing to do */
    squeeze->has_failed = (code != (is_last ? Z_STREAM_END : Z_OK) && !is_empty) || stream->avail_in > 0;
    return squeeze->has_failed ? 0 : room - stream->avail_out;
}
