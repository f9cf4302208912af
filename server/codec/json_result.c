/* Tensors of answers (json_result.h), number by number into the answer's text: no copy in between. */
#include "json_result.h"

#include "base64.h"
#include "half.h"

#include <math.h>
#include <string.h>

static bool is_over(const srv_result_writer *to) {
    return to->out->failed || to->problem->id != SRV_NO_PROBLEM;
}

static void put_number(const srv_result_writer *to, float number) {
    if (isfinite(number)) {
        srv_text_append_float(to->out, number, to->ask->precision);
    } else {
        srv_text_append_string(to->out, "null");
    }
}

/* `rank` axes, the outermost first, as nested lists. */
static void put_axes(const srv_result_writer *to, const size_t *shape, const size_t *stride, size_t rank,
                     const float *at) {
    srv_text_append(to->out, "[", 1);
    for (size_t i = 0; i < *shape && !is_over(to); i++, at += *stride) {
        if (i > 0) srv_text_append(to->out, ",", 1);
        if (rank > 1) {
            put_axes(to, shape + 1, stride + 1, rank - 1, at);
        } else {
            put_number(to, *at);
        }
    }
    srv_text_append(to->out, "]", 1);
}

/* Bytes on their way into base64: full pieces go on at once. */
typedef struct packer {
    srv_text *out;
    size_t used;
    unsigned char bytes[SRV_BASE64_BYTES];
} packer;

static void pack(packer *into, uint32_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        into->bytes[into->used++] = (unsigned char)(value >> (8 * i));
    if (into->used < sizeof into->bytes) return;
    srv_base64_append(into->out, into->bytes, into->used);
    into->used = 0;
}

static void pack_number(const srv_result_writer *to, packer *into, float number) {
    uint32_t bits;
    uint16_t half = 0;
    if (!to->ask->half) {
        memcpy(&bits, &number, sizeof bits);
        pack(into, bits, sizeof bits);
        return;
    }
    if (!srv_half_from_float(number, &half))
        srv_problem_set(to->problem, SRV_NOT_REPRESENTABLE, SRV_WHERE_POINTER, "/return/dtype",
                        "'%s' holds %.9g; f16 ends at 65504, f32 is expected", to->member, (double)number);
    pack(into, half, sizeof half);
}

static void pack_axes(const srv_result_writer *to, packer *into, const size_t *shape, const size_t *stride,
                      size_t rank, const float *at) {
    for (size_t i = 0; i < *shape && !is_over(to); i++, at += *stride) {
        if (rank > 1) {
            pack_axes(to, into, shape + 1, stride + 1, rank - 1, at);
        } else {
            pack_number(to, into, *at);
        }
    }
}

static void begin_object(const srv_result_writer *to, const char *dtype, const attn_view *view) {
    srv_text_append_string(to->out, "{\"dtype\":\"");
    srv_text_append_string(to->out, dtype);
    srv_text_append_string(to->out, "\",\"shape\":[");
    for (size_t i = 0; i < view->rank; i++) {
        if (i > 0) srv_text_append(to->out, ",", 1);
        srv_text_append_size(to->out, view->shape[i]);
    }
    srv_text_append_string(to->out, "],\"data\":\"");
}

static void end_object(packer *from) {
    srv_base64_append(from->out, from->bytes, from->used);
    srv_text_append_string(from->out, "\"}");
}

void srv_json_put_view(const srv_result_writer *to, const attn_view *view) {
    if (!to->ask->base64) {
        put_axes(to, view->shape, view->stride, view->rank, view->data);
        return;
    }
    packer into = {.out = to->out};
    begin_object(to, to->ask->half ? "f16" : "f32", view);
    pack_axes(to, &into, view->shape, view->stride, view->rank, view->data);
    end_object(&into);
}

static void put_integer(srv_text *out, int32_t number) {
    if (number < 0) srv_text_append(out, "-", 1);
    srv_text_append_size(out, (size_t)(number < 0 ? -(int64_t)number : number));
}

/* Returns how many integers were written. */
static size_t put_index_axes(const srv_result_writer *to, const size_t *shape, size_t rank,
                             const int32_t *at) {
    size_t used = 0;
    srv_text_append(to->out, "[", 1);
    for (size_t i = 0; i < *shape && !is_over(to); i++) {
        if (i > 0) srv_text_append(to->out, ",", 1);
        if (rank > 1) {
            used += put_index_axes(to, shape + 1, rank - 1, at + used);
        } else {
            put_integer(to->out, at[used++]);
        }
    }
    srv_text_append(to->out, "]", 1);
    return used;
}

void srv_json_put_indices(const srv_result_writer *to, const attn_view *shape, const int32_t *indices) {
    if (!to->ask->base64) {
        put_index_axes(to, shape->shape, shape->rank, indices);
        return;
    }
    packer into = {.out = to->out};
    size_t count = attn_view_count(shape);
    begin_object(to, "i32", shape);
    for (size_t i = 0; i < count && !is_over(to); i++)
        pack(&into, (uint32_t)indices[i], sizeof *indices);
    end_object(&into);
}
