/* Names and shapes from files, short enough that an error keeps room for what it says about them. Plain
 * values. */
#ifndef ATTN_WEIGHTS_LABEL_H
#define ATTN_WEIGHTS_LABEL_H

#include "../base/error.h"
#include "model.h"

#include <stddef.h>

enum { ATTN_LABEL_SIZE = 100 };

typedef struct attn_label {
    char text[ATTN_LABEL_SIZE];
} attn_label;

typedef struct attn_place {
    char text[ATTN_WHERE_SIZE];
} attn_place;

typedef struct attn_shape_text {
    char text[ATTN_FILE_RANK * 21 + 3];
} attn_shape_text;

/* A tensor's name; the middle of a long one becomes "...". */
attn_label attn_label_name(const char *name);
/* A file's path for attn_error.where; the beginning of a long one becomes "...". */
attn_place attn_label_path(const char *path);
/* "[3,4]". */
attn_shape_text attn_label_shape(const size_t *shape, size_t rank);

#endif
