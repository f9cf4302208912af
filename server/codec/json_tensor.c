/* Base64 tensors of a JSON body (json_tensor.h): their members from the text, their bytes from where the scanner put
 * them. */
#include "json_tensor.h"

#include <stdlib.h>
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

static bool check_size(const srv_tensor *tensor, attn_dtype dtype, const srv_place *place,
                       srv_problem *problem) {
    srv_place inside = {place, "data", 0};
    size_t characters = tensor->text->characters, width = attn_dtype_bits(dtype) / 8;
    size_t found = characters / 4 * 3 - tensor->text->padding, wanted = tensor->count * width;
    if (characters % 4 != 0)
        return srv_place_fail(&inside, problem, SRV_WRONG_TYPE,
                              "found %zu characters; base64 (RFC 4648, with padding, without spaces) has a "
                              "multiple of 4",
                              characters);
    if (found == wanted) return true;
    return srv_place_fail(&inside, problem, SRV_SHAPE_MISMATCH,
                          "found %zu bytes; %zu elements of %zu bytes take %zu", found, tensor->count, width,
                          wanted);
}

srv_json_data *srv_json_data_of(const srv_capture *capture, const json_t *data) {
    srv_json_data *parts = (srv_json_data *)(void *)capture->data.data;
    size_t index = strtoul(json_string_value(data), NULL, 10);
    return index < capture->data.size / sizeof *parts ? parts + index : NULL;
}

static bool tensor_at(const srv_tensors *given, size_t index, const srv_place *place, srv_problem *problem,
                      bool flags, srv_tensor *out) {
    const srv_json_tensors *from = given->from;
    const srv_odd *odd = &from->capture->nest.odd;
    json_t *value = given->is_list ? json_array_get(from->value, index) : from->value;
    srv_tensor tensor = {0};
    attn_dtype dtype = ATTN_F32;
    char found[SRV_FOUND_SIZE];
    if (given->is_list && odd->level > 0 && odd->index == index)
        return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; a base64 tensor is expected",
                              srv_odd_found(odd, found));
    if (!check_known(value, place, problem) || !check_members(value, place, problem)) return false;
    tensor.text = srv_json_data_of(from->capture, json_object_get(value, "data"));
    if (tensor.text == NULL)
        return srv_place_fail(
            place, problem, SRV_WRONG_TYPE,
            "found a tensor within lists; lists of numbers or one base64 tensor are expected");
    const srv_buffer *elements = &from->capture->nest.elements;
    if (elements->size > 0) tensor.data = elements->data + tensor.text->first;
    if (!read_dtype(json_object_get(value, "dtype"), place, problem, flags, &dtype) ||
        !read_shape(json_object_get(value, "shape"), place, problem, &tensor) ||
        !check_size(&tensor, dtype, place, problem))
        return false;
    tensor.dtype = tensor.text->was_converted ? ATTN_F32 : dtype;
    *out = tensor;
    return true;
}

bool srv_json_tensors_of(const srv_json_tensors *from, srv_tensors *out) {
    const srv_nest *nest = &from->capture->nest;
    bool is_list = json_is_array(from->value) && nest->lists_objects;
    if (!is_list && !json_is_object(from->value)) return false;
    *out = (srv_tensors){
        .at = tensor_at, .count = is_list ? srv_nest_length(nest) : 1, .is_list = is_list, .from = from};
    return true;
}
