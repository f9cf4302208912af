#include "safetensors_writer.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct st_builder {
    char *tensors, *metadata, *data; /* grown by open_memstream */
    size_t tensors_size, metadata_size, data_size;
    FILE *tensor_text, *metadata_text, *bytes;
};

void st_write_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || (size > 0 && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

static void put_number(FILE *file, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        putc((int)(number >> (8 * i) & 0xFF), file);
}

void st_write(const char *path, const char *header_json, const void *data, size_t size) {
    char *text = NULL;
    size_t whole = 0;
    FILE *file = open_memstream(&text, &whole);
    if (file == NULL) abort();
    put_number(file, strlen(header_json), 8);
    fputs(header_json, file);
    if (size > 0) fwrite(data, 1, size, file);
    fclose(file);
    st_write_bytes(path, text, whole);
    free(text);
}

st_builder *st_new(void) {
    st_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) abort();
    builder->tensor_text = open_memstream(&builder->tensors, &builder->tensors_size);
    builder->metadata_text = open_memstream(&builder->metadata, &builder->metadata_size);
    builder->bytes = open_memstream(&builder->data, &builder->data_size);
    if (!builder->tensor_text || !builder->metadata_text || !builder->bytes) abort();
    return builder;
}

void st_metadata(st_builder *builder, const char *key, const char *value) {
    fprintf(builder->metadata_text, "%s\"%s\":\"%s\"", ftell(builder->metadata_text) > 0 ? "," : "", key,
            value);
}

void st_add_bytes(st_builder *builder, const char *name, const char *dtype, const size_t *shape,
                  const void *bytes, size_t size) {
    FILE *text = builder->tensor_text;
    long at = ftell(builder->bytes);
    fprintf(text, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", name, dtype);
    for (size_t axis = 0; shape[axis] != ST_END; axis++)
        fprintf(text, axis == 0 ? "%zu" : ",%zu", shape[axis]);
    fprintf(text, "],\"data_offsets\":[%ld,%ld]}", at, at + (long)size);
    if (size > 0) fwrite(bytes, 1, size, builder->bytes);
}

/* IEEE 754 binary16 of a value that it holds exactly. */
static uint16_t half_of(float value) {
    unsigned sign = signbit(value) ? 0x8000 : 0;
    if (value == 0) return (uint16_t)sign;
    int exponent;
    float fraction = frexpf(fabsf(value), &exponent); /* 0.5 <= fraction < 1 */
    if (exponent < -13) return (uint16_t)(sign | (unsigned)ldexpf(fabsf(value), 24));
    return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 | ((unsigned)ldexpf(fraction, 11) & 0x3FF));
}

static void put_value(FILE *file, const char *dtype, float value) {
    uint32_t bits;
    double wide = (double)value;
    uint64_t wide_bits;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&wide_bits, &wide, sizeof wide_bits);
    if (strcmp(dtype, "F64") == 0)
        put_number(file, wide_bits, 8);
    else if (strcmp(dtype, "F32") == 0)
        put_number(file, bits, 4);
    else if (strcmp(dtype, "BF16") == 0)
        put_number(file, bits >> 16, 2);
    else if (strcmp(dtype, "F16") == 0)
        put_number(file, half_of(value), 2);
    else
        abort();
}

void st_add(st_builder *builder, const char *name, const char *dtype, const size_t *shape,
            const float *values) {
    char *bytes = NULL;
    size_t size = 0, count = 1;
    FILE *file = open_memstream(&bytes, &size);
    if (file == NULL) abort();
    for (size_t axis = 0; shape[axis] != ST_END; axis++)
        count *= shape[axis];
    for (size_t i = 0; i < count; i++)
        put_value(file, dtype, values[i]);
    fclose(file);
    st_add_bytes(builder, name, dtype, shape, bytes, size);
    free(bytes);
}

void st_finish(st_builder *builder, const char *path) {
    fclose(builder->tensor_text);
    fclose(builder->metadata_text);
    fclose(builder->bytes);
    char *header = NULL;
    if (asprintf(&header, "{\"__metadata__\":{%s}%s}", builder->metadata, builder->tensors) < 0) abort();
    st_write(path, header, builder->data, builder->data_size);
    free(header);
    free(builder->tensors);
    free(builder->metadata);
    free(builder->data);
    free(builder);
}
