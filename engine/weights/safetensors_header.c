/* Parses and checks a header (safetensors_header.h): every rule of the format, before anything else looks at it. */
#include "safetensors_header.h"
#include "../base/size.h"
#include "label.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What the checks of one header share. */
typedef struct header_reader {
    const char *file;
    size_t data_size;
    attn_error *error;
    const char *bytes;   /* the header's text */
    size_t size, broken; /* where in it an error was found */
} header_reader;

#define REFUSE(reader, ...)                                                                                  \
    attn_error_set((reader)->error, ATTN_BAD_FILE, attn_label_path((reader)->file).text, __VA_ARGS__)
#define NAME(tensor) attn_label_name((tensor)->name).text

static attn_code read_dtype(const header_reader *reader, const json_t *entry, attn_file_tensor *tensor) {
    const json_t *dtype = json_object_get(entry, "dtype");
    if (!json_is_string(dtype)) return REFUSE(reader, "tensor '%s': dtype must be a string", NAME(tensor));
    if (!attn_dtype_find(json_string_value(dtype), &tensor->dtype))
        return REFUSE(reader,
                      "tensor '%s': dtype '%s' is unknown; F64, F32, F16, BF16 and the format's integer "
                      "types are known",
                      NAME(tensor), attn_label_name(json_string_value(dtype)).text);
    return ATTN_OK;
}

/* A JSON integer >= 0; a real such as 4.0 is none. */
static bool read_size(const json_t *number, size_t *out) {
    if (!json_is_integer(number) || json_integer_value(number) < 0) return false;
    *out = (size_t)json_integer_value(number);
    return true;
}

static attn_code read_shape(const header_reader *reader, const json_t *entry, attn_file_tensor *tensor) {
    const json_t *shape = json_object_get(entry, "shape");
    if (!json_is_array(shape)) return REFUSE(reader, "tensor '%s': shape must be an array", NAME(tensor));
    tensor->rank = json_array_size(shape);
    if (tensor->rank > ATTN_FILE_RANK)
        return REFUSE(reader, "tensor '%s': shape has %zu axes; up to %d are accepted", NAME(tensor),
                      tensor->rank, ATTN_FILE_RANK);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        if (!read_size(json_array_get(shape, axis), &tensor->shape[axis]))
            return REFUSE(reader, "tensor '%s': axis %zu of shape is not a whole number of at least 0",
                          NAME(tensor), axis);
    return ATTN_OK;
}

static attn_code read_offsets(const header_reader *reader, const json_t *entry, attn_file_tensor *tensor) {
    const json_t *offsets = json_object_get(entry, "data_offsets");
    if (json_array_size(offsets) != 2 || !read_size(json_array_get(offsets, 0), &tensor->begin) ||
        !read_size(json_array_get(offsets, 1), &tensor->end))
        return REFUSE(reader, "tensor '%s': data_offsets must be two whole numbers of at least 0",
                      NAME(tensor));
    if (tensor->begin > tensor->end)
        return REFUSE(reader, "tensor '%s': data_offsets [%zu,%zu] end before they begin", NAME(tensor),
                      tensor->begin, tensor->end);
    if (tensor->end > reader->data_size)
        return REFUSE(reader,
                      "tensor '%s': data_offsets [%zu,%zu] reach beyond the file's %zu bytes of data; it may "
                      "be truncated",
                      NAME(tensor), tensor->begin, tensor->end, reader->data_size);
    return ATTN_OK;
}

/* Counts elements and compares the bytes that shape and dtype ask for with those that the offsets give. */
static attn_code check_size(const header_reader *reader, attn_file_tensor *tensor) {
    attn_shape_text shape = attn_label_shape(tensor->shape, tensor->rank);
    size_t bits = attn_dtype_bits(tensor->dtype);
    tensor->count = 1;
    for (size_t axis = 0; axis < tensor->rank; axis++)
        if (!attn_size_mul(tensor->count, tensor->shape[axis], &tensor->count))
            return REFUSE(reader, "tensor '%s': shape %s is more than can be counted", NAME(tensor),
                          shape.text);
    if (!attn_size_mul(bits, tensor->count, &bits))
        return REFUSE(reader, "tensor '%s': shape %s is more than can be counted", NAME(tensor), shape.text);
    if (bits % 8 != 0)
        return REFUSE(reader, "tensor '%s': shape %s of %s does not fill whole bytes", NAME(tensor),
                      shape.text, attn_dtype_name(tensor->dtype));
    if (bits / 8 != tensor->end - tensor->begin)
        return REFUSE(reader, "tensor '%s': data_offsets [%zu,%zu] hold %zu bytes; shape %s of %s takes %zu",
                      NAME(tensor), tensor->begin, tensor->end, tensor->end - tensor->begin, shape.text,
                      attn_dtype_name(tensor->dtype), bits / 8);
    return ATTN_OK;
}

static attn_code read_tensor(const header_reader *reader, const char *name, const json_t *entry,
                             attn_file_tensor *tensor) {
    *tensor = (attn_file_tensor){.name = name};
    if (json_object_size(entry) != 3 || !json_object_get(entry, "dtype") ||
        !json_object_get(entry, "shape") || !json_object_get(entry, "data_offsets"))
        return REFUSE(reader, "tensor '%s': an object of exactly dtype, shape and data_offsets is accepted",
                      NAME(tensor));
    attn_code code = read_dtype(reader, entry, tensor);
    if (code == ATTN_OK) code = read_shape(reader, entry, tensor);
    if (code == ATTN_OK) code = read_offsets(reader, entry, tensor);
    if (code == ATTN_OK) code = check_size(reader, tensor);
    return code;
}

static attn_code check_metadata(const header_reader *reader, const json_t *metadata) {
    if (!json_is_object(metadata)) return REFUSE(reader, "__metadata__ must be an object of strings");
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)metadata, key, value) {
        if (!json_is_string(value))
            return REFUSE(reader, "__metadata__ entry '%s' is not a string", attn_label_name(key).text);
    }
    return ATTN_OK;
}

static int compare_sizes(size_t a, size_t b) {
    return (a > b) - (a < b);
}

static int by_data(const void *left, const void *right) {
    const attn_file_tensor *a = left, *b = right;
    int order = compare_sizes(a->begin, b->begin);
    if (order == 0) order = compare_sizes(a->end, b->end);
    return order != 0 ? order : strcmp(a->name, b->name);
}

/* An error of a tensor lies where the text has its name, as far as it has the name as it is. Returns `code`. */
static attn_code blame(header_reader *reader, const char *name, attn_code code) {
    size_t length = strlen(name);
    const char *at = length == 0 ? NULL : memmem(reader->bytes, reader->size, name, length);
    if (at != NULL) reader->broken = (size_t)(at - reader->bytes);
    return code;
}

/* Sorts by data; the data must be the tensors' bytes, each once, and nothing else. */
static attn_code check_layout(header_reader *reader, attn_file_tensor *tensors, size_t count) {
    qsort(tensors, count, sizeof *tensors, by_data);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const attn_file_tensor *tensor = &tensors[i];
        if (tensor->begin < at)
            return blame(reader, tensor->name,
                         REFUSE(reader, "tensors '%s' and '%s' share bytes of the data",
                                NAME(&tensors[i - 1]), NAME(tensor)));
        if (tensor->begin > at)
            return blame(reader, tensor->name,
                         REFUSE(reader, "a hole of %zu bytes before tensor '%s'; the data must have none",
                                tensor->begin - at, NAME(tensor)));
        at = tensor->end;
    }
    if (at != reader->data_size)
        return REFUSE(reader, "%zu bytes follow the last tensor; the data must end with it",
                      reader->data_size - at);
    return ATTN_OK;
}

static attn_code read_entries(header_reader *reader, const json_t *document, attn_file_tensor *tensors,
                              size_t *count) {
    const char *name;
    const json_t *entry;
    json_object_foreach((json_t *)document, name, entry) {
        attn_code code = strcmp(name, "__metadata__") == 0
                             ? check_metadata(reader, entry)
                             : read_tensor(reader, name, entry, &tensors[(*count)++]);
        if (code != ATTN_OK) return blame(reader, name, code);
    }
    return check_layout(reader, tensors, *count);
}

static attn_code parse_json(header_reader *reader, json_t **out) {
    if (reader->size == 0 || reader->bytes[0] != '{')
        return REFUSE(reader, "the header does not begin with '{'; a safetensors header is a JSON object");
    json_error_t problem;
    json_t *document = json_loadb(reader->bytes, reader->size, JSON_REJECT_DUPLICATES, &problem);
    if (document == NULL && json_error_code(&problem) == json_error_out_of_memory)
        return attn_error_set(reader->error, ATTN_NO_MEMORY, attn_label_path(reader->file).text,
                              "no memory for the header");
    reader->broken = problem.position < 0 ? 0 : (size_t)problem.position;
    if (document == NULL)
        return REFUSE(reader, "the header is not the JSON that the format asks for: %s (at its byte %d)",
                      problem.text, problem.position);
    *out = document;
    return ATTN_OK;
}

uint64_t attn_file_header_length(const unsigned char bytes[ATTN_HEADER_LENGTH]) {
    uint64_t length = 0;
    for (size_t i = 0; i < ATTN_HEADER_LENGTH; i++)
        length |= (uint64_t)bytes[i] << (8 * i);
    return length;
}

static attn_code read_header(header_reader *reader, attn_file_header *out) {
    json_t *document = NULL;
    attn_code code = parse_json(reader, &document);
    if (code != ATTN_OK) return code;

    size_t count = 0;
    attn_file_tensor *tensors = calloc(json_object_size(document) + 1, sizeof *tensors);
    if (tensors == NULL)
        code = attn_error_set(reader->error, ATTN_NO_MEMORY, attn_label_path(reader->file).text,
                              "no memory for the header");
    else
        code = read_entries(reader, document, tensors, &count);
    if (code != ATTN_OK) {
        free(tensors);
        json_decref(document);
        return code;
    }
    *out = (attn_file_header){.tensors = tensors, .tensor_count = count, .document = document};
    return ATTN_OK;
}

attn_code attn_file_header_parse(const char *bytes, size_t size, size_t data_size, const char *file,
                                 attn_file_header *out, size_t *broken, attn_error *error) {
    header_reader reader = {
        .file = file, .data_size = data_size, .error = error, .bytes = bytes, .size = size};
    attn_code code = read_header(&reader, out);
    if (code != ATTN_OK && broken != NULL) *broken = reader.broken;
    return code;
}

const char *attn_file_header_metadata(const attn_file_header *header, const char *key) {
    return json_string_value(json_object_get(json_object_get(header->document, "__metadata__"), key));
}

bool attn_file_header_each_metadata(const attn_file_header *header,
                                    bool (*each)(void *context, const char *key, const char *value),
                                    void *context) {
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(header->document, "__metadata__"), key, value) {
        if (!each(context, key, json_string_value(value))) return false;
    }
    return true;
}

void attn_file_header_done(attn_file_header *header) {
    free(header->tensors);
    json_decref(header->document);
    *header = (attn_file_header){0};
}
