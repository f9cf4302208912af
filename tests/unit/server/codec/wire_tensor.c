#include "wire_tensor.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void wire_put_base64(FILE *out, const void *bytes, size_t size) {
    const unsigned char *from = bytes;
    unsigned bits = 0, held = 0;
    size_t written = 0;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | from[i];
        for (held += 8; held >= 6; held -= 6, written++)
            putc(letters[bits >> (held - 6) & 63], out);
    }
    if (held > 0) putc(letters[bits << (6 - held) & 63], out), written++;
    for (; written % 4 != 0; written++)
        putc('=', out);
}

/* malloc'ed bytes of a sound base64 text. */
static unsigned char *base64_bytes(const char *text, size_t *size) {
    size_t length = strlen(text);
    unsigned char *bytes = malloc(length + 1);
    unsigned bits = 0, held = 0;
    *size = 0;
    ck_assert_uint_eq(length % 4, 0);
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        const char *letter = strchr(letters, text[i]);
        ck_assert_ptr_nonnull(letter);
        bits = bits << 6 | (unsigned)(letter - letters);
        if ((held += 6) < 8) continue;
        held -= 8;
        bytes[(*size)++] = (unsigned char)(bits >> held);
    }
    return bytes;
}

static size_t count_of(const size_t *shape, size_t rank) {
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= shape[i];
    return count;
}

static const float *put_lists(FILE *out, wire_form form, const float *at, const size_t *shape, size_t rank) {
    putc('[', out);
    for (size_t i = 0; i < *shape; i++) {
        if (i > 0) putc(',', out);
        if (rank > 1) {
            at = put_lists(out, form, at, shape + 1, rank - 1);
        } else if (form == WIRE_BOOLEANS) {
            fputs(*at++ != 0 ? "true" : "false", out);
        } else {
            fprintf(out, "%.9g", (double)*at++);
        }
    }
    putc(']', out);
    return at;
}

/* Each value's little-endian bytes; the machine that tests is one. */
static size_t put_element(unsigned char *out, wire_form form, float value) {
    double wide = (double)value;
    switch (form) {
    case WIRE_F32: memcpy(out, &value, sizeof value); return sizeof value;
    case WIRE_F64: memcpy(out, &wide, sizeof wide); return sizeof wide;
    default: *out = value != 0; return 1;
    }
}

void wire_put(FILE *out, wire_form form, const float *values, const size_t *shape, size_t rank) {
    static const char *const names[] = {
        [WIRE_F32] = "f32", [WIRE_F64] = "f64", [WIRE_BOOL] = "bool", [WIRE_U8] = "u8"};
    if (form == WIRE_LISTS || form == WIRE_BOOLEANS) {
        put_lists(out, form, values, shape, rank);
        return;
    }
    size_t count = count_of(shape, rank), size = 0;
    unsigned char *bytes = calloc(count + 1, sizeof(double));
    for (size_t i = 0; i < count; i++)
        size += put_element(bytes + size, form, values[i]);
    fprintf(out, "{\"data\":\"");
    wire_put_base64(out, bytes, size);
    fprintf(out, "\",\"dtype\":\"%s\",\"shape\":[", names[form]);
    for (size_t i = 0; i < rank; i++)
        fprintf(out, i == 0 ? "%zu" : ",%zu", shape[i]);
    fputs("]}", out);
    free(bytes);
}

static double *get_lists(const json_t *value, const size_t *shape, size_t rank, double *out) {
    ck_assert(json_is_array(value));
    ck_assert_uint_eq(json_array_size(value), *shape);
    for (size_t i = 0; i < *shape; i++) {
        const json_t *item = json_array_get(value, i);
        if (rank > 1) {
            out = get_lists(item, shape + 1, rank - 1, out);
        } else {
            ck_assert(json_is_number(item) || json_is_null(item));
            *out++ = json_is_null(item) ? -INFINITY : json_number_value(item);
        }
    }
    return out;
}

/* IEEE 754 binary16 by its definition. */
static double half_value(unsigned bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023;
    double magnitude = exponent == 31  ? INFINITY
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

static void get_object(const json_t *value, wire_tensor *out) {
    const json_t *shape = json_object_get(value, "shape");
    const char *dtype = json_string_value(json_object_get(value, "dtype"));
    ck_assert_uint_eq(json_object_size(value), 3);
    ck_assert_ptr_nonnull(dtype);
    out->rank = json_array_size(shape);
    ck_assert_uint_lt(out->rank, WIRE_RANK);
    for (size_t i = 0; i < out->rank; i++)
        out->shape[i] = (size_t)json_integer_value(json_array_get(shape, i));
    out->count = count_of(out->shape, out->rank);
    out->values = calloc(out->count + 1, sizeof *out->values);
    size_t size, width = strcmp(dtype, "f16") == 0 ? 2 : 4;
    unsigned char *bytes = base64_bytes(json_string_value(json_object_get(value, "data")), &size);
    ck_assert_uint_eq(size, out->count * width);
    for (size_t i = 0; i < out->count; i++) {
        const unsigned char *at = bytes + i * width;
        float single;
        int32_t integer;
        memcpy(&single, bytes + i * width, width == 4 ? 4 : 0);
        memcpy(&integer, bytes + i * width, width == 4 ? 4 : 0);
        out->values[i] = width == 2                  ? half_value(at[0] | (unsigned)at[1] << 8)
                         : strcmp(dtype, "i32") == 0 ? integer
                                                     : (double)single;
    }
    free(bytes);
}

wire_tensor wire_get(const json_t *value) {
    wire_tensor tensor = {0};
    if (json_is_object(value)) {
        get_object(value, &tensor);
        return tensor;
    }
    for (const json_t *at = value; json_is_array(at); at = json_array_get(at, 0)) {
        ck_assert_uint_lt(tensor.rank, WIRE_RANK);
        tensor.shape[tensor.rank++] = json_array_size(at);
    }
    ck_assert_uint_gt(tensor.rank, 0);
    tensor.count = count_of(tensor.shape, tensor.rank);
    tensor.values = calloc(tensor.count + 1, sizeof *tensor.values);
    get_lists(value, tensor.shape, tensor.rank, tensor.values);
    return tensor;
}

void wire_done(wire_tensor *tensor) {
    free(tensor->values);
    *tensor = (wire_tensor){0};
}
