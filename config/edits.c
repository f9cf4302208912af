/* One row of the usual matrix at a time (edits.h). */
#include "edits.h"

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t cfg_edits(const char *a, size_t a_length, const char *b, size_t b_length) {
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
