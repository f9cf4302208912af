/* What OpenBLAS's kernels do here: one thread's GFLOP/s on the product that "the limit" is defined by (1024×2304×768),
 * for the kernel set in use. OPENBLAS_CORETYPE=Prescott shows what an OpenBLAS older than the processor would pick. */
#include "engine/engine.h"
#include "tests/support/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { M = 1024, N = 2304, K = 768, TIMES = 9 };

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static float *ramp(size_t count) {
    float *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(i % 13) / 13.0f;
    return values;
}

START_TEST(kernels_in_use) {
    float *a = ramp((size_t)M * K), *b = ramp((size_t)N * K), *c = ramp((size_t)M * N);
    double best = 1e30;
    attn_blas_single_threaded();
    for (int i = 0; i < TIMES; i++) {
        double began = now_s();
        attn_gemm(true, M, N, K, 1, a, K, b, K, 0, c, N);
        double took = now_s() - began;
        if (took < best) best = took;
    }
    const char *better = attn_blas_better_core(attn_blas_core(), attn_blas_processor_level());
    printf("sgemm %dx%dx%d, one thread, %s kernels: %.1f GFLOP/s%s%s%s\n", M, N, K, attn_blas_core(),
           2.0 * M * N * K / best / 1e9, better ? " (attnd would choose " : "", better ? better : "",
           better ? ")" : "");
    free(a);
    free(b);
    free(c);
}
END_TEST

ATTND_SUITE(sgemm) {
    Suite *suite = suite_create("sgemm");
    TCase *tests = tcase_create("sgemm");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, kernels_in_use);
    suite_add_tcase(suite, tests);
    return suite;
}
