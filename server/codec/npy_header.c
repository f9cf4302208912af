/* The header of an NPY array: magic, version, length, and a dictionary as Python writes it, of which the three members
 * that the format has are read and nothing else. Hostile input. Pure; any thread. */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, VERSION = 2 };

typedef struct reader {
    const char *bytes;
    size_t at, end; /* of the dictionary's text */
    srv_npy *out;
    bool has_descr, has_order, has_shape;
    srv_problem *problem;
} reader;

__attribute__((format(printf, 3, 4))) static bool fail(reader *in, size_t offset, const char *format, ...) {
    char where[24], text[ATTN_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
    va_end(arguments);
    snprintf(where, sizeof where, "%zu", offset);
    return srv_problem_set(in->problem, SRV_BAD_BODY, SRV_WHERE_OFFSET, where, "%s", text);
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static void skip(reader *in) {
    while (in->at < in->end && is_blank(in->bytes[in->at]))
        in->at++;
}

/* Passes over blanks and a character, if that is next. */
static bool take(reader *in, char wanted) {
    skip(in);
    if (in->at >= in->end || in->bytes[in->at] != wanted) return false;
    in->at++;
    return true;
}

static bool expect(reader *in, char wanted) {
    if (take(in, wanted)) return true;
    return fail(in, in->at, "'%c' is expected here in the header's dictionary", wanted);
}

/* A string in quotes of either kind, without escapes; what does not fit is cut. */
static bool read_string(reader *in, char *out, size_t size) {
    char quote = take(in, '\'') ? '\'' : take(in, '"') ? '"' : '\0';
    if (quote == '\0') return fail(in, in->at, "a string is expected here in the header's dictionary");
    const char *from = in->bytes + in->at, *to = memchr(from, quote, in->end - in->at);
    if (to == NULL) return fail(in, in->at, "a string that does not end");
    size_t length = (size_t)(to - from), kept = length < size ? length : size - 1;
    memcpy(out, from, kept);
    out[kept] = '\0';
    in->at += length + 1;
    return true;
}

/* Records have a list where others have a string; what is in it does not matter. */
static bool read_descr(reader *in) {
    skip(in);
    in->has_descr = true;
    if (in->at < in->end && in->bytes[in->at] == '[') {
        memcpy(in->out->descr, "records", sizeof "records");
        size_t depth = 0;
        for (; in->at < in->end; in->at++) {
            depth += in->bytes[in->at] == '[' || in->bytes[in->at] == '(';
            depth -= in->bytes[in->at] == ']' || in->bytes[in->at] == ')';
            if (depth == 0) break;
        }
        return expect(in, ']');
    }
    return read_string(in, in->out->descr, sizeof in->out->descr);
}

static bool read_word(reader *in, const char *word) {
    size_t size = strlen(word);
    if (in->end - in->at < size || memcmp(in->bytes + in->at, word, size) != 0) return false;
    in->at += size;
    return true;
}

static bool read_order(reader *in) {
    skip(in);
    in->has_order = true;
    in->out->is_fortran = read_word(in, "True");
    if (in->out->is_fortran || read_word(in, "False")) return true;
    return fail(in, in->at, "fortran_order is True or False");
}

static bool read_axis(reader *in, size_t *out) {
    size_t from, axis = 0;
    skip(in);
    for (from = in->at; in->at < in->end; in->at++) {
        char digit = in->bytes[in->at];
        if (digit < '0' || digit > '9') break;
        if (!attn_size_mul(axis, 10, &axis) || !attn_size_add(axis, (size_t)(digit - '0'), &axis))
            return fail(in, from, "an axis of more elements than can be counted");
    }
    *out = axis;
    return in->at > from || fail(in, from, "a whole number is expected here in the header's shape");
}

static bool read_shape(reader *in) {
    srv_npy *out = in->out;
    size_t from = in->at, axis = 0;
    in->has_shape = true;
    out->count = 1;
    if (!expect(in, '(')) return false;
    while (!take(in, ')')) {
        if (!read_axis(in, &axis)) return false;
        if (!attn_size_mul(out->count, axis, &out->count))
            return fail(in, from, "a shape of more elements than can be counted");
        if (out->rank < SRV_NPY_RANK) out->shape[out->rank] = axis;
        out->rank++;
        skip(in);
        bool more = take(in, ',');
        if (!more && (out->rank == 1 || in->at >= in->end || in->bytes[in->at] != ')'))
            return fail(in, in->at, "',' or the end of the shape is expected here");
    }
    return true;
}

static bool read_member(reader *in) {
    char name[24];
    skip(in);
    size_t from = in->at;
    if (!read_string(in, name, sizeof name) || !expect(in, ':')) return false;
    if (strcmp(name, "descr") == 0 && !in->has_descr) return read_descr(in);
    if (strcmp(name, "fortran_order") == 0 && !in->has_order) return read_order(in);
    if (strcmp(name, "shape") == 0 && !in->has_shape) return read_shape(in);
    return fail(in, from, "the header's dictionary has descr, fortran_order and shape, each once");
}

static bool read_dictionary(reader *in) {
    size_t from = in->at;
    if (!expect(in, '{')) return false;
    while (!take(in, '}')) {
        if (!read_member(in)) return false;
        if (!take(in, ',')) {
            if (!expect(in, '}')) return false;
            break;
        }
    }
    skip(in);
    if (in->at != in->end) return fail(in, in->at, "text behind the header's dictionary");
    return (in->has_descr && in->has_order && in->has_shape) ||
           fail(in, from, "the header's dictionary has descr, fortran_order and shape");
}

/* Where the dictionary lies: version 1 has a length of 2 bytes, the others one of 4, little-endian. */
static bool find_dictionary(reader *in, size_t size) {
    const unsigned char *bytes = (const unsigned char *)in->bytes;
    if (size < MAGIC || memcmp(bytes, magic, MAGIC) != 0)
        return fail(in, 0, "not an NPY array: one begins with \\x93NUMPY, as numpy.save writes it");
    if (size < MAGIC + VERSION)
        return fail(in, size,
                    "the body is cut short within the version; curl sends a file whole with --data-binary, "
                    "and with -d as text");
    unsigned version = bytes[MAGIC];
    if (version < 1 || version > 3 || bytes[MAGIC + 1] != 0)
        return fail(in, MAGIC, "version %u.%u of NPY; 1.0, 2.0 and 3.0 are read", version, bytes[MAGIC + 1]);
    size_t digits = version == 1 ? 2 : 4, begin = MAGIC + VERSION + digits, length = 0;
    if (size < begin) return fail(in, size, "the body is cut short within the header's length");
    for (size_t i = 0; i < digits; i++)
        length |= (size_t)bytes[MAGIC + VERSION + i] << (8 * i);
    if (length > size - begin)
        return fail(in, MAGIC + VERSION,
                    "the header should have %zu bytes and %zu follow; the body may be cut short", length,
                    size - begin);
    in->at = begin;
    in->end = begin + length;
    return true;
}

bool srv_npy_read_header(const char *bytes, size_t size, srv_npy *out, srv_problem *problem) {
    reader in = {.bytes = bytes, .out = out, .problem = problem};
    *out = (srv_npy){0};
    if (!find_dictionary(&in, size) || !read_dictionary(&in)) return false;
    out->data_at = in.end;
    return true;
}
