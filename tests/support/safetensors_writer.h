/* Writes safetensors files for tests, sound ones and broken ones. Failures end the test program. */
#ifndef TESTS_SUPPORT_SAFETENSORS_WRITER_H
#define TESTS_SUPPORT_SAFETENSORS_WRITER_H

#include <stddef.h>

/* Header length, this text as the header, these bytes as the data; nothing is checked. */
void st_write(const char *path, const char *header_json, const void *data, size_t size);
/* Exactly these bytes. */
void st_write_bytes(const char *path, const void *bytes, size_t size);

/* Collects tensors and metadata. Names and values must not need JSON escapes. */
typedef struct st_builder st_builder;

st_builder *st_new(void);
/* shape ends with ST_END: st_add(b, "w", "F32", (size_t[]){2, 2, ST_END}, values). dtype F32, F64, F16 or
 * BF16; F16 and BF16 for values that they hold exactly. */
#define ST_END ((size_t)-1)
void st_add(st_builder *builder, const char *name, const char *dtype, const size_t *shape,
            const float *values);
/* Any dtype, its bytes as they are. */
void st_add_bytes(st_builder *builder, const char *name, const char *dtype, const size_t *shape,
                  const void *bytes, size_t size);
void st_metadata(st_builder *builder, const char *key, const char *value);
/* Writes the file and frees the builder. */
void st_finish(st_builder *builder, const char *path);

#endif
