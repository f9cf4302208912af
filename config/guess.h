/* Which known name was meant by an unknown one: what error messages suggest. Pure; any thread. */
#ifndef CFG_GUESS_H
#define CFG_GUESS_H

#include <stddef.h>

/* Begins as {0}. */
typedef struct cfg_guess {
    const char *name; /* the nearest of those tried; NULL: none is near enough to be meant */
    size_t edits;
} cfg_guess;

/* Tries a known name. Distance is the insertions, deletions and replacements of bytes that turn one name into the other
 * (Levenshtein 1965). One is near enough where those are at most two in five of the longer name's bytes behind its
 * `lead`, which both have in common and which tells nothing ("--"). Of each name the first 63 bytes count, so that
 * a client's text of any length costs little. */
void cfg_guess_try(cfg_guess *guess, const char *asked, size_t length, const char *known, size_t lead);

#endif
