/* The byte buffer that answers are written into. Doubles as it grows; a failed allocation is remembered and
 * every later call does nothing, so that writers check once at the end. One thread at a time. */
#include "text.h"

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

/* Room for `extra` more bytes, or NULL. */
static char *reserve(srv_text *text, size_t extra) {
    size_t needed;
    if (text->failed) return NULL;
    if (!attn_size_add(text->size, extra, &needed)) {
        text->failed = true;
        return NULL;
    }
    if (needed > text->capacity) {
        size_t capacity = text->capacity == 0 ? 256 : text->capacity;
        while (capacity < needed)
            if (!attn_size_mul(capacity, 2, &capacity)) capacity = needed;
        char *data = realloc(text->data, capacity);
        if (data == NULL) {
            text->failed = true;
            return NULL;
        }
        text->data = data;
        text->capacity = capacity;
    }
    return text->data + text->size;
}

void srv_text_append(srv_text *text, const char *bytes, size_t size) {
    if (size == 0) return;
    char *at = reserve(text, size);
    if (at == NULL) return;
    memcpy(at, bytes, size);
    text->size += size;
}

void srv_text_append_string(srv_text *text, const char *string) {
    srv_text_append(text, string, strlen(string));
}

static void append_escape(srv_text *text, unsigned char byte) {
    static const char hex[] = "0123456789abcdef";
    switch (byte) {
    case '"': srv_text_append(text, "\\\"", 2); break;
    case '\\': srv_text_append(text, "\\\\", 2); break;
    case '\b': srv_text_append(text, "\\b", 2); break;
    case '\f': srv_text_append(text, "\\f", 2); break;
    case '\n': srv_text_append(text, "\\n", 2); break;
    case '\r': srv_text_append(text, "\\r", 2); break;
    case '\t': srv_text_append(text, "\\t", 2); break;
    default: {
        char escape[] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
        srv_text_append(text, escape, sizeof escape);
    }
    }
}

void srv_text_append_json_string(srv_text *text, const char *string, size_t size) {
    srv_text_append(text, "\"", 1);
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)string[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        srv_text_append(text, string + start, i - start);
        append_escape(text, byte);
        start = i + 1;
    }
    srv_text_append(text, string + start, size - start);
    srv_text_append(text, "\"", 1);
}

size_t srv_size_write(size_t number, char *out) {
    char digits[SRV_SIZE_ROOM], *end = digits + sizeof digits, *at = end;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(out, at, (size_t)(end - at));
    return (size_t)(end - at);
}

void srv_text_append_size(srv_text *text, size_t number) {
    char digits[SRV_SIZE_ROOM];
    srv_text_append(text, digits, srv_size_write(number, digits));
}

void srv_text_done(srv_text *text) {
    free(text->data);
    *text = (srv_text){0};
}
