/* Labels (label.h). */
#include "label.h"

#include <string.h>

typedef struct block {
    uint32_t first, last;
} block;

static bool is_in(const block *blocks, size_t count, uint32_t character) {
    for (size_t i = 0; i < count; i++)
        if (character >= blocks[i].first && character <= blocks[i].last) return true;
    return false;
}

#define IS_IN(blocks, character) is_in(blocks, sizeof(blocks) / sizeof *(blocks), character)

uint32_t srv_character(const char *at, size_t *size) {
    const unsigned char *bytes = (const unsigned char *)at;
    *size = bytes[0] < 0x80 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
    uint32_t character = *size == 1 ? bytes[0] : bytes[0] & (0xffu >> (*size + 1));
    for (size_t i = 1; i < *size; i++)
        character = character << 6 | (bytes[i] & 0x3f);
    return character;
}

bool srv_character_is_plain(uint32_t character) {
    static const block unfit[] = {
        {0, 0x1f},        {0x7f, 0x9f},       /* controls */
        {0x61c, 0x61c},   {0x200e, 0x200f},   /* direction marks */
        {0x2028, 0x202e}, {0x2066, 0x2069},   /* line and paragraph ends, embeddings, isolates */
        {0xfdd0, 0xfdef}, {0xfeff, 0xfeff},   /* noncharacters, byte order mark */
        {0xfff9, 0xfffb}, {0xe0001, 0xe007f}, /* annotations, tags */
    };
    return !IS_IN(unfit, character) && (character & 0xfffe) != 0xfffe;
}

size_t srv_character_columns(uint32_t character) {
    static const block joining[] = {
        {0x300, 0x36f},     {0x483, 0x489},     {0x591, 0x5bd},   {0x5bf, 0x5bf},   {0x5c1, 0x5c2},
        {0x5c4, 0x5c5},     {0x610, 0x61a},     {0x64b, 0x65f},   {0x670, 0x670},   {0x6d6, 0x6dc},
        {0x6df, 0x6e4},     {0x6e7, 0x6e8},     {0x6ea, 0x6ed},   {0x93c, 0x93c},   {0x941, 0x948},
        {0x94d, 0x94d},     {0xe31, 0xe31},     {0xe34, 0xe3a},   {0xe47, 0xe4e},   {0x1ab0, 0x1aff},
        {0x1dc0, 0x1dff},   {0x200b, 0x200d},   {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
        {0x1f3fb, 0x1f3ff}, {0xe0100, 0xe01ef},
    };
    static const block wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97c},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
        {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };
    return IS_IN(joining, character) ? 0 : IS_IN(wide, character) ? 2 : 1;
}

/* What stands for a character that is not shown as it is; NULL: itself. */
static const char *stand_in(uint32_t character, bool is_outer) {
    if (character == ' ' && is_outer) return "␣";
    if (character == '\n' || character == '\r' || character == 0x2028 || character == 0x2029) return "⏎";
    if (character == '\t') return "⇥";
    return srv_character_is_plain(character) ? NULL : "\xef\xbf\xbd";
}

void srv_label_clean(const char *text, size_t size, size_t characters, char *out) {
    size_t first = 0, last = size, used = 0, taken = 0, count = 0;
    while (first < size && text[first] == ' ')
        first++;
    while (last > first && text[last - 1] == ' ')
        last--;
    for (size_t at = 0; at < size; at += taken, count++) {
        uint32_t character = srv_character(text + at, &taken);
        if (count + 1 == characters && at + taken < size) {
            memcpy(out + used, "…", sizeof "…");
            return;
        }
        const char *other = stand_in(character, at < first || at >= last);
        size_t length = other ? strlen(other) : taken;
        memcpy(out + used, other ? other : text + at, length);
        used += length;
    }
    out[used] = '\0';
}

size_t srv_label_columns(const char *text) {
    size_t columns = 0, size;
    for (; *text != '\0'; text += size)
        columns += srv_character_columns(srv_character(text, &size));
    return columns;
}

bool srv_label_shorten(char *text) {
    static const char ellipsis[] = "…";
    size_t length = strlen(text), end = sizeof ellipsis - 1;
    if (length >= end && strcmp(text + length - end, ellipsis) == 0) length -= end;
    size_t size;
    bool is_joining = true;
    while (length > 0 && is_joining) {
        do {
            length--;
        } while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80);
        is_joining = srv_character_columns(srv_character(text + length, &size)) == 0;
    }
    memcpy(text + length, ellipsis, sizeof ellipsis);
    return length > 0;
}

/* Nothing is written behind the text: what stands there may be the next word. */
size_t srv_label_fit(char *text, size_t columns) {
    static const char ellipsis[] = "…";
    size_t left = srv_label_columns(text), total = strlen(text), length = total, size;
    bool is_joining = false; /* what was taken off last belongs to the character before it */
    if (left <= columns) return left;
    while (length > 0 && (left + 1 > columns || length + sizeof ellipsis - 1 > total || is_joining)) {
        do {
            length--;
        } while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80);
        size_t taken = srv_character_columns(srv_character(text + length, &size));
        is_joining = taken == 0;
        left -= taken;
    }
    text[length] = '\0';
    if (length + sizeof ellipsis - 1 > total) return left;
    memcpy(text + length, ellipsis, sizeof ellipsis);
    return left + 1;
}

bool srv_character_is_rtl(uint32_t character) {
    static const block blocks[] = {
        {0x590, 0x8ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfefc}, {0x10800, 0x10fff}, {0x1e800, 0x1efff},
    };
    return IS_IN(blocks, character) && !(character >= 0x660 && character <= 0x669);
}

/* Bytes of the character at `at` with the marks that join it. */
static size_t cluster(const char *at) {
    size_t size, end;
    srv_character(at, &end);
    while (at[end] != '\0' && srv_character_columns(srv_character(at + end, &size)) == 0)
        end += size;
    return end;
}

/* Bytes of the run that begins at `at`: from a character written from right to left to the last such one, over spaces
 * and what has no direction between them. */
static size_t rtl_run(const char *at) {
    size_t size, end = 0;
    for (size_t i = 0; at[i] != '\0'; i += cluster(at + i)) {
        uint32_t character = srv_character(at + i, &size);
        if (srv_character_is_rtl(character))
            end = i + cluster(at + i);
        else if (end == 0 || character != ' ')
            break;
    }
    return end;
}

void srv_label_visual(const char *text, char *out, size_t room) {
    size_t used = 0, length = strlen(text);
    if (length + 1 > room) length = 0; /* no label is so long */
    for (size_t at = 0; at < length;) {
        size_t run = rtl_run(text + at), size;
        if (run == 0) run = cluster(text + at);
        for (size_t i = 0; i < run; i += size) { /* each cluster to its place from the run's end */
            size = cluster(text + at + i);
            memcpy(out + used + run - i - size, text + at + i, size);
        }
        used += run;
        at += run;
    }
    out[used] = '\0';
}
