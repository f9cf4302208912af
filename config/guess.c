/* Distances by one row of the usual matrix at a time (guess.h). */
#include "guess.h"

#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t edits_between(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t row[LONGEST + 1], rows = least(a_length, LONGEST), columns = least(b_length, LONGEST);
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j - 1], row[j]) + 1);
        }
    }
    return row[columns];
}

void cfg_guess_try(cfg_guess *guess, const char *asked, size_t length, const char *known, size_t lead) {
    size_t known_length = strlen(known),
           longer = least(length > known_length ? length : known_length, LONGEST);
    size_t edits = edits_between(asked, length, known, known_length);
    if (longer < lead || 5 * edits > 2 * (longer - lead)) return;
    if (guess->name && guess->edits <= edits) return;
    *guess = (cfg_guess){known, edits};
}
