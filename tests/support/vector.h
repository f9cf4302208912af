/* Reads the tensors of a golden vector: a small safetensors file that tests/golden/ made. A reader of its
 * own, so that the engine's is not judged by itself; the files are trusted, and any fault in them ends the
 * test. */
#ifndef TESTS_SUPPORT_VECTOR_H
#define TESTS_SUPPORT_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VECTOR_NAME_SIZE = 96, VECTOR_RANK = 4 };

typedef struct vector_tensor {
    char name[VECTOR_NAME_SIZE];
    size_t rank, shape[VECTOR_RANK];
    size_t count;
    bool is_f64;     /* stored as F64 */
    double *doubles; /* F64 and F32: the values; NULL otherwise */
    float *floats;   /* F32: the values; NULL otherwise */
    uint8_t *bytes;  /* U8: the values; NULL otherwise */
} vector_tensor;

typedef struct vector vector;

/* Opens a file; fails the running test where it cannot be read. */
vector *vector_read(const char *path);
void vector_free(vector *file);

/* A string of `__metadata__`; NULL where there is none. */
const char *vector_option(const vector *file, const char *key);

/* A tensor by its name printed as by printf; NULL where there is none. */
__attribute__((format(printf, 2, 3))) const vector_tensor *vector_find(const vector *file, const char *format,
                                                                       ...);
/* The same, failing the running test where there is none. */
__attribute__((format(printf, 2, 3))) const vector_tensor *vector_get(const vector *file, const char *format,
                                                                      ...);

#endif
