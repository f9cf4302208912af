/* The only door to OpenBLAS: one-thread matrix products, and which kernels the library uses.
 *
 * OpenBLAS picks its kernels once, when it is loaded, from the processor's model number. A release that is
 * older than the processor falls back to its oldest kernels and runs at a sixth of the speed. This part only
 * tells what is in use and what would be right; a program that wants to mend it sets OPENBLAS_CORETYPE and
 * re-executes itself. */
#ifndef ATTN_BLAS_BLAS_H
#define ATTN_BLAS_BLAS_H

#include "../base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* C (m×n, row stride ldc) = alpha · A (m×k, lda) · B, beta·C added. B is k×n (ldb), or n×k where
 * `b_transposed`. Row-major. With beta == 0 the old C is not read. Sizes must fit an int (the plan checks
 * them); m, n or k may be 0. Any thread; each call uses the calling thread alone. */
void attn_gemm(bool b_transposed, size_t m, size_t n, size_t k, float alpha, const float *a, size_t lda,
               const float *b, size_t ldb, float beta, float *c, size_t ldc);

/* Vector width that a kernel set or a processor uses, in the order of speed. */
typedef enum attn_blas_level {
    ATTN_BLAS_UNKNOWN, /* not x86, or a kernel set this table does not know: left alone */
    ATTN_BLAS_SSE,
    ATTN_BLAS_AVX,
    ATTN_BLAS_AVX2,
    ATTN_BLAS_AVX512,
} attn_blas_level;

/* The level of a kernel set by OpenBLAS's name for it ("Prescott", "Haswell" …; case is ignored). */
attn_blas_level attn_blas_core_level(const char *core);
/* What this processor and its operating system can run. */
attn_blas_level attn_blas_processor_level(void);
/* The name of the kernel set to ask for where `core` is in use on a processor of `level`; NULL where `core`
 * is right or unknown. */
const char *attn_blas_better_core(const char *core, attn_blas_level level);

/* The kernel set in use, and the library's own description of its build. Static storage. */
const char *attn_blas_core(void);
const char *attn_blas_config(void);
/* How many threads may call the library at the same time: beyond, OpenBLAS kills the process or computes wrong numbers.
 * 1 for a build without threads of its own. */
size_t attn_blas_max_callers(void);
/* The same of a library of that description. */
size_t attn_blas_callers_of(const char *config);
/* Makes every call use one thread. Call once before the first attn_gemm. */
void attn_blas_single_threaded(void);

/* Compares products of odd and tiled sizes, with old NaN in C, with plain loops in double. Error:
 * ATTN_NOT_FINITE or ATTN_RANGE with the size and the difference, when the kernels compute wrong numbers
 * here. */
attn_code attn_blas_self_test(attn_error *error);

#endif
