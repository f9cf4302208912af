#include "packed.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int window_of(const char *coding) {
    return strcmp(coding, "gzip") == 0 ? 15 + 16 : 15;
}

char *packed(const char *coding, const char *bytes, size_t size, size_t *packed_size) {
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, window_of(coding), 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&stream, size);
    char *out = malloc(room);
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *packed_size = stream.total_out;
    deflateEnd(&stream);
    return out;
}

char *unpacked(const char *coding, const char *bytes, size_t size, size_t *unpacked_size) {
    z_stream stream = {.next_in = (z_const Bytef *)bytes, .avail_in = (uInt)size};
    ck_assert_int_eq(inflateInit2(&stream, window_of(coding)), Z_OK);
    size_t room = 4096;
    char *out = malloc(room + 1);
    int code = Z_OK;
    while (code == Z_OK) {
        if (stream.total_out == room) out = realloc(out, 2 * room + 1), room *= 2;
        stream.next_out = (Bytef *)out + stream.total_out;
        stream.avail_out = (uInt)(room - stream.total_out);
        code = inflate(&stream, Z_NO_FLUSH);
    }
    ck_assert_int_eq(code, Z_STREAM_END);
    ck_assert_uint_eq(stream.avail_in, 0);
    *unpacked_size = stream.total_out;
    out[stream.total_out] = '\0';
    inflateEnd(&stream);
    return out;
}
