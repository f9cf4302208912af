/* Shortening cuts between UTF-8 characters; names that are no UTF-8 are cut somewhere. Pure functions. */
#include "label.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_inside_character(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The last `room` bytes of a string or a little less. */
static const char *tail_of(const char *string, size_t size, size_t room) {
    const char *tail = string + size - room;
    while (is_inside_character(*tail))
        tail++;
    return tail;
}

attn_label attn_label_name(const char *name) {
    enum { HALF = (ATTN_LABEL_SIZE - 4) / 2 };
    attn_label label;
    size_t size = strlen(name);
    if (size < sizeof label.text) {
        memcpy(label.text, name, size + 1);
        return label;
    }
    int head = HALF;
    while (head > HALF - 4 && is_inside_character(name[head]))
        head--;
    snprintf(label.text, sizeof label.text, "%.*s...%s", head, name, tail_of(name, size, HALF));
    return label;
}

attn_place attn_label_path(const char *path) {
    attn_place place;
    size_t size = strlen(path);
    if (size < sizeof place.text) {
        memcpy(place.text, path, size + 1);
    } else {
        snprintf(place.text, sizeof place.text, "...%s", tail_of(path, size, sizeof place.text - 4));
    }
    return place;
}

attn_shape_text attn_label_shape(const size_t *shape, size_t rank) {
    attn_shape_text label;
    size_t at = 0;
    label.text[at++] = '[';
    for (size_t axis = 0; axis < rank; axis++)
        at += (size_t)snprintf(label.text + at, sizeof label.text - at, axis == 0 ? "%zu" : ",%zu",
                               shape[axis]);
    label.text[at++] = ']';
    label.text[at] = '\0';
    return label;
}
