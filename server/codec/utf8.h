/* Texts from elsewhere: whether they are UTF-8, and how they are made fit to be shown. Pure; any thread. */
#ifndef SRV_CODEC_UTF8_H
#define SRV_CODEC_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence at `at`, of which `left` bytes are there (Unicode 15, table 3-7); 0
 * where there is none. */
size_t srv_utf8_length(const char *at, size_t left);

bool srv_is_utf8(const char *text);

/* What to show for the next character: *taken bytes of `at` (at least 1 of `left`) stand for *size bytes at the
 * returned place. Bytes that are no UTF-8 become U+FFFD, control characters '?'. */
const char *srv_utf8_shown(const char *at, size_t left, size_t *taken, size_t *size);

/* out = text as shown, cut before the first character that does not fit; NUL-terminated. */
void srv_utf8_clean(char *out, size_t out_size, const char *text);

#endif
