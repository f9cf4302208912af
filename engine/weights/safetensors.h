/* The safetensors format, read as hostile input. Source: https://huggingface.co/docs/safetensors, "Format": 8
 * bytes header length (little-endian), a JSON object, then the tensors' bytes without a gap.
 *
 * Nothing here trusts a number of the file: memory follows the real size of the file only, and tensors are
 * read with pread, so a file that changes meanwhile gives an error or other numbers, never a signal. */
#ifndef ATTN_WEIGHTS_SAFETENSORS_H
#define ATTN_WEIGHTS_SAFETENSORS_H

#include "model.h"

#include <stddef.h>

/* Bytes of a header that is read. The reference implementation takes 100 MB; its JSON tree would then hold 2 GB, and
 * the headers of real files stay below 1 MB. */
enum { ATTN_HEADER_MAX = 16 << 20 };

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

/* Parses and checks a whole header: the `size` bytes after the length, for `data_size` bytes of tensors after
 * them. `file` is only for the error. On failure *out is untouched. Errors: ATTN_BAD_FILE, ATTN_NO_MEMORY. */
attn_code attn_file_header_parse(const char *bytes, size_t size, size_t data_size, const char *file,
                                 attn_file_header *out, attn_error *error);
/* The `__metadata__` entry of that name; NULL where there is none. */
const char *attn_file_header_metadata(const attn_file_header *header, const char *key);
void attn_file_header_done(attn_file_header *header);

/* An open weights file. One thread at a time. */
typedef struct attn_safetensors {
    char *path;
    attn_file_header header;
    int fd;
    size_t data_at;        /* where the data begins in the file */
    unsigned char *buffer; /* bytes on their way to float32 */
} attn_safetensors;

/* Opens a regular file and reads its header. On failure *out is untouched. Errors: ATTN_IO, ATTN_BAD_FILE,
 * ATTN_NO_MEMORY. */
attn_code attn_safetensors_open(const char *path, attn_safetensors **out, attn_error *error);
/* out[0..count) = elements first … first + count of a tensor of a float dtype, as float32. Error: ATTN_IO. */
attn_code attn_safetensors_read(attn_safetensors *file, const attn_file_tensor *tensor, size_t first,
                                size_t count, float *out, attn_error *error);
void attn_safetensors_close(attn_safetensors *file);

#endif
