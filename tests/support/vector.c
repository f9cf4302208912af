/* A safetensors file is 8 bytes of header length, that much JSON, then the tensors' bytes, little-endian. */
#include "vector.h"

#include <check.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 512 };

struct vector {
    json_t *header;
    size_t count;
    vector_tensor tensors[MAX_TENSORS];
};

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long end = ftell(file);
    ck_assert_msg(end >= 8, "%s is too short", path);
    rewind(file);
    *size = (size_t)end;
    unsigned char *bytes = malloc(*size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static size_t number(const json_t *array, size_t index) {
    return (size_t)json_integer_value(json_array_get(array, index));
}

static void *copy(const unsigned char *bytes, size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(memory);
    memcpy(memory, bytes, size);
    return memory;
}

static void fill(vector_tensor *tensor, const char *name, const json_t *entry, const unsigned char *data,
                 size_t size) {
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape"), *span = json_object_get(entry, "data_offsets");
    size_t from = number(span, 0), to = number(span, 1);
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->rank = json_array_size(shape);
    ck_assert_msg(tensor->rank <= VECTOR_RANK && from <= to && to <= size, "%s has a bad entry", name);
    tensor->count = 1;
    for (size_t axis = 0; axis < tensor->rank; axis++) {
        tensor->shape[axis] = number(shape, axis);
        tensor->count *= tensor->shape[axis];
    }
    if (strcmp(dtype, "F64") == 0) {
        tensor->is_f64 = true;
        tensor->doubles = copy(data + from, to - from);
    } else if (strcmp(dtype, "F32") == 0) {
        tensor->floats = copy(data + from, to - from);
        tensor->doubles = malloc((tensor->count + 1) * sizeof *tensor->doubles);
        ck_assert_ptr_nonnull(tensor->doubles);
        for (size_t i = 0; i < tensor->count; i++)
            tensor->doubles[i] = (double)tensor->floats[i];
    } else {
        ck_assert_msg(strcmp(dtype, "U8") == 0, "%s is %s; a vector holds F64, F32 and U8", name, dtype);
        tensor->bytes = copy(data + from, to - from);
    }
}

vector *vector_read(const char *path) {
    size_t size;
    unsigned char *bytes = read_file(path, &size);
    uint64_t header_size;
    memcpy(&header_size, bytes, 8);
    ck_assert_msg(header_size <= size - 8, "%s has a bad header length", path);

    vector *file = calloc(1, sizeof *file);
    ck_assert_ptr_nonnull(file);
    file->header = json_loadb((const char *)bytes + 8, header_size, 0, NULL);
    ck_assert_msg(json_is_object(file->header), "%s has no JSON header", path);
    const unsigned char *data = bytes + 8 + header_size;
    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry) {
        if (strcmp(name, "__metadata__") == 0) continue;
        ck_assert_uint_lt(file->count, MAX_TENSORS);
        fill(&file->tensors[file->count++], name, entry, data, size - 8 - header_size);
    }
    free(bytes);
    return file;
}

void vector_free(vector *file) {
    if (file == NULL) return;
    for (size_t i = 0; i < file->count; i++) {
        free(file->tensors[i].doubles);
        free(file->tensors[i].floats);
        free(file->tensors[i].bytes);
    }
    json_decref(file->header);
    free(file);
}

const char *vector_option(const vector *file, const char *key) {
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}

static const vector_tensor *find(const vector *file, const char *name) {
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i];
    return NULL;
}

const vector_tensor *vector_find(const vector *file, const char *format, ...) {
    char name[VECTOR_NAME_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return find(file, name);
}

const vector_tensor *vector_get(const vector *file, const char *format, ...) {
    char name[VECTOR_NAME_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    const vector_tensor *tensor = find(file, name);
    ck_assert_msg(tensor != NULL, "the vector has no %s", name);
    return tensor;
}
