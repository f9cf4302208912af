/* base64 (RFC 4648, section 4), strictly: its own alphabet, padding required, no spaces or line ends, no bits
 * behind the last byte. Pure; any thread. */
#ifndef SRV_CODEC_BASE64_H
#define SRV_CODEC_BASE64_H

#include <stdbool.h>
#include <stddef.h>

enum {
    /* A piece for working through long data: whole groups of characters, whole elements of any type. */
    SRV_BASE64_CHARACTERS = 4096,
    SRV_BASE64_BYTES = SRV_BASE64_CHARACTERS / 4 * 3,
};

/* Writes the text of `size` bytes, 4 characters for each 3 begun, and returns how many: in pieces, where all but the last
 * are a multiple of 3 bytes. */
size_t srv_base64_write(const unsigned char *bytes, size_t size, char *out);

/* How many bytes `size` characters hold, from their number and the padding at the end alone; false where no
 * text has that length. */
bool srv_base64_size(const char *text, size_t size, size_t *out);

/* Decodes a whole text, or a piece of one that does not end it (`last` false: a multiple of 4 characters, no
 * padding). Returns how many characters are sound: `size`, or the place of the first that is not. */
size_t srv_base64_decode(const char *text, size_t size, bool last, unsigned char *out);

#endif
