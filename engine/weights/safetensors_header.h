/* The header of the safetensors format, read as hostile input: of a weights file, or of a request's body. Source:
 * https://huggingface.co/docs/safetensors, "Format": 8 bytes header length (little-endian), a JSON object, then the
 * tensors' bytes without a gap. Pure but for its own memory; any thread. */
#ifndef ATTN_WEIGHTS_SAFETENSORS_HEADER_H
#define ATTN_WEIGHTS_SAFETENSORS_HEADER_H

#include "model.h"

#include <stddef.h>

/* Bytes before the header, and of a header that is read. The reference implementation takes 100 MB; its JSON tree
 * would then hold 2 GB, and the headers of real files stay below 1 MB. */
enum { ATTN_HEADER_LENGTH = 8, ATTN_HEADER_MAX = 16 << 20 };

/* Bytes [begin, end) of the data; their number agrees with shape and dtype. */
typedef struct attn_file_tensor {
    const char *name; /* any UTF-8 without U+0000, may be "" or hold control characters */
    attn_dtype dtype;
    size_t rank, shape[ATTN_FILE_RANK];
    size_t count; /* of elements */
    size_t begin, end;
} attn_file_tensor;

/* A checked header. Owns the names. */
typedef struct attn_file_header {
    attn_file_tensor *tensors; /* in the order of their data */
    size_t tensor_count;
    void *document;
} attn_file_header;

/* The header's length from the first ATTN_HEADER_LENGTH bytes; any 64-bit number. */
uint64_t attn_file_header_length(const unsigned char bytes[ATTN_HEADER_LENGTH]);

/* Parses and checks a whole header: the `size` bytes after the length, for `data_size` bytes of tensors after
 * them. `file` is only for the error. On failure *out is untouched, and *broken (which may be NULL) is the place in
 * the header where the trouble begins, as far as it is known. Errors: ATTN_BAD_FILE, ATTN_NO_MEMORY. */
attn_code attn_file_header_parse(const char *bytes, size_t size, size_t data_size, const char *file,
                                 attn_file_header *out, size_t *broken, attn_error *error);
/* The `__metadata__` entry of that name; NULL where there is none. */
const char *attn_file_header_metadata(const attn_file_header *header, const char *key);
/* Entry after entry of `__metadata__`: calls `each` until it returns false. False then. */
bool attn_file_header_each_metadata(const attn_file_header *header,
                                    bool (*each)(void *context, const char *key, const char *value),
                                    void *context);
void attn_file_header_done(attn_file_header *header);

#endif
