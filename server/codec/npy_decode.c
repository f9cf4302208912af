/* NPY body and query → ask. What lies otherwise than the engine takes it (another byte order, the first axis running
 * fastest) is arranged anew, byte by byte; its dtype is converted where every tensor's is. */
#include "npy.h"

#include "json_query.h"
#include "named_tensors.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NumPy's kinds of elements that have a dtype here. */
static const struct kind {
    const char *descr; /* without the byte order */
    attn_dtype dtype;
} kinds[] = {
    {"f2", ATTN_F16}, {"f4", ATTN_F32}, {"f8", ATTN_F64}, {"i1", ATTN_I8},
    {"i2", ATTN_I16}, {"i4", ATTN_I32}, {"i8", ATTN_I64}, {"u1", ATTN_U8},
    {"u2", ATTN_U16}, {"u4", ATTN_U32}, {"u8", ATTN_U64}, {"b1", ATTN_BOOL},
};

enum { MOST_AXES = 3 }; /* of inputs; higher ranks are refused */

/* An array and where it lies. */
typedef struct array {
    srv_npy header;
    attn_dtype dtype;
    bool is_known; /* else an element has no dtype here */
    bool is_swapped;
    attn_file_tensor tensor; /* as it will be read: little-endian, the last axis running fastest */
} array;

static void find_dtype(array *in) {
    const char *descr = in->header.descr;
    if (strchr("<>|", descr[0]) == NULL) return;
    for (size_t i = 0; descr[0] != '\0' && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(descr + 1, kinds[i].descr) != 0) continue;
        in->is_known = true;
        in->dtype = kinds[i].dtype;
    }
    in->is_swapped = descr[0] == '>' && attn_dtype_bits(in->dtype) > 8;
}

static bool check_size(const srv_source *source, const array *in, srv_problem *problem) {
    size_t found = source->size - in->header.data_at, width = attn_dtype_bits(in->dtype) / 8, wanted;
    char where[24];
    if (!in->is_known) return true;
    if (!attn_size_mul(in->header.count, width, &wanted)) wanted = SIZE_MAX;
    if (found == wanted) return true;
    snprintf(where, sizeof where, "%zu", found < wanted ? source->size : in->header.data_at + wanted);
    return srv_problem_set(problem, SRV_BAD_BODY, SRV_WHERE_OFFSET, where,
                           "%zu bytes of elements; %zu elements of %s take %zu%s", found, in->header.count,
                           in->header.descr, wanted, found < wanted ? "; the body may be cut short" : "");
}

static bool read_array(const srv_source *source, array *out, srv_problem *problem) {
    *out = (array){0};
    if (!srv_npy_read_header(source->body, source->size, &out->header, problem)) return false;
    find_dtype(out);
    if (!check_size(source, out, problem)) return false;
    size_t kept = out->header.rank < ATTN_FILE_RANK ? out->header.rank : ATTN_FILE_RANK;
    out->tensor = (attn_file_tensor){.name = "inputs",
                                     .dtype = out->dtype,
                                     .rank = out->header.rank,
                                     .count = out->header.count,
                                     .end = source->size - out->header.data_at};
    memcpy(out->tensor.shape, out->header.shape, kept * sizeof *out->tensor.shape);
    return true;
}

/* Whether its elements are read; else it is refused. */
static bool is_read(const array *in) {
    return in->is_known && attn_dtype_is_float(in->dtype);
}

/* Whether the bytes must be brought into another order. */
static bool must_arrange(const array *in) {
    if (!is_read(in) || in->header.rank > MOST_AXES) return false;
    return in->header.count > 0 && (in->is_swapped || (in->header.is_fortran && in->header.rank > 1));
}

bool srv_npy_measure(srv_source *source, size_t max_text, srv_problem *problem) {
    (void)max_text; /* a header is read where it lies */
    array in;
    if (!read_array(source, &in, problem)) return false;
    const char *data = source->body + in.header.data_at;
    size_t arranged = must_arrange(&in) ? in.tensor.end : 0;
    source->memory = 0;
    if (is_read(&in) && !attn_size_add(srv_named_cost(&in.tensor, 1, data), arranged, &source->memory))
        source->memory = SIZE_MAX;
    return true;
}

/* The place of element (a, b, c) where the first axis runs fastest; rank 2 has a = 0. */
static size_t fortran_place(const size_t shape[MOST_AXES], size_t a, size_t b, size_t c) {
    return a + shape[0] * (b + shape[1] * c);
}

static void copy_element(unsigned char *to, const unsigned char *from, size_t width, bool is_swapped) {
    for (size_t i = 0; i < width; i++)
        to[i] = from[is_swapped ? width - 1 - i : i];
}

/* All elements one behind the other in C's order. */
static void arrange(const array *in, const unsigned char *from, unsigned char *to) {
    size_t width = attn_dtype_bits(in->dtype) / 8, rank = in->header.rank;
    size_t shape[MOST_AXES] = {1, 1, 1};
    for (size_t i = 0; i < rank; i++)
        shape[MOST_AXES - rank + i] = in->header.shape[i];
    for (size_t a = 0; a < shape[0]; a++)
        for (size_t b = 0; b < shape[1]; b++)
            for (size_t c = 0; c < shape[2]; c++, to += width) {
                size_t place =
                    in->header.is_fortran ? fortran_place(shape, a, b, c) : (a * shape[1] + b) * shape[2] + c;
                copy_element(to, from + place * width, width, in->is_swapped);
            }
}

/* Where the elements lie in the order in which they are read; NULL without memory. */
static const char *arranged(srv_ask *ask, const array *in, const char *data) {
    if (!must_arrange(in)) return data;
    unsigned char *buffer = malloc(in->tensor.end);
    ask->storage->arranged = buffer;
    if (buffer != NULL) arrange(in, (const unsigned char *)data, buffer);
    return (const char *)buffer;
}

static void refuse_dtype(const array *in, srv_problem *problem) {
    if (is_read(in)) return;
    srv_problem_set(problem, SRV_WRONG_TYPE, SRV_WHERE_POINTER, "/inputs/dtype",
                    "found elements of '%s'; <f4, <f8, <f2 and >f4, >f8, >f2 are read, as "
                    "array.astype('float32') gives them",
                    in->header.descr);
}

static void read(srv_ask *ask, const srv_source *source, const array *in) {
    srv_problem earlier = {0};
    json_t *root = json_object();
    srv_named named = {.tensors = &in->tensor, .count = 1};
    ask->storage->query = srv_json_query(source, &earlier);
    refuse_dtype(in, &earlier);
    named.data = arranged(ask, in, source->body + in->header.data_at);
    if (named.data == NULL)
        srv_problem_set(&earlier, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the request");
    srv_named_sort(&named, root, &earlier);
    ask->storage->named = &named;
    srv_json_read_members(ask, root, &earlier);
    ask->storage->named = NULL;
    srv_named_done(&named);
    json_decref(root);
}

bool srv_npy_decode(const srv_source *source, srv_ask **out, srv_problem *problem) {
    array in;
    if (!read_array(source, &in, problem)) return false;
    srv_ask *ask = srv_ask_new();
    if (ask == NULL)
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the request");
    read(ask, source, &in);
    *out = ask;
    return true;
}
