/* Reading inputs (oip_inputs.h). */
#include "oip_inputs.h"

#include "oip_data.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

const srv_oip_input srv_oip_inputs[SRV_OIP_INPUTS] = {
    {"inputs", false},        {"context", false},         {"values", false},
    {"attention_mask", true}, {"key_padding_mask", true},
};

/* The protocol's types, and what their bytes are read as: a mask's elements count only as 0, 1 or something else. */
static const struct datatype {
    const char *name;
    size_t bytes;
    bool is_float, is_flag;
    bool is_in_json; /* its numbers may stand in a list */
    attn_dtype dtype;
} datatypes[] = {
    {"FP32", 4, true, false, true, ATTN_F32},   {"FP64", 8, true, false, true, ATTN_F64},
    {"FP16", 2, true, false, false, ATTN_F16},  {"BF16", 2, true, false, false, ATTN_BF16},
    {"BOOL", 1, false, true, true, ATTN_BOOL},  {"INT8", 1, false, true, true, ATTN_U8},
    {"UINT8", 1, false, true, true, ATTN_U8},   {"INT16", 2, false, true, true, ATTN_U8},
    {"UINT16", 2, false, true, true, ATTN_U8},  {"INT32", 4, false, true, true, ATTN_I32},
    {"UINT32", 4, false, true, true, ATTN_I32}, {"INT64", 8, false, true, true, ATTN_I64},
    {"UINT64", 8, false, true, true, ATTN_I64},
};

/* One input as it is described. */
typedef struct input {
    const srv_oip_input *which;
    const struct datatype *datatype;
    size_t shape[ATTN_MAX_RANK], rank, count;
    bool is_binary, has_data;
    size_t bytes;   /* behind the JSON */
    srv_nest *list; /* NULL: none that is one */
} input;

/* Members of the protocol's extensions that are not offered. */
static bool is_foreign(const char *name) {
    static const char *const foreign[] = {
        "shared_memory_region", "shared_memory_byte_size", "shared_memory_offset", "classification",
        "sequence_id",          "sequence_start",          "sequence_end"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(name, foreign[i]) == 0) return true;
    return false;
}

static void list_names(const char *const names[], char out[160]) {
    size_t used = 0;
    for (size_t i = 0; names[i] != NULL && used < 160; i++)
        used += (size_t)snprintf(out + used, 160 - used, "%s%s", i == 0 ? "" : ", ", names[i]);
}

bool srv_oip_check_members(srv_oip_reader *reader, const json_t *object, const srv_place *place,
                           const char *const known[]) {
    const char *name;
    json_t *value;
    char quote[SRV_QUOTE_SIZE], names[160];
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        size_t i = 0;
        srv_place inside = {place, name, 0};
        while (known[i] != NULL && strcmp(known[i], name) != 0)
            i++;
        if (known[i] != NULL || json_is_null(value)) continue;
        if (is_foreign(name))
            return srv_place_fail(
                &inside, &reader->found, SRV_NOT_IMPLEMENTED,
                "'%s' belongs to an extension that is not offered; GET /v2 lists those that are", name);
        list_names(known, names);
        return srv_place_fail(strlen(name) <= SRV_QUOTE_SIZE ? &inside : place, &reader->found,
                              SRV_UNKNOWN_FIELD, "unknown member '%s'; there are %s",
                              srv_json_quote(name, strlen(name), quote), names);
    }
    return true;
}

const json_t *srv_oip_object(srv_oip_reader *reader, const json_t *value, const srv_place *place) {
    char found[SRV_FOUND_SIZE];
    if (value == NULL || json_is_null(value)) return NULL;
    if (json_is_object(value)) return value;
    srv_place_fail(place, &reader->found, SRV_WRONG_TYPE, "found %s; an object is expected",
                   srv_json_found(value, found));
    return NULL;
}

static bool fail_member(srv_oip_reader *reader, const json_t *value, const srv_place *place,
                        const char *expected) {
    char found[SRV_FOUND_SIZE];
    if (value == NULL)
        return srv_place_fail(place->above, &reader->found, SRV_MISSING_FIELD,
                              "'%s' is missing; %s is expected", place->name, expected);
    return srv_place_fail(place, &reader->found, SRV_WRONG_TYPE, "found %s; %s is expected",
                          srv_json_found(value, found), expected);
}

static bool read_name(srv_oip_reader *reader, const json_t *object, const srv_place *place, input *out) {
    static const char expected[] = "inputs, context, values, attention_mask or key_padding_mask";
    const json_t *value = json_object_get(object, "name");
    srv_place inside = {place, "name", 0};
    char quote[SRV_QUOTE_SIZE];
    if (!json_is_string(value)) return fail_member(reader, value, &inside, expected);
    const char *name = json_string_value(value);
    for (size_t i = 0; i < SRV_OIP_INPUTS; i++)
        if (json_string_length(value) == strlen(srv_oip_inputs[i].name) &&
            strcmp(name, srv_oip_inputs[i].name) == 0)
            out->which = &srv_oip_inputs[i];
    if (out->which == NULL)
        return srv_place_fail(&inside, &reader->found, SRV_UNKNOWN_FIELD, "no input '%s'; %s is expected",
                              srv_json_quote(name, json_string_length(value), quote), expected);
    for (size_t i = 0; i < reader->count; i++)
        if (reader->tensors[i].name == out->which->name)
            return srv_place_fail(&inside, &reader->found, SRV_CONFLICT,
                                  "input '%s' is given twice; once is expected", out->which->name);
    return true;
}

static bool read_datatype(srv_oip_reader *reader, const json_t *object, const srv_place *place, input *out) {
    const json_t *value = json_object_get(object, "datatype");
    srv_place inside = {place, "datatype", 0};
    char quote[SRV_QUOTE_SIZE];
    const char *expected = out->which->is_mask
                               ? "BOOL, INT8 to INT64 or UINT8 to UINT64 holding 0 and 1 (a mask)"
                               : "FP32, FP64, FP16 or BF16";
    if (!json_is_string(value)) return fail_member(reader, value, &inside, expected);
    const char *name = json_string_value(value);
    for (size_t i = 0; i < sizeof datatypes / sizeof *datatypes; i++) {
        bool suits = out->which->is_mask ? datatypes[i].is_flag : datatypes[i].is_float;
        if (suits && strcmp(datatypes[i].name, name) == 0) out->datatype = &datatypes[i];
    }
    if (out->datatype != NULL) return true;
    return srv_place_fail(&inside, &reader->found, SRV_WRONG_TYPE, "found \"%s\"; '%s' takes %s",
                          srv_json_quote(name, json_string_length(value), quote), out->which->name, expected);
}

static bool read_shape(srv_oip_reader *reader, const json_t *object, const srv_place *place, input *out) {
    const json_t *value = json_object_get(object, "shape");
    srv_place inside = {place, "shape", 0};
    if (!json_is_array(value)) return fail_member(reader, value, &inside, "a list of sizes");
    out->rank = json_array_size(value);
    if (!out->which->is_mask && out->rank != 3)
        return srv_place_fail(&inside, &reader->found, SRV_SHAPE_MISMATCH,
                              "found rank %zu; '%s' is [N,L,D]: sequences, positions, width", out->rank,
                              out->which->name);
    if (out->rank == 0 || out->rank > ATTN_MAX_RANK)
        return srv_place_fail(&inside, &reader->found, SRV_SHAPE_MISMATCH,
                              "found rank %zu; tensors have 1 to %d axes", out->rank, ATTN_MAX_RANK);
    out->count = 1;
    for (size_t i = 0; i < out->rank; i++) {
        srv_place axis = {&inside, NULL, i};
        if (!srv_json_whole(json_array_get(value, i), &axis, &reader->found, 1, SIZE_MAX, &out->shape[i]))
            return false;
        if (!attn_size_mul(out->count, out->shape[i], &out->count) || out->count > SIZE_MAX / 8)
            return srv_place_fail(&inside, &reader->found, SRV_OUT_OF_RANGE,
                                  "a shape of more elements than memory can address");
    }
    return true;
}

/* Where the elements are: one of two places. */
static bool check_source(srv_oip_reader *reader, const srv_place *place, const input *in) {
    if (in->is_binary && in->has_data)
        return srv_place_fail(place, &reader->found, SRV_CONFLICT,
                              "'data' and 'binary_data_size'; one of the two is expected");
    if (in->is_binary || in->has_data) return true;
    return srv_place_fail(place, &reader->found, SRV_MISSING_FIELD,
                          "an input without elements; 'data' or parameters.binary_data_size is expected");
}

static bool break_at(srv_oip_reader *reader, const srv_place *place, const char *text) {
    return srv_place_fail(place, reader->broken, SRV_BAD_BODY, "%s", text);
}

/* Steps over the bytes of a binary input, whatever else it may be. */
static bool read_bytes(srv_oip_reader *reader, const json_t *size, const srv_place *place, input *out) {
    char text[192];
    if (size == NULL || json_is_null(size)) return true;
    out->is_binary = true;
    if (!reader->has_tail)
        return break_at(
            reader, place,
            "binary_data_size, and no header Inference-Header-Content-Length, which says where the JSON "
            "ends; it is expected");
    if (!srv_json_whole(size, place, &reader->found, 0, SIZE_MAX, &out->bytes)) return true;
    size_t left = reader->size - reader->next;
    if (out->bytes > left) {
        snprintf(text, sizeof text,
                 "unexpected size: expecting %zu additional bytes for this input, found %zu", out->bytes,
                 left);
        return break_at(reader, place, text);
    }
    reader->next += out->bytes;
    return true;
}

/* The lists of an input, which are the next ones that the scanner has kept. */
static void find_list(srv_oip_reader *reader, const json_t *object, input *out) {
    const json_t *data = json_object_get(object, "data");
    out->has_data = data != NULL && !json_is_null(data);
    if (!json_is_array(data) || reader->lists == SRV_CAPTURES) return;
    out->list = &reader->captures[reader->lists++].nest;
}

/* Adds a tensor whose bytes lie at `bytes`. */
static void add(srv_oip_reader *reader, const input *in, attn_dtype dtype, const char *bytes, size_t index) {
    attn_file_tensor *tensor = &reader->tensors[reader->count];
    *tensor =
        (attn_file_tensor){.name = in->which->name, .dtype = dtype, .rank = in->rank, .count = in->count};
    memcpy(tensor->shape, in->shape, in->rank * sizeof *in->shape);
    tensor->end = in->count * (attn_dtype_bits(dtype) / 8);
    reader->places[reader->count] = bytes;
    reader->indices[reader->count++] = index;
}

/* Memory for what cannot stay where it is. */
static char *reserve(srv_oip_reader *reader, size_t bytes) {
    srv_buffer *buffer = &reader->kept[reader->count];
    if (!srv_buffer_reserve(buffer, bytes, reader->share, reader->broken)) return NULL;
    buffer->size = bytes;
    return buffer->data;
}

/* Flags of two bytes as flags of one: what is neither 0 nor 1 stays so. */
static bool narrow(srv_oip_reader *reader, const input *in, const unsigned char *from, size_t index) {
    char *to = reserve(reader, in->count);
    if (to == NULL) return false;
    for (size_t i = 0; i < in->count; i++, from += 2)
        to[i] = (char)(from[1] != 0 || from[0] > 1 ? 2 : from[0]);
    add(reader, in, ATTN_U8, to, index);
    return true;
}

static bool take_bytes(srv_oip_reader *reader, const input *in, const srv_place *place, size_t index) {
    const char *from = reader->bytes + reader->next - in->bytes;
    size_t wanted = in->count * in->datatype->bytes;
    char text[192];
    if (in->bytes != wanted) {
        snprintf(text, sizeof text, "%zu bytes; %zu elements of %s take %zu", in->bytes, in->count,
                 in->datatype->name, wanted);
        return break_at(reader, place, text);
    }
    if (in->datatype->is_flag && in->datatype->bytes == 2)
        return narrow(reader, in, (const unsigned char *)from, index);
    add(reader, in, in->datatype->dtype, from, index);
    return true;
}

/* Flags that were kept as numbers. */
static void narrow_numbers(srv_buffer *elements, size_t count, srv_share *share) {
    const float *numbers = (const float *)(const void *)elements->data;
    for (size_t i = 0; i < count; i++)
        elements->data[i] = numbers[i] != 0;
    elements->size = count;
    srv_buffer_fit(elements, share);
}

static void take_list(srv_oip_reader *reader, const input *in, const srv_place *place, size_t index) {
    const srv_oip_data data = {in->list, in->shape, in->rank, in->count, in->which->is_mask};
    if (!srv_oip_data_check(&data, place, &reader->found)) return;
    srv_buffer *kept = &reader->kept[reader->count];
    *kept = in->list->elements;
    in->list->elements = (srv_buffer){0};
    if (data.is_mask)
        narrow_numbers(kept, in->count, reader->share);
    else
        srv_buffer_fit(kept, reader->share);
    add(reader, in, data.is_mask ? ATTN_U8 : ATTN_F32, kept->data, index);
}

static void take_data(srv_oip_reader *reader, const json_t *object, const srv_place *place, const input *in,
                      size_t index) {
    srv_place data = {place, "data", 0};
    if (in->list == NULL)
        fail_member(reader, json_object_get(object, "data"), &data, "a list");
    else if (in->datatype->is_in_json)
        take_list(reader, in, &data, index);
    else
        srv_place_fail(&data, &reader->found, SRV_WRONG_TYPE,
                       "%s in a list; FP32 or FP64 is expected there, or bytes (parameters.binary_data_size)",
                       in->datatype->name);
}

/* The next input of the request. False with a problem in *broken. */
static bool read_input(srv_oip_reader *reader, const json_t *value, const srv_place *place, size_t index) {
    static const char *const members[] = {"name", "shape", "datatype", "parameters", "data", NULL};
    static const char *const parameters[] = {"binary_data_size", NULL};
    input in = {0};
    srv_place above = {place, "parameters", 0}, size = {&above, "binary_data_size", 0};
    const json_t *object = srv_oip_object(reader, value, place);
    const json_t *given = srv_oip_object(reader, json_object_get(object, "parameters"), &above);
    if (object == NULL) fail_member(reader, value, place, "an object");
    if (!read_bytes(reader, json_object_get(given, "binary_data_size"), &size, &in)) return false;
    find_list(reader, object, &in);
    bool is_sound = reader->found.id == SRV_NO_PROBLEM &&
                    srv_oip_check_members(reader, object, place, members) &&
                    (given == NULL || srv_oip_check_members(reader, given, &above, parameters)) &&
                    read_name(reader, object, place, &in) && read_datatype(reader, object, place, &in) &&
                    read_shape(reader, object, place, &in) && check_source(reader, place, &in);
    if (!is_sound) return true;
    if (in.is_binary) return take_bytes(reader, &in, &size, index);
    take_data(reader, object, place, &in, index);
    return true;
}

bool srv_oip_inputs_read(srv_oip_reader *reader, const json_t *inputs) {
    srv_place place = {NULL, "inputs", 0};
    char text[128];
    if (!json_is_array(inputs)) {
        static const char expected[] = "a list of tensors";
        if (inputs == NULL)
            srv_place_fail(&place, &reader->found, SRV_MISSING_FIELD, "'inputs' is missing; %s is expected",
                           expected);
        else
            fail_member(reader, inputs, &place, expected);
        return true;
    }
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        srv_place inside = {&place, NULL, i};
        if (!read_input(reader, json_array_get(inputs, i), &inside, i)) return false;
    }
    if (reader->next == reader->size || reader->found.id != SRV_NO_PROBLEM) return true;
    snprintf(text, sizeof text, "unexpected additional input data: %zu bytes behind the last input's",
             reader->size - reader->next);
    return break_at(reader, &place, text);
}
