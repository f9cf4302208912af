/* Clients' texts made fit to be drawn: one line of printable UTF-8 that no XML reader, terminal or log can trip over.
 * Pure; any thread. */
#ifndef SRV_PICTURE_LABEL_H
#define SRV_PICTURE_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a cleaned text of so many characters. */
#define SRV_CLEAN_SIZE(characters) (4 * (characters) + 8)
enum { SRV_LABEL_CHARACTERS = 64, SRV_LABEL_SIZE = SRV_CLEAN_SIZE(SRV_LABEL_CHARACTERS) };

/* The code point at `at` (valid UTF-8), whose bytes go to *size. */
uint32_t srv_character(const char *at, size_t *size);

/* Whether a text may hold the code point as it is: no control, no change of direction, nothing that XML forbids. */
bool srv_character_is_plain(uint32_t character);

/* out = text with line ends as ⏎, tabs as ⇥, outer spaces as ␣ and everything else that is not plain as U+FFFD; cut
 * with an ellipsis to so many characters. */
void srv_label_clean(const char *text, size_t size, size_t characters, char *out);

/* Columns of a terminal: 0 for marks that join the character before, 2 for wide ones, else 1 (after Unicode 15,
 * UAX #11 and the general categories Mn and Me, by blocks). */
size_t srv_character_columns(uint32_t character);
size_t srv_label_columns(const char *text);
/* Cuts a cleaned text with an ellipsis where it takes more columns; returns how many it takes then. Less than an ellipsis in
 * bytes is cut to nothing. */
size_t srv_label_fit(char *text, size_t columns);

/* Whether the code point is written from right to left (Hebrew, Arabic and their kin, by blocks). */
bool srv_character_is_rtl(uint32_t character);

/* out = the text in the order of its places from left to right: runs of characters that are written from right to left
 * are turned around, marks stay behind the character that they join. (Of Unicode's UAX #9 what single words need.) */
void srv_label_visual(const char *text, char *out, size_t room);

/* Takes the last character and the marks that join it off, and puts an ellipsis there, for which there must be room: two
 * bytes more than the text has; false where that is all. */
bool srv_label_shorten(char *text);

#endif
