/* base64 in a "data" member (json_scan.h): decoded as it comes, behind the elements that its field has already. What is
 * not base64 ends the decoding, and is told by its place when the tensor is read; what no string has breaks the text.
 *
 * Elements of another type than float32 are converted at once where "dtype" stood before "data", else at the end. */
#include "json_scan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NO_CODE = 0x80, PIECE = 3072 };

/* The alphabet's values (RFC 4648, section 4); NO_CODE: not of it. */
static const unsigned char *codes(void) {
#define X NO_CODE
#define X16 X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X
    static const unsigned char table[256] = {
        X16, X16, X,  X,  X,  X,  X,  X,  X,  X,  X,   X,   X,   62,  X,   X,   X,   63, 52, 53, 54, 55,
        56,  57,  58, 59, 60, 61, X,  X,  X,  X,  X,   X,   X,   0,   1,   2,   3,   4,  5,  6,  7,  8,
        9,   10,  11, 12, 13, 14, 15, 16, 17, 18, 19,  20,  21,  22,  23,  24,  25,  X,  X,  X,  X,  X,
        X,   26,  27, 28, 29, 30, 31, 32, 33, 34, 35,  36,  37,  38,  39,  40,  41,  42, 43, 44, 45, 46,
        47,  48,  49, 50, 51, X,  X,  X,  X,  X,  X16, X16, X16, X16, X16, X16, X16, X16};
#undef X16
#undef X
    return table;
}

static const struct {
    const char *name;
    attn_dtype dtype;
} converted[] = {{"f16", ATTN_F16}, {"bf16", ATTN_BF16}, {"f64", ATTN_F64}};

/* What the elements must be converted from, as far as that is known; F32: they need not. */
static attn_dtype known_dtype(const srv_scan *scan, const srv_nest *nest) {
    const char *name = scan->text.data + scan->dtype;
    for (size_t i = 0; nest->element == SRV_ELEMENT_NUMBER && i < sizeof converted / sizeof *converted; i++)
        if (scan->dtype_end - scan->dtype == strlen(converted[i].name) &&
            memcmp(name, converted[i].name, strlen(converted[i].name)) == 0)
            return converted[i].dtype;
    return ATTN_F32;
}

bool srv_scan_data_begin(srv_scan *scan, srv_problem *problem) {
    static const char zeros[sizeof(float)];
    srv_capture *capture = scan->captures + scan->capture;
    srv_buffer *elements = &capture->nest.elements;
    char number[24];
    scan->mode = SRV_SCAN_DATA;
    scan->data_text = scan->text.size;
    /* What another part left over must not shift this one's floats. */
    size_t loose = capture->nest.element == SRV_ELEMENT_NUMBER ? elements->size % sizeof(float) : 0;
    if (loose > 0 && !srv_buffer_append(elements, zeros, sizeof(float) - loose, scan->share, problem))
        return false;
    scan->convert = known_dtype(scan, &capture->nest);
    scan->part = (srv_json_data){.first = elements->size, .unsound = SIZE_MAX, .too_large = SIZE_MAX};
    scan->padded = SIZE_MAX;
    scan->has_loose_bits = false;
    scan->group_size = scan->head_size = scan->unit_size = scan->byte_count = 0;
    int length = snprintf(number, sizeof number, "%zu", capture->data.size / sizeof(srv_json_data));
    return srv_scan_add(scan, number, (size_t)length, problem);
}

void srv_json_data_convert(srv_json_data *part, attn_dtype dtype, const void *from, size_t before,
                           size_t count, float *to) {
    attn_dtype_to_f32(dtype, from, count, to);
    for (size_t i = 0; dtype == ATTN_F64 && i < count; i++) {
        double value;
        memcpy(&value, (const char *)from + i * sizeof value, sizeof value); /* float32 has lost it */
        if (isfinite(to[i]) || part->too_large != SIZE_MAX || !isfinite(value)) continue;
        part->too_large = before + i;
    }
    part->was_converted = true;
}

static bool add_converted(srv_scan *scan, const unsigned char *bytes, size_t size, srv_problem *problem) {
    srv_buffer *elements = &srv_scan_nest(scan)->elements;
    size_t width = attn_dtype_bits(scan->convert) / 8, count = size / width;
    if (!srv_buffer_reserve(elements, count * sizeof(float), scan->share, problem)) return false;
    srv_json_data_convert(&scan->part, scan->convert, bytes,
                          (elements->size - scan->part.first) / sizeof(float), count,
                          (float *)(void *)(elements->data + elements->size));
    elements->size += count * sizeof(float);
    return true;
}

/* Bytes of the data: kept, or converted as soon as an element is whole. */
static bool add_bytes(srv_scan *scan, const unsigned char *bytes, size_t size, srv_problem *problem) {
    if (scan->convert == ATTN_F32)
        return srv_buffer_append(&srv_scan_nest(scan)->elements, bytes, size, scan->share, problem);
    size_t width = attn_dtype_bits(scan->convert) / 8;
    while (size > 0 && scan->byte_count > 0) {
        scan->bytes[scan->byte_count++] = *bytes++;
        size--;
        if (scan->byte_count < width) continue;
        scan->byte_count = 0;
        if (!add_converted(scan, scan->bytes, width, problem)) return false;
    }
    size_t whole = size / width * width;
    memcpy(scan->bytes + scan->byte_count, bytes + whole, size - whole);
    scan->byte_count += size - whole;
    return whole == 0 || add_converted(scan, bytes, whole, problem);
}

/* Four characters have come; `kept` of them are not padding. */
static bool end_group(srv_scan *scan, size_t kept, srv_problem *problem) {
    const unsigned char *group = scan->group;
    const unsigned char bytes[3] = {(unsigned char)(group[0] << 2 | group[1] >> 4),
                                    (unsigned char)(group[1] << 4 | group[2] >> 2),
                                    (unsigned char)(group[2] << 6 | group[3])};
    scan->group_size = 0;
    /* One text for the same bytes (RFC 4648, section 3.5). */
    if (kept < 4 && bytes[kept - 1] != 0) {
        scan->part.unsound = scan->part.characters - 4 + kept - 1;
        scan->has_loose_bits = true;
    }
    return add_bytes(scan, bytes, kept - 1, problem);
}

/* The next character of the string. */
static bool take_character(srv_scan *scan, char character, srv_problem *problem) {
    srv_json_data *part = &scan->part;
    size_t at = part->characters++;
    part->padding = character != '=' ? 0 : part->padding == 0 ? 1 : 2;
    /* Padding is the end; where it is not, it is what is wrong. */
    if (scan->padded != SIZE_MAX && scan->group_size == 0 &&
        (part->unsound == SIZE_MAX || scan->has_loose_bits)) {
        part->unsound = scan->padded;
        scan->has_loose_bits = false;
    }
    if (part->unsound != SIZE_MAX) return true;
    unsigned char code = codes()[(unsigned char)character];
    bool is_padding = character == '=' && scan->group_size >= 2;
    if (scan->padded != SIZE_MAX && !is_padding) {
        part->unsound = scan->padded;
        return true;
    }
    if (code == NO_CODE && !is_padding) {
        part->unsound = at;
        return true;
    }
    if (is_padding && scan->padded == SIZE_MAX) scan->padded = at;
    scan->group[scan->group_size++] = is_padding ? 0 : code;
    if (scan->group_size < 4) return true;
    return end_group(scan, scan->padded == SIZE_MAX ? 4 : scan->padded % 4, problem);
}

static bool end_data(srv_scan *scan, const char *at, srv_problem *problem) {
    srv_json_data *part = &scan->part;
    part->was_converted = scan->convert != ATTN_F32;
    scan->mode = SRV_SCAN_REST;
    scan->in_string = scan->after_colon = false;
    return srv_buffer_append(&scan->captures[scan->capture].data, part, sizeof *part, scan->share, problem) &&
           srv_scan_keep(scan, srv_scan_at(scan, at), at, 1, problem);
}

bool srv_scan_data_break(srv_scan *scan, size_t body, srv_problem *problem) {
    static const char long_string[] = "AAAAAAAAAAAAAAAAAAAAAAAA";
    bool is_there = scan->head_size <= SRV_TOKEN_BYTES;
    const char *head = is_there ? scan->head : long_string;
    size_t size = is_there ? scan->head_size : strlen(long_string);
    scan->mode = SRV_SCAN_BROKEN;
    scan->text.size = scan->data_text;
    body -= scan->unit_size;
    return srv_scan_keep(scan, body - size, head, size, problem) &&
           srv_scan_keep(scan, body, scan->unit, scan->unit_size, problem);
}

static void keep_head(srv_scan *scan, const char *from, size_t size) {
    if (scan->head_size < SRV_TOKEN_BYTES) {
        size_t room = SRV_TOKEN_BYTES - scan->head_size;
        memcpy(scan->head + scan->head_size, from, size < room ? size : room);
    }
    scan->head_size += size;
}

/* Whole groups of the alphabet, for as long as nothing else comes. */
static const char *read_groups(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    unsigned char bytes[PIECE];
    const unsigned char *table = codes();
    const char *from = at;
    size_t size = 0;
    for (; end - at >= 4 && size < PIECE; at += 4, size += 3) {
        unsigned a = table[(unsigned char)at[0]], b = table[(unsigned char)at[1]];
        unsigned c = table[(unsigned char)at[2]], d = table[(unsigned char)at[3]];
        if (((a | b | c | d) & NO_CODE) != 0) break;
        unsigned group = a << 18 | b << 12 | c << 6 | d;
        bytes[size] = (unsigned char)(group >> 16);
        bytes[size + 1] = (unsigned char)(group >> 8);
        bytes[size + 2] = (unsigned char)group;
    }
    if (at > from) scan->part.padding = 0;
    scan->part.characters += (size_t)(at - from);
    keep_head(scan, from, (size_t)(at - from));
    return add_bytes(scan, bytes, size, problem) ? at : NULL;
}

/* A unit of the string that is not in one piece: byte by byte. */
static const char *read_unit(srv_scan *scan, const char *at, srv_problem *problem) {
    char out[4];
    size_t taken, size;
    scan->unit[scan->unit_size++] = *at++;
    switch (srv_json_unit(scan->unit, scan->unit_size, &taken, out, &size)) {
    case SRV_UNIT_CUT: return at;
    case SRV_UNIT_WRONG: return srv_scan_data_break(scan, srv_scan_at(scan, at), problem) ? at : NULL;
    case SRV_UNIT_WHOLE: break;
    }
    keep_head(scan, scan->unit, scan->unit_size);
    scan->unit_size = 0;
    for (size_t i = 0; i < size; i++)
        if (!take_character(scan, out[i], problem)) return NULL;
    return at;
}

const char *srv_scan_data(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    bool is_sound = scan->part.unsound == SIZE_MAX && scan->padded == SIZE_MAX;
    if (is_sound && scan->group_size == 0 && scan->unit_size == 0 && end - at >= 4) {
        const char *behind = read_groups(scan, at, end, problem);
        if (behind != at) return behind;
    }
    if (scan->unit_size == 0 && *at == '"') return end_data(scan, at, problem) ? at + 1 : NULL;
    return read_unit(scan, at, problem);
}
