/* How far one name is from another: what error messages use to guess what was meant. Pure; any thread. */
#ifndef CFG_EDITS_H
#define CFG_EDITS_H

#include <stddef.h>

/* The insertions, deletions and replacements of bytes that turn one name into the other (Levenshtein 1965). Of each
 * name the first 63 bytes count, so that a client's text of any length costs little. */
size_t cfg_edits(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
