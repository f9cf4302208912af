/* Parses and checks the header of a safetensors file: every rule of the format, before anything else looks at
 * it. Memory is a few times the header's own size. Pure but for its own memory; any thread. */
#include "../base/size.h"
#include "header_text.h"
#include "label.h"
#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

/* One header being read. */
typedef struct header_reader {
    attn_header_text text;
    const char *file;
    size_t data_size;
    attn_file_header header;
    size_t tensor_room, note_room; /* entries that the arrays could hold */
    bool metadata_seen;
    attn_error *error;
} header_reader;

#define REFUSE(reader, ...)                                                                                  \
    attn_error_set((reader)->error, ATTN_BAD_FILE, attn_label_path((reader)->file).text, __VA_ARGS__)
#define NAME(tensor) attn_label_name((tensor)->name).text

static attn_code no_memory(const header_reader *reader) {
    return attn_error_set(reader->error, ATTN_NO_MEMORY, attn_label_path(reader->file).text,
                          "no memory for the header");
}

static attn_code refuse_text(const header_reader *reader) {
    return REFUSE(reader, "the header is not the JSON that the format asks for: %s at its byte %zu",
                  reader->text.problem, (size_t)(reader->text.at - reader->text.begin));
}

static attn_code refuse_entry(const header_reader *reader, const attn_file_tensor *tensor) {
    return REFUSE(reader, "tensor '%s': an object of exactly dtype, shape and data_offsets is accepted",
                  NAME(tensor));
}

/* Takes `"key":`. */
static bool read_key(header_reader *reader, const char **key) {
    *key = attn_header_string(&reader->text);
    return *key != NULL && attn_header_take(&reader->text, ':', "':' is expected");
}

/* The array, moved where it had no room for one more entry of `width` bytes; NULL without memory: it is as it
 * was. */
static void *with_room(void *array, size_t count, size_t *room, size_t width) {
    if (count < *room) return array;
    size_t wanted = *room == 0 ? 16 : *room + *room / 2, bytes;
    if (!attn_size_mul(wanted, width, &bytes)) return NULL;
    void *grown = realloc(array, bytes);
    if (grown != NULL) *room = wanted;
    return grown;
}

static attn_code read_dtype(header_reader *reader, attn_file_tensor *tensor) {
    if (attn_header_peek(&reader->text) != '"')
        return REFUSE(reader, "tensor '%s': dtype must be a string", NAME(tensor));
    const char *dtype = attn_header_string(&reader->text);
    if (dtype == NULL) return refuse_text(reader);
    if (!attn_dtype_find(dtype, &tensor->dtype))
        return REFUSE(reader,
                      "tensor '%s': dtype '%s' is unknown; F64, F32, F16, BF16 and the format's integer "
                      "types are known",
                      NAME(tensor), attn_label_name(dtype).text);
    return ATTN_OK;
}

static attn_code read_shape(header_reader *reader, attn_file_tensor *tensor) {
    if (!attn_header_take(&reader->text, '[', ""))
        return REFUSE(reader, "tensor '%s': shape must be an array", NAME(tensor));
    for (bool first = true, more;; first = false) {
        if (!attn_header_more(&reader->text, ']', first, &more)) return refuse_text(reader);
        if (!more) return ATTN_OK;
        if (tensor->rank == ATTN_FILE_RANK)
            return REFUSE(reader, "tensor '%s': shape has more than %d axes", NAME(tensor), ATTN_FILE_RANK);
        if (!attn_header_size(&reader->text, &tensor->shape[tensor->rank]))
            return REFUSE(
                reader,
                "tensor '%s': axis %zu of shape is not a whole number of at least 0 that can be counted",
                NAME(tensor), tensor->rank);
        tensor->rank++;
    }
}

static attn_code read_offsets(header_reader *reader, attn_file_tensor *tensor) {
    attn_header_text *text = &reader->text;
    if (!attn_header_take(text, '[', "") || !attn_header_size(text, &tensor->begin) ||
        !attn_header_take(text, ',', "") || !attn_header_size(text, &tensor->end) ||
        !attn_header_take(text, ']', ""))
        return REFUSE(reader, "tensor '%s': data_offsets must be two whole numbers of at least 0",
                      NAME(tensor));
    return ATTN_OK;
}

static attn_code check_offsets(const header_reader *reader, const attn_file_tensor *tensor) {
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

/* Members of a tensor's entry. */
static const struct {
    const char *key;
    attn_code (*read)(header_reader *reader, attn_file_tensor *tensor);
} members[] = {{"dtype", read_dtype}, {"shape", read_shape}, {"data_offsets", read_offsets}};
enum { MEMBERS = sizeof members / sizeof members[0] };

static attn_code read_member(header_reader *reader, attn_file_tensor *tensor, bool *seen) {
    const char *key;
    if (!read_key(reader, &key)) return refuse_text(reader);
    for (size_t i = 0; i < MEMBERS; i++) {
        if (strcmp(key, members[i].key) != 0) continue;
        if (seen[i]) return REFUSE(reader, "tensor '%s': %s stands twice", NAME(tensor), key);
        seen[i] = true;
        return members[i].read(reader, tensor);
    }
    return refuse_entry(reader, tensor);
}

static attn_code read_tensor(header_reader *reader, const char *name) {
    attn_file_header *header = &reader->header;
    attn_file_tensor *tensors =
        with_room(header->tensors, header->tensor_count, &reader->tensor_room, sizeof *tensors);
    if (tensors == NULL) return no_memory(reader);
    header->tensors = tensors;
    attn_file_tensor *tensor = &tensors[header->tensor_count++];
    *tensor = (attn_file_tensor){.name = name};
    if (!attn_header_take(&reader->text, '{', "")) return refuse_entry(reader, tensor);

    bool seen[MEMBERS] = {false}, more;
    for (bool first = true;; first = false) {
        if (!attn_header_more(&reader->text, '}', first, &more)) return refuse_text(reader);
        if (!more) break;
        attn_code code = read_member(reader, tensor, seen);
        if (code != ATTN_OK) return code;
    }
    for (size_t i = 0; i < MEMBERS; i++)
        if (!seen[i]) return refuse_entry(reader, tensor);
    attn_code code = check_offsets(reader, tensor);
    return code != ATTN_OK ? code : check_size(reader, tensor);
}

static attn_code read_note(header_reader *reader) {
    attn_file_header *header = &reader->header;
    attn_file_note *notes = with_room(header->notes, header->note_count, &reader->note_room, sizeof *notes);
    if (notes == NULL) return no_memory(reader);
    header->notes = notes;
    attn_file_note *note = &notes[header->note_count];
    if (!read_key(reader, &note->key)) return refuse_text(reader);
    if (attn_header_peek(&reader->text) != '"')
        return REFUSE(reader, "__metadata__ entry '%s' is not a string", attn_label_name(note->key).text);
    note->value = attn_header_string(&reader->text);
    if (note->value == NULL) return refuse_text(reader);
    header->note_count++;
    return ATTN_OK;
}

static attn_code read_metadata(header_reader *reader) {
    if (reader->metadata_seen) return REFUSE(reader, "__metadata__ stands twice");
    reader->metadata_seen = true;
    if (!attn_header_take(&reader->text, '{', ""))
        return REFUSE(reader, "__metadata__ must be an object of strings");
    for (bool first = true, more;; first = false) {
        if (!attn_header_more(&reader->text, '}', first, &more)) return refuse_text(reader);
        if (!more) return ATTN_OK;
        attn_code code = read_note(reader);
        if (code != ATTN_OK) return code;
    }
}

static attn_code read_entries(header_reader *reader) {
    attn_header_text *text = &reader->text;
    if (text->at == text->end || *text->at != '{')
        return REFUSE(reader, "the header does not begin with '{'; a safetensors header is a JSON object");
    text->at++;
    for (bool first = true, more;; first = false) {
        const char *name;
        if (!attn_header_more(text, '}', first, &more)) return refuse_text(reader);
        if (!more) break;
        if (!read_key(reader, &name)) return refuse_text(reader);
        attn_code code =
            strcmp(name, "__metadata__") == 0 ? read_metadata(reader) : read_tensor(reader, name);
        if (code != ATTN_OK) return code;
    }
    attn_header_peek(text);
    if (text->at == text->end) return ATTN_OK;
    text->problem = "nothing more than spaces is expected";
    return refuse_text(reader);
}

static int by_name(const void *left, const void *right) {
    return strcmp(((const attn_file_tensor *)left)->name, ((const attn_file_tensor *)right)->name);
}

static int by_key(const void *left, const void *right) {
    return strcmp(((const attn_file_note *)left)->key, ((const attn_file_note *)right)->key);
}

static attn_code check_names(const header_reader *reader) {
    const attn_file_header *header = &reader->header;
    if (header->tensor_count > 0)
        qsort(header->tensors, header->tensor_count, sizeof *header->tensors, by_name);
    if (header->note_count > 0) qsort(header->notes, header->note_count, sizeof *header->notes, by_key);
    for (size_t i = 1; i < header->tensor_count; i++)
        if (by_name(&header->tensors[i - 1], &header->tensors[i]) == 0)
            return REFUSE(reader, "tensor '%s' stands twice", NAME(&header->tensors[i]));
    for (size_t i = 1; i < header->note_count; i++)
        if (by_key(&header->notes[i - 1], &header->notes[i]) == 0)
            return REFUSE(reader, "__metadata__ entry '%s' stands twice",
                          attn_label_name(header->notes[i].key).text);
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

/* Sorts by data; the data must be the tensors' bytes, each once, and nothing else. */
static attn_code check_layout(const header_reader *reader, attn_file_tensor *tensors, size_t count) {
    if (count > 0) qsort(tensors, count, sizeof *tensors, by_data);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const attn_file_tensor *tensor = &tensors[i];
        if (tensor->begin < at)
            return REFUSE(reader, "tensors '%s' and '%s' share bytes of the data", NAME(&tensors[i - 1]),
                          NAME(tensor));
        if (tensor->begin > at)
            return REFUSE(reader, "a hole of %zu bytes before tensor '%s'; the data must have none",
                          tensor->begin - at, NAME(tensor));
        at = tensor->end;
    }
    if (at != reader->data_size)
        return REFUSE(reader, "%zu bytes follow the last tensor; the data must end with it",
                      reader->data_size - at);
    return ATTN_OK;
}

attn_code attn_file_header_parse(const char *bytes, size_t size, size_t data_size, const char *file,
                                 attn_file_header *out, attn_error *error) {
    header_reader reader = {.file = file, .data_size = data_size, .error = error};
    reader.header.text = malloc(size + 1);
    if (reader.header.text == NULL) return no_memory(&reader);
    memcpy(reader.header.text, bytes, size);
    reader.text.begin = reader.text.at = reader.header.text;
    reader.text.end = reader.header.text + size;

    attn_code code = read_entries(&reader);
    if (code == ATTN_OK) code = check_names(&reader);
    if (code == ATTN_OK) code = check_layout(&reader, reader.header.tensors, reader.header.tensor_count);
    if (code == ATTN_OK)
        *out = reader.header;
    else
        attn_file_header_done(&reader.header);
    return code;
}

const char *attn_file_header_metadata(const attn_file_header *header, const char *key) {
    const attn_file_note wanted = {.key = key};
    if (header->note_count == 0) return NULL;
    const attn_file_note *note = bsearch(&wanted, header->notes, header->note_count, sizeof wanted, by_key);
    return note != NULL ? note->value : NULL;
}

void attn_file_header_done(attn_file_header *header) {
    free(header->tensors);
    free(header->notes);
    free(header->text);
    *header = (attn_file_header){0};
}
