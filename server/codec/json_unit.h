/* The inside of JSON strings (RFC 8259, section 7), one character or escape at a time. Pure; any thread. */
#ifndef SRV_CODEC_JSON_UNIT_H
#define SRV_CODEC_JSON_UNIT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum srv_unit {
    SRV_UNIT_WHOLE,
    SRV_UNIT_CUT,   /* more bytes will tell */
    SRV_UNIT_WRONG, /* no string has it: a control character, a broken escape, bytes that are no UTF-8 */
} srv_unit;

enum { SRV_UNIT_BYTES = 12 }; /* of the longest one, a pair of \uXXXX */

/* The character or escape that begins at `at`, of which `left` bytes (1 or more) are there, and which is no quote.
 * Whole: *taken bytes of it stand for *size bytes of UTF-8, which go to out. */
srv_unit srv_json_unit(const char *at, size_t left, size_t *taken, char out[4], size_t *size);

/* Whether the inside of a string of `size` bytes says `name`, which is ASCII. */
bool srv_json_is_named(const char *inside, size_t size, const char *name);

#endif
