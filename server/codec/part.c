/* Writing stretches of tensors (part.h). Rows, the last axis, are the unit of the inner loops; what opens and
 * closes around a row follows from its number alone. */
#include "part.h"

#include "base64.h"
#include "text.h"

#include <math.h>
#include <string.h>

enum {
    NUMBER = 16, /* "-1.17549435e-38", "-2147483648" */
    GROUP = 3,   /* elements whose bytes are whole groups of base64, whatever they are */
};

static size_t row_width(const srv_part *tensor) {
    return tensor->view.shape[tensor->view.rank - 1];
}

static size_t element_bytes(const srv_part *tensor) {
    return tensor->half ? sizeof(uint16_t) : sizeof(float);
}

/* The first element of a row. */
static const float *row_at(const attn_view *view, size_t row) {
    const float *at = view->data;
    for (size_t axis = view->rank - 1; axis-- > 0; row /= view->shape[axis])
        at += row % view->shape[axis] * view->stride[axis];
    return at;
}

static bool is_packed(const attn_view *view) {
    size_t step = 1;
    for (size_t axis = view->rank; axis-- > 0; step *= view->shape[axis])
        if (view->stride[axis] != step && view->shape[axis] > 1) return false;
    return true;
}

size_t srv_part_step(const srv_part *tensor) {
    return tensor->form == SRV_FORM_BASE64 ? GROUP : 1;
}

/* Brackets that may stand around an element, and those of a stretch's first and last row. */
static size_t list_bound(const srv_part *tensor, size_t count) {
    size_t around = 2 * tensor->view.rank, width = row_width(tensor);
    return count * (NUMBER + 1 + (around + width - 1) / width) + 2 * around;
}

size_t srv_part_bound(const srv_part *tensor, size_t count) {
    size_t bytes = count * element_bytes(tensor);
    switch (tensor->form) {
    case SRV_FORM_LISTS: return list_bound(tensor, count);
    case SRV_FORM_BASE64: return (bytes + 2) / 3 * 4;
    case SRV_FORM_BYTES: break;
    }
    return bytes;
}

size_t srv_part_fitting(const srv_part *tensor, size_t bytes) {
    size_t fixed = srv_part_bound(tensor, 0), group = srv_part_bound(tensor, GROUP) - fixed;
    return bytes < fixed ? 0 : (bytes - fixed) / group * GROUP;
}

size_t srv_part_size(const srv_part *tensor) {
    if (tensor->form == SRV_FORM_LISTS) return SIZE_MAX;
    return srv_part_bound(tensor, attn_view_count(&tensor->view));
}

const char *srv_part_memory(const srv_part *tensor) {
    bool is_text =
        tensor->form == SRV_FORM_BYTES && !tensor->half && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (!is_text) return NULL;
    if (tensor->integers) return (const char *)tensor->integers;
    return is_packed(&tensor->view) ? (const char *)tensor->view.data : NULL;
}

/* How many of the row's axes begin (or, asked of the row behind, end) with it: 1 … rank. */
static size_t brackets(const attn_view *view, size_t row) {
    size_t count = 1;
    for (size_t axis = view->rank - 1; axis > 0 && row % view->shape[axis - 1] == 0; axis--, count++)
        row /= view->shape[axis - 1];
    return count;
}

static char *repeat(char *out, char bracket, size_t count) {
    memset(out, bracket, count);
    return out + count;
}

static char *write_integers(const int32_t *at, size_t count, char *out) {
    for (size_t i = 0; i < count; i++) {
        if (at[i] < 0) *out++ = '-';
        out += srv_size_write((size_t)(at[i] < 0 ? -(int64_t)at[i] : at[i]), out);
        *out++ = ',';
    }
    return out - 1;
}

static char *write_lists(const srv_part *tensor, size_t from, size_t to, char *out) {
    const attn_view *view = &tensor->view;
    size_t width = row_width(tensor), row = from / width, column = from % width;
    for (size_t at = from, count; at < to; at += count, row++, column = 0) {
        count = to - at < width - column ? to - at : width - column;
        if (at > 0) *out++ = ',';
        if (column == 0) out = repeat(out, '[', brackets(view, row));
        out = tensor->integers ? write_integers(tensor->integers + at, count, out)
                               : srv_floats_write(row_at(view, row) + column, count, tensor->precision, out);
        if (column + count == width) out = repeat(out, ']', brackets(view, row + 1));
    }
    return out;
}

static char *write_little(uint32_t value, size_t bytes, char *out) {
    for (size_t i = 0; i < bytes; i++)
        *out++ = (char)(value >> (8 * i));
    return out;
}

/* What does not fit has been refused before anything is written. */
static char *write_row_bytes(const srv_part *tensor, const float *at, size_t count, char *out) {
    attn_dtype_from_f32(tensor->half ? ATTN_F16 : ATTN_F32, at, count, out);
    return out + count * element_bytes(tensor);
}

static char *write_bytes(const srv_part *tensor, size_t from, size_t to, char *out) {
    size_t width = row_width(tensor), row = from / width, column = from % width;
    for (size_t at = from, count; at < to; at += count, row++, column = 0) {
        count = to - at < width - column ? to - at : width - column;
        if (tensor->integers) {
            for (size_t i = 0; i < count; i++)
                out = write_little((uint32_t)tensor->integers[at + i], sizeof(int32_t), out);
        } else {
            out = write_row_bytes(tensor, row_at(&tensor->view, row) + column, count, out);
        }
    }
    return out;
}

static char *write_base64(const srv_part *tensor, size_t from, size_t to, char *out) {
    enum { AT_ONCE = SRV_BASE64_BYTES / sizeof(float) / GROUP * GROUP };
    char bytes[SRV_BASE64_BYTES];
    for (size_t at = from, count; at < to; at += count) {
        count = to - at < AT_ONCE ? to - at : AT_ONCE;
        char *end = write_bytes(tensor, at, at + count, bytes);
        out += srv_base64_write((const unsigned char *)bytes, (size_t)(end - bytes), out);
    }
    return out;
}

char *srv_part_write(const srv_part *tensor, size_t from, size_t to, char *out) {
    switch (tensor->form) {
    case SRV_FORM_LISTS: return write_lists(tensor, from, to, out);
    case SRV_FORM_BASE64: return write_base64(tensor, from, to, out);
    case SRV_FORM_BYTES: break;
    }
    return write_bytes(tensor, from, to, out);
}

float srv_part_at(const srv_part *tensor, size_t element) {
    size_t width = row_width(tensor);
    return row_at(&tensor->view, element / width)[element % width];
}

size_t srv_part_beyond_half(const srv_part *tensor, size_t from, size_t to) {
    enum { AT_ONCE = 512 };
    unsigned char halves[AT_ONCE * sizeof(uint16_t)];
    size_t width = row_width(tensor);
    for (size_t count; from < to; from += count) {
        size_t column = from % width, row = width - column;
        count = to - from < row ? to - from : row;
        if (count > AT_ONCE) count = AT_ONCE;
        size_t fit =
            attn_dtype_from_f32(ATTN_F16, row_at(&tensor->view, from / width) + column, count, halves);
        if (fit < count) return from + fit;
    }
    return to;
}
