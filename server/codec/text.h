/* A growing byte buffer for answers. Appending after a failed allocation does nothing; `failed` tells at the
 * end. */
#ifndef SRV_CODEC_TEXT_H
#define SRV_CODEC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct srv_text {
    char *data; /* malloc'ed, not NUL-terminated */
    size_t size, capacity;
    bool failed;
} srv_text;

void srv_text_append(srv_text *text, const char *bytes, size_t size);
void srv_text_append_string(srv_text *text, const char *string);
/* Appends one JSON string literal with quotes, escaped as RFC 8259 asks; `string` is valid UTF-8. */
void srv_text_append_json_string(srv_text *text, const char *string, size_t size);
void srv_text_append_size(srv_text *text, size_t number);
void srv_text_done(srv_text *text);

/* Writes a number in decimal; returns how many characters it has, at most SRV_SIZE_ROOM. */
enum { SRV_SIZE_ROOM = 20 };
size_t srv_size_write(size_t number, char *out);

/* Writes a float32 as a JSON number: the fewest digits that read back to the same float32 (digits 0), or
 * `digits` significant ones (1 … 9). 0.0001 up to 10^9 stand in full, others as 1.5e30. Never depends on the
 * locale. The number must be finite. Returns how many characters it has, at most 16; those behind them, within
 * the room, may be overwritten. */
enum { SRV_FLOAT_ROOM = 32 };
size_t srv_float_write(float number, int digits, char *out);

/* The same for many, at least one, with commas between them, "null" for what is not finite; returns the end. Faster. The
 * room is 17 for each, and SRV_FLOAT_ROOM more. */
char *srv_floats_write(const float *numbers, size_t count, int digits, char *out);

#endif
