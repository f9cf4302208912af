/* The few forms of JSON (RFC 8259) that a safetensors header is made of: strings, whole numbers, and the
 * marks of objects and arrays. No tree is built: a general reader takes twenty times the header's size for
 * one, and does not tell when it ran out of memory. Anything else that JSON has is refused where it would
 * stand, so nothing nests. */
#ifndef ATTN_WEIGHTS_HEADER_TEXT_H
#define ATTN_WEIGHTS_HEADER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A place in a text. The text is changed while being read: strings are decoded where they stand. */
typedef struct attn_header_text {
    char *begin, *at, *end;
    const char *problem; /* after a failure: what would be accepted at `at` */
} attn_header_text;

/* The next byte that is no white space, without taking it; '\0' at the end. */
char attn_header_peek(attn_header_text *text);
/* Takes that byte if it is `mark`; `problem` is said otherwise. */
bool attn_header_take(attn_header_text *text, char mark, const char *problem);
/* After an opening mark (`first`) or a value: whether another value follows; takes the comma or the closing
 * mark. */
bool attn_header_more(attn_header_text *text, char close, bool first, bool *more);
/* Takes a string: valid UTF-8 without U+0000, NUL-terminated in place. NULL on failure. */
char *attn_header_string(attn_header_text *text);
/* Takes a whole number of at least 0 that fits; 4.0, 1e2, 01 and -0 are none. Sets no problem. */
bool attn_header_size(attn_header_text *text, size_t *out);

#endif
