/* base64 (RFC 4648, section 4) as it is written; json_scan_data.c reads it. Pure; any thread. */
#ifndef SRV_CODEC_BASE64_H
#define SRV_CODEC_BASE64_H

#include <stddef.h>

enum {
    /* A piece for working through long data: whole groups of characters, whole elements of any type. */
    SRV_BASE64_CHARACTERS = 4096,
    SRV_BASE64_BYTES = SRV_BASE64_CHARACTERS / 4 * 3,
};

/* Writes the text of `size` bytes, 4 characters for each 3 begun, and returns how many: in pieces, where all but the last
 * are a multiple of 3 bytes. */
size_t srv_base64_write(const unsigned char *bytes, size_t size, char *out);

#endif
