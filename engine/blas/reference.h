/* Kernels that are slow and plain: loops that sum in double precision, without OpenBLAS and without vector code. A program
 * that doubts the fast ones can run on these and compare; tiles, masks and order of work stay the same. */
#ifndef ATTN_BLAS_REFERENCE_H
#define ATTN_BLAS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on every product, softmax and blend of this process takes the plain kernels. Call before the first run. */
void attn_kernels_use_reference(void);
/* Any thread. */
bool attn_kernels_are_reference(void);

/* attn_gemm (blas.h), each element summed in double and rounded once. */
void attn_gemm_reference(bool b_transposed, size_t m, size_t n, size_t k, float alpha, const float *a,
                         size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc);

#endif
