/* Tensors and the fields that they are for (named_tensors.h). */
#include "named_tensors.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char numbers[] = "F32, F16, BF16 or F64";
static const char flags_expected[] =
    "BOOL, U8, I32 or I64 holding 0 and 1 (a mask; numbers to add go into bias)";

static bool suits(attn_dtype dtype, bool flags) {
    if (!flags) return attn_dtype_is_float(dtype);
    return dtype == ATTN_BOOL || dtype == ATTN_U8 || dtype == ATTN_I32 || dtype == ATTN_I64;
}

static bool check_shape(const attn_file_tensor *tensor, const srv_place *place, srv_problem *problem) {
    srv_place shape = {place, "shape", 0};
    if (tensor->rank == 0 || tensor->rank > ATTN_MAX_RANK)
        return srv_place_fail(&shape, problem, SRV_SHAPE_MISMATCH,
                              "found rank %zu; tensors have 1 to %d axes", tensor->rank, ATTN_MAX_RANK);
    for (size_t i = 0; i < tensor->rank; i++) {
        srv_place axis = {&shape, NULL, i};
        if (tensor->shape[i] == 0)
            return srv_place_fail(&axis, problem, SRV_OUT_OF_RANGE,
                                  "found an axis of 0; at least 1 is expected");
    }
    return true;
}

static bool named_at(const srv_tensors *given, size_t index, const srv_place *place, srv_problem *problem,
                     bool flags, srv_tensor *out) {
    const srv_named *named = given->from;
    const attn_file_tensor *tensor = given->first[index];
    srv_place dtype = {place, "dtype", 0};
    if (!suits(tensor->dtype, flags))
        return srv_place_fail(&dtype, problem, SRV_WRONG_TYPE, "found %s; %s is expected",
                              attn_dtype_name(tensor->dtype), flags ? flags_expected : numbers);
    if (!check_shape(tensor, place, problem)) return false;
    *out = (srv_tensor){.dtype = tensor->dtype,
                        .rank = tensor->rank,
                        .count = tensor->count,
                        .data = named->data == NULL ? named->places[tensor - named->tensors]
                                                    : named->data + tensor->begin};
    memcpy(out->shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
    return true;
}

bool srv_named_find(const srv_named *named, const srv_field *field, srv_tensors *out) {
    for (size_t i = 0; named != NULL && i < named->field_count; i++) {
        const srv_named_field *found = named->fields + i;
        if (found->field != field || found->count == 0) continue;
        *out = (srv_tensors){.at = named_at,
                             .count = found->count,
                             .is_list = found->is_list,
                             .from = named,
                             .first = named->list + found->begin};
        return true;
    }
    return false;
}

/* A tensor's name taken apart: "bias.12" is number 12 of bias. */
typedef struct label {
    const srv_field *field; /* NULL: none of that name */
    bool is_listed;
    size_t index;
} label;

/* Digits as they are written, and nothing else. */
static bool read_index(const char *text, size_t *out) {
    size_t index = 0, size = strlen(text);
    if (size == 0 || (size > 1 && text[0] == '0') || strspn(text, "0123456789") != size) return false;
    for (; *text != '\0'; text++)
        if (!attn_size_mul(index, 10, &index) || !attn_size_add(index, (size_t)(*text - '0'), &index))
            return false;
    *out = index;
    return true;
}

static label read_label(const char *name) {
    label found = {.field = srv_field_find(srv_fields, name)};
    const char *dot = strrchr(name, '.');
    char base[32];
    if (found.field != NULL || dot == NULL || (size_t)(dot - name) >= sizeof base) return found;
    if (!read_index(dot + 1, &found.index)) return found;
    memcpy(base, name, (size_t)(dot - name));
    base[dot - name] = '\0';
    found.field = srv_field_find(srv_fields, base);
    found.is_listed = true;
    return found;
}

/* Whether a tensor's whole numbers are what JSON has as lists. */
static bool is_whole(const srv_field *field) {
    return field->kind == SRV_FIELD_NUMBERS || strcmp(field->name, "positions") == 0 ||
           strcmp(field->name, "context_positions") == 0;
}

static double whole_at(const attn_file_tensor *tensor, const char *data, size_t index) {
    size_t width = attn_dtype_bits(tensor->dtype) / 8;
    const unsigned char *at = (const unsigned char *)data + tensor->begin + index * width;
    uint64_t bits = 0;
    for (size_t i = 0; i < width; i++)
        bits |= (uint64_t)at[i] << (8 * i);
    return width == 8 ? (double)(int64_t)bits : (double)(int32_t)(uint32_t)bits;
}

/* The tensor's axes from `axis` on as nested lists; *at counts the elements. */
static json_t *lists_of(const attn_file_tensor *tensor, const char *data, size_t axis, size_t *at) {
    if (axis == tensor->rank) return json_real(whole_at(tensor, data, (*at)++));
    json_t *list = json_array();
    for (size_t i = 0; i < tensor->shape[axis] && list != NULL; i++) {
        if (json_array_append_new(list, lists_of(tensor, data, axis + 1, at)) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

static bool add_whole(const srv_named *named, const attn_file_tensor *tensor, const srv_field *field,
                      json_t *root, srv_problem *problem) {
    srv_place place = {NULL, field->name, 0}, dtype = {&place, "dtype", 0};
    size_t at = 0;
    if (tensor->dtype != ATTN_I32 && tensor->dtype != ATTN_I64)
        return srv_place_fail(&dtype, problem, SRV_WRONG_TYPE, "found %s; I32 or I64 is expected",
                              attn_dtype_name(tensor->dtype));
    if (!check_shape(tensor, &place, problem)) return false;
    if (json_object_get(root, field->name) != NULL)
        return srv_place_fail(&place, problem, SRV_CONFLICT,
                              "'%s' as a tensor and in __metadata__; one of the two is expected",
                              field->name);
    if (json_object_set_new(root, field->name, lists_of(tensor, named->data, 0, &at)) == 0) return true;
    return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for '%s'",
                           field->name);
}

/* The place of a field's tensors; NULL where it takes none. */
static srv_named_field *place_of(srv_named *named, const srv_field *field) {
    for (size_t i = 0; i < named->field_count; i++)
        if (named->fields[i].field == field) return named->fields + i;
    return NULL;
}

static bool refuse(const label *found, const char *name, srv_problem *problem) {
    srv_place place = {NULL, name, 0};
    if (found->field == NULL) return srv_field_fail_unknown(srv_fields, name, NULL, problem);
    return srv_place_fail(&place, problem, SRV_WRONG_TYPE,
                          "found a tensor; '%s' is expected in __metadata__ or in the query",
                          found->field->name);
}

/* Counts the tensors of each field. */
static void count(srv_named *named, json_t *root, srv_problem *problem) {
    for (size_t i = 0; i < named->count && problem->id == SRV_NO_PROBLEM; i++) {
        const attn_file_tensor *tensor = named->tensors + i;
        label found = read_label(tensor->name);
        srv_named_field *place = found.field == NULL ? NULL : place_of(named, found.field);
        if (place != NULL) {
            place->count++;
            place->is_list = place->is_list || found.is_listed;
        } else if (found.field != NULL && !found.is_listed && is_whole(found.field)) {
            add_whole(named, tensor, found.field, root, problem);
        } else {
            refuse(&found, tensor->name, problem);
        }
    }
}

/* Puts each tensor in its place; lists must be whole. */
static bool place_all(srv_named *named, srv_problem *problem) {
    for (size_t i = 0; i < named->count; i++) {
        label found = read_label(named->tensors[i].name);
        const srv_named_field *place = found.field == NULL ? NULL : place_of(named, found.field);
        if (place == NULL) continue;
        srv_place at = {NULL, place->field->name, 0};
        if (place->is_list && !found.is_listed)
            return srv_place_fail(&at, problem, SRV_CONFLICT,
                                  "'%s' and '%s.0' …; one tensor or a list of them is expected",
                                  place->field->name, place->field->name);
        if (found.index >= place->count)
            return srv_place_fail(&at, problem, SRV_SHAPE_MISMATCH,
                                  "found %zu tensors, '%s.%zu' among them; '%s.0' to '%s.%zu' are expected",
                                  place->count, place->field->name, found.index, place->field->name,
                                  place->field->name, place->count - 1);
        named->list[place->begin + found.index] = named->tensors + i;
    }
    return true;
}

void srv_named_sort(srv_named *named, json_t *root, srv_problem *problem) {
    size_t begin = 0;
    for (const srv_field *field = srv_fields; field->name != NULL; field++)
        if (field->take != NULL && named->field_count < SRV_NAMED_FIELDS)
            named->fields[named->field_count++] = (srv_named_field){.field = field};
    count(named, root, problem);
    for (size_t i = 0; i < named->field_count; i++) {
        named->fields[i].begin = begin;
        begin += named->fields[i].count;
    }
    if (problem->id == SRV_NO_PROBLEM) named->list = calloc(begin + 1, sizeof *named->list);
    if (named->list == NULL)
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the request");
    if (named->list == NULL || !place_all(named, problem)) named->field_count = 0;
}

void srv_named_done(srv_named *named) {
    free(named->list);
}

enum {
    BYTES_A_WHOLE = 64, /* a number of Jansson and its place in a list */
    BYTES_A_LIST = 192, /* a list, the places that even a short one has, and its own in the list above */
};

/* The nested lists that a tensor's whole numbers become; SIZE_MAX where it overflows. */
static size_t cost_of_lists(const attn_file_tensor *tensor) {
    if (tensor->rank == 0 || tensor->rank > ATTN_MAX_RANK || tensor->count == 0) return 0; /* refused */
    size_t innermost = tensor->count / tensor->shape[tensor->rank - 1], elements, lists, total;
    return attn_size_mul(tensor->count, BYTES_A_WHOLE, &elements) &&
                   attn_size_mul(innermost, tensor->rank * BYTES_A_LIST, &lists) &&
                   attn_size_add(elements, lists, &total)
               ? total
               : SIZE_MAX;
}

size_t srv_named_cost(const attn_file_tensor *tensors, size_t count, const char *data) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const attn_file_tensor *tensor = tensors + i;
        label found = read_label(tensor->name);
        if (found.field == NULL) continue;
        srv_tensor there = {.dtype = tensor->dtype, .data = data + tensor->begin};
        bool stays = srv_tensor_floats_in_place(&there) != NULL || srv_tensor_flags_in_place(&there) != NULL;
        size_t bytes = stays && !found.is_listed ? 0 : sizeof(float);
        if (!attn_size_mul(tensor->count, bytes, &bytes)) return SIZE_MAX;
        if (is_whole(found.field)) bytes = cost_of_lists(tensor);
        if (!attn_size_add(total, bytes, &total)) return SIZE_MAX;
    }
    return total;
}
