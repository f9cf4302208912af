/* base64 objects of a body (oracle_parts.h). Data is decoded piece by piece, so that nothing but the result is
 * allocated. */
#include "oracle_parts.h"

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

bool oracle_is_tensor(const json_t *value) {
    return json_is_object(value);
}

bool oracle_is_tensor_list(const json_t *value) {
    return json_is_object(json_array_get(value, 0));
}

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

static bool read_shape(const json_t *value, const srv_place *place, srv_problem *problem,
                       oracle_tensor *out) {
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

static bool check_size(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem) {
    srv_place inside = {place, "data", 0};
    size_t found, width = attn_dtype_bits(tensor->dtype) / 8, wanted = tensor->count * width;
    if (!oracle_base64_size(tensor->data, tensor->data_size, &found))
        return srv_place_fail(&inside, problem, SRV_WRONG_TYPE,
                              "found %zu characters; base64 (RFC 4648, with padding, without spaces) has a "
                              "multiple of 4",
                              tensor->data_size);
    if (found == wanted) return true;
    return srv_place_fail(&inside, problem, SRV_SHAPE_MISMATCH,
                          "found %zu bytes; %zu elements of %zu bytes take %zu", found, tensor->count, width,
                          wanted);
}

bool oracle_read_tensor(json_t *value, const srv_place *place, srv_problem *problem, bool flags,
                        oracle_tensor *out) {
    oracle_tensor tensor = {0};
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

/* Works through the data: decodes the piece that begins at character *at into `bytes`, whose number goes to
 * *size. */
static bool next_piece(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem, size_t *at,
                       unsigned char bytes[ORACLE_BASE64_BYTES], size_t *size) {
    const char *text = tensor->data + *at;
    size_t left = tensor->data_size - *at;
    bool last = left <= ORACLE_BASE64_CHARACTERS;
    size_t taken = last ? left : ORACLE_BASE64_CHARACTERS;
    size_t sound = oracle_base64_decode(text, taken, last, bytes);
    if (sound < taken) {
        srv_place inside = {place, "data", 0};
        return srv_place_fail(&inside, problem, SRV_WRONG_TYPE,
                              "character %zu is not what base64 has there (RFC 4648, with padding, without "
                              "spaces)",
                              *at + sound);
    }
    if (!last || !oracle_base64_size(text, taken, size)) *size = ORACLE_BASE64_BYTES;
    *at += taken;
    return true;
}

/* Whether an element that float32 does not hold is finite nevertheless: a double whose exponent, in the last
 * two of its eight bytes, is not all ones. */
static bool is_too_large(attn_dtype dtype, const unsigned char *element) {
    return dtype == ATTN_F64 && ((element[7] & 0x7f) != 0x7f || (element[6] & 0xf0) != 0xf0);
}

static bool fail_element(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem,
                         bool masks, size_t index, float value, const unsigned char *element) {
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

/* Whether all of it is base64: that is told first, wherever it is not. */
static bool check_sound(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem) {
    unsigned char bytes[ORACLE_BASE64_BYTES];
    size_t size;
    for (size_t at = 0; at < tensor->data_size;)
        if (!next_piece(tensor, place, problem, &at, bytes, &size)) return false;
    return true;
}

bool oracle_floats(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                   float *out) {
    unsigned char bytes[ORACLE_BASE64_BYTES];
    size_t size, done = 0, width = attn_dtype_bits(tensor->dtype) / 8;
    if (!check_sound(tensor, place, problem)) return false;
    for (size_t at = 0; at < tensor->data_size;) {
        if (!next_piece(tensor, place, problem, &at, bytes, &size)) return false;
        attn_dtype_to_f32(tensor->dtype, bytes, size / width, out + done);
        for (size_t i = 0; i < size / width; i++) {
            float value = out[done + i];
            const unsigned char *element = bytes + i * width;
            bool fine = isfinite(value) ||
                        (masks && isinf(value) && value < 0 && !is_too_large(tensor->dtype, element));
            if (!fine) return fail_element(tensor, place, problem, masks, done + i, value, element);
        }
        done += size / width;
    }
    return true;
}

bool oracle_flags(const oracle_tensor *tensor, const srv_place *place, srv_problem *problem, uint8_t *out) {
    unsigned char bytes[ORACLE_BASE64_BYTES];
    size_t size, done = 0;
    srv_place inside = {place, "data", 0};
    if (!check_sound(tensor, place, problem)) return false;
    for (size_t at = 0; at < tensor->data_size; done += size) {
        if (!next_piece(tensor, place, problem, &at, bytes, &size)) return false;
        for (size_t i = 0; i < size; i++)
            if (bytes[i] > 1)
                return srv_place_fail(&inside, problem, SRV_OUT_OF_RANGE,
                                      "element %zu is neither 0 nor 1; a mask holds those", done + i);
        memcpy(out + done, bytes, size);
    }
    return true;
}
