/* Text: how wide it is, and as pixels. Drawn by cairo with one font, DejaVu Sans, whose file is opened directly where
 * Debian puts it: no look at the machine's font settings, so the same text is the same pixels. Where that file is not
 * there, cairo takes the sans-serif that it finds. A character that the font lacks is a box. Any thread. */
#ifndef SRV_PICTURE_INK_H
#define SRV_PICTURE_INK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pixels, of a text in a size in pixels. */
double srv_ink_width(const char *text, double size);
/* Shortens a cleaned text (label.h) to a width. */
void srv_ink_fit(char *text, double size, double width);

enum { SRV_INK_CHARACTERS = 1000 }; /* of a mark, at most */

typedef enum srv_anchor { SRV_ANCHOR_START, SRV_ANCHOR_MIDDLE, SRV_ANCHOR_END } srv_anchor;

/* One line of text: the anchor's point on its base line, from left to right or, upright, from below. */
typedef struct srv_mark {
    double x, y, size;
    srv_anchor anchor;
    bool is_upright;
    char *text; /* cleaned */
} srv_mark;

/* Draws marks as coverage, 0 … 255, into width × height bytes that are 0 elsewhere. NULL without memory; to be
 * freed. *stride: bytes from row to row. */
uint8_t *srv_ink_draw(const srv_mark *marks, size_t count, size_t width, size_t height, size_t *stride);

const char *srv_ink_library_version(void);

#endif
