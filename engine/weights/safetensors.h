/* Weights files in the safetensors format (safetensors_header.h), read as hostile input.
 *
 * Nothing here trusts a number of the file: memory follows the real size of the file only, and tensors are
 * read with pread, so a file that changes meanwhile gives an error or other numbers, never a signal. */
#ifndef ATTN_WEIGHTS_SAFETENSORS_H
#define ATTN_WEIGHTS_SAFETENSORS_H

#include "safetensors_header.h"

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
