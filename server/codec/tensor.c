/* Tensors of a body (tensor.h). Data is decoded piece by piece, so that nothing but the result is allocated. */
#include "tensor.h"

#include "base64.h"

#include <math.h>
#include <string.h>

static const struct dtype {
    const char *name;
    attn_dtype dtype;
    bool flags;
} dtypes[] = {
    {"f32", ATTN_F32, false}, {"f16", ATTN_F16, false},  {"bf16", ATTN_BF16, false},
    {"f64", ATTN_F64, false}, {"bool", ATTN_BOOL, true}, {"u8", ATTN_U8, true},
};

static const char *const names[] = {"dtype", "shape", "data"};

static bool check_known(json_t *value, const srv_place *place, srv_problem *problem) {
    const char *name;
    json_t *member;
    char quote[SRV_QUOTE_SIZE];
    json_object_foreach(value, name, member) {
        if (strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0 || strcmp(name, names[2]) == 0)
            continue;
        return srv_place_fail(place, problem, SRV_UNKNOWN_FIELD,
                              "unknown member '%s'; a base64 tensor has dtype, shape and data",
                              srv_json_quote(name, strlen(name), quote));
    }
    return true;
}

/* The three members, each there and of its type. */
static bool check_members(const json_t *value, const srv_place *place, srv_problem *problem) {
    char found[SRV_FOUND_SIZE];
    for (size_t i = 0; i < 3; i++) {
        const json_t *member = json_object_get(value, names[i]);
        srv_place inside = {place, names[i], 0};
        if (member == NULL)
            return srv_place_fail(place, problem, SRV_MISSING_FIELD,
                                  "an object without '%s'; a base64 tensor has dtype, shape and data",
                                  names[i]);
        bool list = strcmp(names[i], "shape") == 0;
        if (list ? !json_is_array(member) : !json_is_string(member))
            return srv_place_fail(&inside, problem, SRV_WRONG_TYPE, "found %s; a %s is expected",
                                  srv_json_found(member, found), list ? "list of sizes" : "string");
    }
    return true;
}

static bool read_dtype(const json_t *value, const srv_place *place, srv_problem *problem, bool flags,
                       attn_dtype *out) {
    const char *name = json_string_value(value);
    srv_place inside = {place, "dtype", 0};
    char quote[SRV_QUOTE_SIZE];
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (dtypes[i].flags != flags || strcmp(dtypes[i].name, name) != 0) continue;
        *out = dtypes[i].dtype;
        return true;
    }
    return srv_place_fail(&inside, problem, SRV_OUT_OF_RANGE, "found \"%s\"; %s is expected",
                          srv_json_quote(name, strlen(name), quote),
                          flags ? "bool or u8 (a mask; numbers to add go into bias)"
                                : "f32, f16, bf16 or f64");
}

static bool read_shape(const json_t *value, const srv_place *place, srv_problem *problem, srv_tensor *out) {
    srv_place inside = {place, "shape", 0};
    out->rank = json_array_size(value);
    if (out->rank == 0 || out->rank > ATTN_MAX_RANK)
        return srv_place_fail(&inside, problem, SRV_SHAPE_MISMATCH,
                              "found rank %zu; tensors have 1 to %d axes", out->rank, ATTN_MAX_RANK);
    out->count = 1;
    for (size_t i = 0; i < out->rank; i++) {
        srv_place axis = {&inside, NULL, i};
        if (!srv_json_whole(json_array_get(value, i), &axis, problem, 1, SIZE_MAX, out->shape + i))
            return false;
        /* In bytes of the widest dtype. */
        if (!attn_size_mul(out->count, out->shape[i], &out->count) || out->count > SIZE_MAX / 8)
            return srv_place_fail(&inside, problem, SRV_OUT_OF_RANGE,
                                  "a shape of more elements than memory can address");
    }
    return true;
}

static bool check_size(const srv_tensor *tensor, const srv_place *place, srv_problem *problem) {
    srv_place inside = {place, "data", 0};
    size_t found, width = attn_dtype_bits(tensor->dtype) / 8, wanted = tensor->count * width;
    if (!srv_base64_size(tensor->data, tensor->data_size, &found))
        return srv_place_fail(&inside, problem, SRV_WRONG_TYPE,
                              "found %zu characters; base64 (RFC 4648, with padding, without spaces) has a "
                              "multiple of 4",
                              tensor->data_size);
    if (found == wanted) return true;
    return srv_place_fail(&inside, problem, SRV_SHAPE_MISMATCH,
                          "found %zu bytes; %zu elements of %zu bytes take %zu", found, tensor->count, width,
                          wanted);
}

static bool json_tensor_at(const srv_tensors *given, size_t index, const srv_place *place,
                           srv_problem *problem, bool flags, srv_tensor *out) {
    json_t *whole = (json_t *)(uintptr_t)given->from; /* looking up members takes one that is not const */
    json_t *value = given->is_list ? json_array_get(whole, index) : whole;
    srv_tensor tensor = {.is_text = true};
    char found[SRV_FOUND_SIZE];
    if (!json_is_object(value))
        return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; a base64 tensor is expected",
                              srv_json_found(value, found));
    if (!check_known(value, place, problem) || !check_members(value, place, problem)) return false;
    const json_t *data = json_object_get(value, "data");
    tensor.data = json_string_value(data);
    tensor.data_size = json_string_length(data);
    if (!read_dtype(json_object_get(value, "dtype"), place, problem, flags, &tensor.dtype) ||
        !read_shape(json_object_get(value, "shape"), place, problem, &tensor) ||
        !check_size(&tensor, place, problem))
        return false;
    *out = tensor;
    return true;
}

bool srv_json_tensors(json_t *value, srv_tensors *out) {
    bool is_list = json_is_object(json_array_get(value, 0));
    if (!is_list && !json_is_object(value)) return false;
    *out = (srv_tensors){.at = json_tensor_at,
                         .count = is_list ? json_array_size(value) : 1,
                         .is_list = is_list,
                         .from = value};
    return true;
}

static bool is_little_endian(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

float *srv_tensor_floats_in_place(const srv_tensor *tensor) {
    uintptr_t at = (uintptr_t)tensor->data;
    bool fits = !tensor->is_text && tensor->dtype == ATTN_F32 && at % _Alignof(float) == 0;
    return fits && is_little_endian() ? (float *)at : NULL;
}

uint8_t *srv_tensor_flags_in_place(const srv_tensor *tensor) {
    bool fits = !tensor->is_text && (tensor->dtype == ATTN_BOOL || tensor->dtype == ATTN_U8);
    return fits ? (uint8_t *)(uintptr_t)tensor->data : NULL;
}

/* Works through base64: decodes the piece that begins at character *at into `bytes`, whose number goes to
 * *size. */
static bool next_piece(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, size_t *at,
                       unsigned char bytes[SRV_BASE64_BYTES], size_t *size) {
    const char *text = tensor->data + *at;
    size_t left = tensor->data_size - *at;
    bool last = left <= SRV_BASE64_CHARACTERS;
    size_t taken = last ? left : SRV_BASE64_CHARACTERS;
    size_t sound = srv_base64_decode(text, taken, last, bytes);
    if (sound < taken) {
        srv_place inside = {place, "data", 0};
        return srv_place_fail(&inside, problem, SRV_WRONG_TYPE,
                              "character %zu is not what base64 has there (RFC 4648, with padding, without "
                              "spaces)",
                              *at + sound);
    }
    if (!last || !srv_base64_size(text, taken, size)) *size = SRV_BASE64_BYTES;
    *at += taken;
    return true;
}

/* Whether an element that float32 does not hold is finite nevertheless: a double whose exponent, in the last
 * two of its eight bytes, is not all ones. */
static bool is_too_large(attn_dtype dtype, const unsigned char *element) {
    return dtype == ATTN_F64 && ((element[7] & 0x7f) != 0x7f || (element[6] & 0xf0) != 0xf0);
}

static bool fail_element(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                         size_t index, float value, const unsigned char *element) {
    srv_place inside = {place, "data", 0};
    if (is_too_large(tensor->dtype, element))
        return srv_place_fail(&inside, problem, SRV_OUT_OF_RANGE,
                              "element %zu is beyond float32, which holds magnitudes up to 3.4028235e38",
                              index);
    return srv_place_fail(&inside, problem, SRV_NOT_FINITE, "element %zu is %s; %s", index,
                          isnan(value) ? "NaN"
                          : value > 0  ? "Infinity"
                                       : "-Infinity",
                          masks ? "numbers, or -Infinity to mask a key, are expected"
                                : "a number is expected");
}

/* Converts `count` elements, the first of which is number `first` of the tensor, and looks at what came out. */
static bool take_floats(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                        const unsigned char *bytes, size_t first, size_t count, float *out) {
    size_t width = attn_dtype_bits(tensor->dtype) / 8;
    if (bytes != (const unsigned char *)out) attn_dtype_to_f32(tensor->dtype, bytes, count, out);
    for (size_t i = 0; i < count; i++) {
        if (isfinite(out[i])) continue;
        const unsigned char *element = bytes + i * width;
        if (masks && isinf(out[i]) && out[i] < 0 && !is_too_large(tensor->dtype, element)) continue;
        return fail_element(tensor, place, problem, masks, first + i, out[i], element);
    }
    return true;
}

bool srv_tensor_floats(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                       float *out) {
    unsigned char bytes[SRV_BASE64_BYTES];
    size_t size, done = 0, width = attn_dtype_bits(tensor->dtype) / 8;
    if (!tensor->is_text)
        return take_floats(tensor, place, problem, masks, (const unsigned char *)tensor->data, 0,
                           tensor->count, out);
    for (size_t at = 0; at < tensor->data_size;) {
        if (!next_piece(tensor, place, problem, &at, bytes, &size) ||
            !take_floats(tensor, place, problem, masks, bytes, done, size / width, out + done))
            return false;
        done += size / width;
    }
    return true;
}

/* A whole number of 1, 4 or 8 bytes as 0 or 1; any other as 2. */
static uint8_t flag_at(const unsigned char *element, size_t width) {
    for (size_t i = 1; i < width; i++)
        if (element[i] != 0) return 2;
    return element[0] > 1 ? 2 : element[0];
}

static bool take_flags(const srv_tensor *tensor, const srv_place *place, srv_problem *problem,
                       const unsigned char *bytes, size_t first, size_t count, uint8_t *out) {
    size_t width = attn_dtype_bits(tensor->dtype) / 8;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *element = bytes + i * width;
        uint8_t flag = flag_at(element, width);
        if (flag > 1) {
            srv_place inside = {place, "data", 0};
            return srv_place_fail(&inside, problem, SRV_OUT_OF_RANGE,
                                  "element %zu is neither 0 nor 1; a mask holds those", first + i);
        }
        if (element != out + i) out[i] = flag;
    }
    return true;
}

bool srv_tensor_flags(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, uint8_t *out) {
    unsigned char bytes[SRV_BASE64_BYTES];
    size_t size, done = 0;
    if (!tensor->is_text)
        return take_flags(tensor, place, problem, (const unsigned char *)tensor->data, 0, tensor->count, out);
    for (size_t at = 0; at < tensor->data_size; done += size) /* base64 has masks of bytes only */
        if (!next_piece(tensor, place, problem, &at, bytes, &size) ||
            !take_flags(tensor, place, problem, bytes, done, size, out + done))
            return false;
    return true;
}
