/* application/x-npy in and out (docs: the HTTP contract, 2.3): one array, NumPy's own format. Source:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0 to 3.0. Runs on workers. */
#ifndef SRV_CODEC_NPY_H
#define SRV_CODEC_NPY_H

#include "codec.h"

/* As in the table of formats (codec.h). The array is `inputs`; options stand in the query. Float32 of this machine's
 * order stays in the body. */
bool srv_npy_measure(srv_source *source, size_t max_text, srv_problem *problem);
bool srv_npy_decode(const srv_source *source, srv_ask **out, srv_problem *problem);

/* Answers: the one tensor that the parameter `tensor` names, `outputs` where it does not; nothing else is computed. Those
 * of sequences of different lengths are packed; what has several shapes is refused. */
extern const char *const srv_npy_parameters[];
bool srv_npy_settle(srv_ask *ask, srv_problem *problem);
bool srv_npy_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

/* Bytes of such an answer that holds `outputs`. */
size_t srv_npy_size_of_outputs(const srv_ask *ask, const attn_plan *plan);

enum { SRV_NPY_RANK = 8, SRV_NPY_DESCR = 24 };

/* What a header says. */
typedef struct srv_npy {
    char descr[SRV_NPY_DESCR]; /* of the elements, such as "<f4"; cut where it is longer */
    bool is_fortran;           /* the first axis runs fastest */
    size_t rank;               /* beyond SRV_NPY_RANK only counted */
    size_t shape[SRV_NPY_RANK];
    size_t count;   /* the product */
    size_t data_at; /* where the elements begin */
} srv_npy;

/* Reads a header: a dictionary as Python writes it. False with SRV_BAD_BODY and the offset. */
bool srv_npy_read_header(const char *bytes, size_t size, srv_npy *out, srv_problem *problem);

#endif
