/* Writes seeded weights as a safetensors file without ever holding more than a few kilobytes of them. The
 * file is written beside its place under another name, synced and renamed, so it appears whole or not at
 * all. */
#include "seeded.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 4096 /* floats */ };

/* Source of the bytes: the safetensors format description (https://huggingface.co/docs/safetensors). */
static void put_little_endian(FILE *file, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        putc((int)(number >> (8 * i) & 0xFF), file);
}

static void put_floats(FILE *file, const float *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put_little_endian(file, bits, sizeof bits);
    }
}

/* Appends one tensor's header entry; columns 0: rank 1. */
static void put_entry(FILE *header, size_t layer, const char *name, size_t rows, size_t columns, size_t *at) {
    size_t end = *at + rows * (columns != 0 ? columns : 1) * sizeof(float);
    fprintf(header, ",\"layers.%zu.%s\":{\"dtype\":\"F32\",\"shape\":[%zu", layer, name, rows);
    if (columns != 0) fprintf(header, ",%zu", columns);
    fprintf(header, "],\"data_offsets\":[%zu,%zu]}", *at, end);
    *at = end;
}

static void put_header(FILE *header, const attn_seed_spec *spec) {
    size_t d = spec->d_model, at = 0;
    fprintf(header, "{\"__metadata__\":{\"format\":\"pt\",\"num_heads\":\"%zu\",\"seed\":\"%" PRIu64 "\"}",
            spec->heads, spec->seed);
    for (size_t layer = 0; layer < spec->layers; layer++) {
        put_entry(header, layer, "in_proj_weight", 3 * d, d, &at);
        put_entry(header, layer, "in_proj_bias", 3 * d, 0, &at);
        put_entry(header, layer, "out_proj.weight", d, d, &at);
        put_entry(header, layer, "out_proj.bias", d, 0, &at);
    }
    putc('}', header);
}

/* The header, padded with spaces so that the data begins at a multiple of 8; NULL without memory. */
static char *make_header(const attn_seed_spec *spec, size_t *size) {
    char *text = NULL;
    FILE *header = open_memstream(&text, size);
    if (header == NULL) return NULL;
    put_header(header, spec);
    while (ftell(header) % 8 != 0)
        putc(' ', header);
    bool failed = ferror(header) != 0;
    if (fclose(header) == 0 && !failed) return text;
    free(text);
    return NULL;
}

static void put_drawn(FILE *file, attn_seed_stream *stream, float bound, size_t count) {
    float values[CHUNK];
    for (size_t done = 0; done < count && !ferror(file); done += CHUNK) {
        size_t now = count - done < CHUNK ? count - done : CHUNK;
        attn_seed_stream_draw(stream, bound, now, values);
        put_floats(file, values, now);
    }
}

static void put_zeros(FILE *file, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_little_endian(file, 0, sizeof(float));
}

static void put_data(FILE *file, const attn_seed_spec *spec) {
    size_t d = spec->d_model;
    attn_seed_stream stream = attn_seed_stream_begin(spec);
    for (size_t layer = 0; layer < spec->layers; layer++) {
        put_drawn(file, &stream, stream.input_bound, 3 * d * d);
        put_zeros(file, 3 * d);
        put_drawn(file, &stream, stream.output_bound, d * d);
        put_zeros(file, d);
    }
}

/* Creates PATH.N.part, a name of its own, with the permissions that the umask leaves. */
static FILE *create_beside(const char *path, char **name) {
    for (int i = 0; i < 100; i++) {
        if (asprintf(name, "%s.%ld-%d.part", path, (long)getpid(), i) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return NULL;
        }
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            FILE *file = fdopen(fd, "wb");
            if (file != NULL) return file;
            close(fd);
            unlink(*name);
        }
        int reason = errno;
        free(*name);
        *name = NULL;
        errno = reason;
        if (reason != EEXIST) return NULL;
    }
    return NULL;
}

/* Makes the new name itself durable; a file system that cannot is no failure: the content is synced
 * already. */
static void sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

static bool write_all(FILE *file, const attn_seed_spec *spec, const char *header, size_t header_size) {
    put_little_endian(file, header_size, 8);
    fwrite(header, 1, header_size, file);
    put_data(file, spec);
    return !ferror(file) && fflush(file) == 0 && fsync(fileno(file)) == 0;
}

attn_code attn_model_seeded_write(const char *path, const attn_seed_spec *spec, attn_error *error) {
    attn_code code = attn_seed_spec_check(spec, error);
    if (code != ATTN_OK) return code;
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* renaming over a device would destroy it */
        return attn_error_set(error, ATTN_IO, path, "'%s' is there and is not a regular file", path);

    size_t header_size = 0;
    char *header = make_header(spec, &header_size), *name = NULL;
    if (header == NULL) return attn_error_set(error, ATTN_NO_MEMORY, path, "no memory for the header");
    FILE *file = create_beside(path, &name);
    if (file == NULL) {
        code = attn_error_set(error, ATTN_IO, path, "cannot create '%s': %s", path, strerror(errno));
        goto out;
    }
    bool written = write_all(file, spec, header, header_size);
    int reason = errno;
    if (fclose(file) != 0 && written) written = false, reason = errno;
    if (written && rename(name, path) != 0) written = false, reason = errno;
    if (written) {
        sync_folder_of(path);
    } else {
        unlink(name);
        code = attn_error_set(error, ATTN_IO, path, "cannot write '%s': %s", path, strerror(reason));
    }
out:
    free(name);
    free(header);
    return code;
}
