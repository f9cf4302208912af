/* Places in a JSON body and plain values: the ground that the decoder's other files stand on. */
#include "json_walk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends one step as RFC 6901 writes it; false when it does not fit. */
static bool append_step(const srv_place *place, char *out, size_t size, size_t *used) {
    char digits[24];
    const char *name = place->name;
    if (name == NULL) {
        snprintf(digits, sizeof digits, "%zu", place->index);
        name = digits;
    }
    size_t at = *used;
    if (at + 1 >= size) return false;
    out[at++] = '/';
    for (; *name != '\0'; name++) {
        const char *escape = *name == '~' ? "~0" : *name == '/' ? "~1" : NULL;
        size_t length = escape == NULL ? 1 : 2;
        if (at + length >= size) return false;
        memcpy(out + at, escape == NULL ? name : escape, length);
        at += length;
    }
    *used = at;
    return true;
}

/* Half a pointer would point elsewhere: what does not fit points to the last step that did. */
static bool append_place(const srv_place *place, char *out, size_t size, size_t *used) {
    if (place == NULL) return true;
    return append_place(place->above, out, size, used) && append_step(place, out, size, used);
}

bool srv_place_fail(const srv_place *place, srv_problem *problem, srv_problem_id id, const char *format,
                    ...) {
    char where[ATTN_WHERE_SIZE], text[ATTN_TEXT_SIZE];
    size_t used = 0;
    append_place(place, where, sizeof where, &used);
    where[used] = '\0';
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
    va_end(arguments);
    return srv_problem_set(problem, id, SRV_WHERE_POINTER, where, "%s", text);
}

const char *srv_json_found(const json_t *value, char buffer[SRV_FOUND_SIZE]) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: snprintf(buffer, SRV_FOUND_SIZE, "a list of %zu", json_array_size(value)); return buffer;
    case JSON_STRING: return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        snprintf(buffer, SRV_FOUND_SIZE, "the number %.9g", json_number_value(value));
        return buffer;
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: break;
    }
    return "null";
}

const char *srv_json_quote(const char *text, size_t size, char buffer[SRV_QUOTE_SIZE]) {
    enum { LIMIT = 64 };
    size_t kept = size;
    if (size > LIMIT) {
        kept = LIMIT;
        while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
            kept--;
    }
    snprintf(buffer, SRV_QUOTE_SIZE, "%.*s%s", (int)kept, text, kept < size ? "…" : "");
    return buffer;
}

void srv_json_add_name(char list[SRV_NAMES_SIZE], const char *name) {
    size_t used = strlen(list);
    snprintf(list + used, SRV_NAMES_SIZE - used, "%s%s", used > 0 ? ", " : "", name);
}

/* From 2^53 on a double no longer tells whole numbers apart. */
bool srv_json_whole(const json_t *value, const srv_place *place, srv_problem *problem, size_t low,
                    size_t high, size_t *out) {
    static const double limit = 0x1p53;
    char found[SRV_FOUND_SIZE];
    if (!json_is_number(value))
        return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; a whole number is expected",
                              srv_json_found(value, found));
    double number = json_number_value(value);
    if (number != floor(number))
        return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; a whole number is expected",
                              srv_json_found(value, found));
    if (number >= (double)low && number < limit && (size_t)number <= high) {
        *out = (size_t)number;
        return true;
    }
    if (high == SIZE_MAX)
        return srv_place_fail(place, problem, SRV_OUT_OF_RANGE,
                              "found %s; %zu or more is expected, below 2^53", srv_json_found(value, found),
                              low);
    return srv_place_fail(place, problem, SRV_OUT_OF_RANGE, "found %s; %zu to %zu is expected",
                          srv_json_found(value, found), low, high);
}

bool srv_json_float(const json_t *value, const srv_place *place, srv_problem *problem, float *out) {
    char found[SRV_FOUND_SIZE];
    if (!json_is_number(value))
        return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; a number is expected",
                              srv_json_found(value, found));
    float number = (float)json_number_value(value);
    if (!isfinite(number))
        return srv_place_fail(place, problem, SRV_OUT_OF_RANGE,
                              "found %s; float32 holds magnitudes up to 3.4028235e38",
                              srv_json_found(value, found));
    *out = number;
    return true;
}
