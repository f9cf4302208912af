/* The error value's few functions. They allocate nothing and touch only the caller's value; any thread. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *attn_code_name(attn_code code) {
    switch (code) {
#define X(id, name)                                                                                          \
    case id: return name;
        ATTN_CODES(X)
#undef X
    }
    return "unknown";
}

const char *attn_plural(size_t count) {
    return count == 1 ? "" : "s";
}

const char *attn_queries(size_t count) {
    return count == 1 ? "query" : "queries";
}

void attn_error_clear(attn_error *error) {
    if (error == NULL) return;
    error->code = ATTN_OK;
    error->where[0] = '\0';
    error->text[0] = '\0';
}

/* Cuts the bytes of a UTF-8 character that snprintf left without its end. */
static void drop_half_character(char *text) {
    size_t size = strlen(text), tail = 0;
    while (tail < 3 && tail < size && ((unsigned char)text[size - 1 - tail] & 0xC0) == 0x80)
        tail++;
    if (tail == size) return;
    unsigned char lead = (unsigned char)text[size - 1 - tail];
    size_t wanted = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    if (tail < wanted) text[size - 1 - tail] = '\0';
}

/* C0, DEL, and C1 as UTF-8 writes it (C2 80 … C2 9F): any of them could end a line or drive a terminal. */
static void neutralise(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        if (*at < 0x20 || *at == 0x7F) *at = '?';
        if (*at == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F) at[0] = at[1] = '?';
    }
}

attn_code attn_error_set(attn_error *error, attn_code code, const char *where, const char *format, ...) {
    if (error == NULL || error->code != ATTN_OK) return code;
    error->code = code;

    int whole = snprintf(error->where, sizeof error->where, "%s", where != NULL ? where : "");
    if (whole >= (int)sizeof error->where) drop_half_character(error->where);
    neutralise(error->where);

    va_list arguments;
    va_start(arguments, format);
    whole = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    if (whole >= (int)sizeof error->text) drop_half_character(error->text);
    if (whole <= 0) snprintf(error->text, sizeof error->text, "%s", attn_code_name(code));
    neutralise(error->text);
    return code;
}
