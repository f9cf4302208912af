/* A tensor as a part of an answer: its elements as bytes, any stretch of them, by any worker, in any order. Pure:
 * reads the tensor, writes where it is told. */
#ifndef SRV_CODEC_PART_H
#define SRV_CODEC_PART_H

#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum srv_form {
    SRV_FORM_LISTS,  /* nested JSON lists of decimal numbers; −Infinity is null */
    SRV_FORM_BYTES,  /* little-endian numbers, one behind the other */
    SRV_FORM_BASE64, /* those as base64, without quotes */
} srv_form;

typedef struct srv_part {
    attn_view view;
    const int32_t *integers; /* NULL: the view's floats; else packed integers in the view's shape */
    srv_form form;
    bool half;          /* binary16 instead of binary32; not with lists or integers */
    int precision;      /* of lists: 1 … 9 significant digits; 0: the shortest text that reads back */
    const char *member; /* whose numbers they are, for a problem's text; static storage */
} srv_part;

/* Writers may use so many bytes more than they return. */
enum { SRV_PART_SLACK = 32 };

/* Where a stretch may begin and end: at multiples of this many elements, or at the tensor's end. */
size_t srv_part_step(const srv_part *tensor);
/* Upper bound for the bytes of a stretch of `count` elements. */
size_t srv_part_bound(const srv_part *tensor, size_t count);
/* How many elements a stretch of at most `bytes` bytes can have; a multiple of the step. */
size_t srv_part_fitting(const srv_part *tensor, size_t bytes);
/* Exact bytes of the whole tensor; SIZE_MAX for lists, whose text tells only when it is written. */
size_t srv_part_size(const srv_part *tensor);
/* The tensor's own memory where that is the text already; NULL: it must be written. */
const char *srv_part_memory(const srv_part *tensor);

/* Writes the elements [from, to); returns the end of what has been written. */
char *srv_part_write(const srv_part *tensor, size_t from, size_t to, char *out);

/* The first of the elements [from, to) that binary16 cannot hold, or `to`. */
size_t srv_part_beyond_half(const srv_part *tensor, size_t from, size_t to);
/* One element. */
float srv_part_at(const srv_part *tensor, size_t element);

#endif
