/* Opens weights files and reads their tensors. Only regular files: a device or a pipe could block for ever.
 * The caller owns the open file and everything read from it. */
#include "safetensors.h"

#include "../base/size.h"
#include "label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, LENGTH = ATTN_HEADER_LENGTH };

/* Beginnings of files that are often given in place of safetensors. */
static const struct {
    const char *beginning, *text;
} strangers[] = {
    {"version https://git-lfs", "is a Git LFS pointer, not the file itself; 'git lfs pull' fetches the file"},
    {"PK\x03\x04",
     "is a zip archive, perhaps a PyTorch checkpoint; safetensors.torch.save_file writes what is "
     "read here"},
    {"GGUF", "is a GGUF file; a safetensors file is accepted"},
    {"\x93NUMPY", "is a NumPy array; a safetensors file is accepted"},
};

/* Reads exactly `size` bytes. */
static attn_code read_at(const attn_safetensors *file, size_t at, size_t size, unsigned char *out,
                         attn_error *error) {
    const char *where = file->path;
    while (size > 0) {
        ssize_t got = pread(file->fd, out, size, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return attn_error_set(error, ATTN_IO, attn_label_path(where).text, "cannot be read: %s",
                                  strerror(errno));
        if (got == 0)
            return attn_error_set(error, ATTN_IO, attn_label_path(where).text,
                                  "ended at byte %zu while being read; it was longer when opened", at);
        out += got, at += (size_t)got, size -= (size_t)got;
    }
    return ATTN_OK;
}

static attn_code open_regular(attn_safetensors *file, size_t *size, attn_error *error) {
    attn_place where = attn_label_path(file->path);
    file->fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat about;
    if (file->fd < 0 || fstat(file->fd, &about) != 0)
        return attn_error_set(error, ATTN_IO, where.text, "cannot be opened: %s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return attn_error_set(error, ATTN_IO, where.text, "is %s; a regular file is accepted",
                              S_ISDIR(about.st_mode) ? "a directory" : "a device, pipe or socket");
    *size = (size_t)about.st_size;
    return ATTN_OK;
}

static attn_code check_beginning(const attn_safetensors *file, size_t size, attn_error *error) {
    unsigned char beginning[24] = {0};
    attn_code code = read_at(file, 0, size < sizeof beginning ? size : sizeof beginning, beginning, error);
    if (code != ATTN_OK) return code;
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++)
        if (memcmp(beginning, strangers[i].beginning, strlen(strangers[i].beginning)) == 0)
            return attn_error_set(error, ATTN_BAD_FILE, attn_label_path(file->path).text, "%s",
                                  strangers[i].text);
    if (size < LENGTH + 2)
        return attn_error_set(error, ATTN_BAD_FILE, attn_label_path(file->path).text,
                              "has %zu bytes; a safetensors file has a header length of 8 bytes and a header",
                              size);
    return ATTN_OK;
}

static attn_code check_header_size(const attn_safetensors *file, uint64_t header_size, size_t size,
                                   attn_error *error) {
    attn_place where = attn_label_path(file->path);
    if (header_size > ATTN_HEADER_MAX)
        return attn_error_set(error, ATTN_BAD_FILE, where.text,
                              "header length is %ju bytes; up to %d are accepted: is it a safetensors file?",
                              (uintmax_t)header_size, ATTN_HEADER_MAX);
    if (header_size > size - LENGTH)
        return attn_error_set(error, ATTN_BAD_FILE, where.text,
                              "header length is %ju bytes and %zu follow; the file may be truncated",
                              (uintmax_t)header_size, size - LENGTH);
    return ATTN_OK;
}

static attn_code read_header(attn_safetensors *file, size_t size, attn_error *error) {
    unsigned char length[LENGTH];
    attn_code code = read_at(file, 0, LENGTH, length, error);
    if (code != ATTN_OK) return code;
    uint64_t header_size = attn_file_header_length(length);
    code = check_header_size(file, header_size, size, error);
    if (code != ATTN_OK) return code;

    unsigned char *header = malloc((size_t)header_size + 1);
    if (header == NULL)
        return attn_error_set(error, ATTN_NO_MEMORY, attn_label_path(file->path).text,
                              "no memory for the header");
    code = read_at(file, LENGTH, (size_t)header_size, header, error);
    file->data_at = LENGTH + (size_t)header_size;
    if (code == ATTN_OK)
        code = attn_file_header_parse((const char *)header, (size_t)header_size, size - file->data_at,
                                      file->path, &file->header, NULL, error);
    free(header);
    return code;
}

attn_code attn_safetensors_open(const char *path, attn_safetensors **out, attn_error *error) {
    attn_safetensors *file = calloc(1, sizeof *file);
    attn_code code = ATTN_OK;
    if (file != NULL) {
        file->fd = -1;
        file->path = strdup(path);
        file->buffer = malloc(BUFFER);
    }
    if (file == NULL || file->path == NULL || file->buffer == NULL)
        code =
            attn_error_set(error, ATTN_NO_MEMORY, attn_label_path(path).text, "no memory to open the file");
    size_t size = 0;
    if (code == ATTN_OK) code = open_regular(file, &size, error);
    if (code == ATTN_OK) code = check_beginning(file, size, error);
    if (code == ATTN_OK) code = read_header(file, size, error);
    if (code != ATTN_OK) {
        attn_safetensors_close(file);
        return code;
    }
    *out = file;
    return ATTN_OK;
}

attn_code attn_safetensors_read(attn_safetensors *file, const attn_file_tensor *tensor, size_t first,
                                size_t count, float *out, attn_error *error) {
    size_t width = attn_dtype_bits(tensor->dtype) / 8, at = file->data_at + tensor->begin + first * width;
    while (count > 0) {
        size_t now = count < BUFFER / width ? count : BUFFER / width;
        attn_code code = read_at(file, at, now * width, file->buffer, error);
        if (code != ATTN_OK) return code;
        attn_dtype_to_f32(tensor->dtype, file->buffer, now, out);
        out += now, at += now * width, count -= now;
    }
    return ATTN_OK;
}

void attn_safetensors_close(attn_safetensors *file) {
    if (file == NULL) return;
    if (file->fd >= 0) close(file->fd);
    attn_file_header_done(&file->header);
    free(file->buffer);
    free(file->path);
    free(file);
}
