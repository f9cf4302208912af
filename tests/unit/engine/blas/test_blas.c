/* The sgemm wrapper against plain loops, and the table that notices kernels older than the processor. */
#include "engine/engine.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

START_TEST(products_of_every_form) {
    const float a[] = {1, 2, 3, 4, 5, 6};  /* 2×3 */
    const float b[] = {1, 0, 2, 1, 0, 3};  /* 3×2 */
    const float bt[] = {1, 2, 0, 0, 1, 3}; /* its transpose, 2×3 */
    const float want[] = {5, 11, 14, 23};
    float c[4] = {NAN, NAN, NAN, NAN};
    attn_gemm(false, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(c[i], want[i]);
    attn_gemm(true, 2, 2, 3, 2, a, 3, bt, 3, 1, c, 2);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(c[i], 3 * want[i]);
}
END_TEST

START_TEST(empty_sides) {
    float c[2] = {7, NAN};
    attn_gemm(true, 0, 2, 1, 1, c, 1, c, 1, 0, c, 2);
    ck_assert_float_eq(c[0], 7);
    attn_gemm(true, 1, 2, 0, 1, NULL, 1, NULL, 1, 0, c, 2); /* no term: beta 0 gives zeros even over NaN */
    ck_assert_float_eq(c[0], 0);
    ck_assert_float_eq(c[1], 0);
    c[0] = 4;
    attn_gemm(true, 1, 1, 0, 1, NULL, 1, NULL, 1, 1, c, 2);
    ck_assert_float_eq(c[0], 4);
}
END_TEST

START_TEST(self_test_passes_here) {
    attn_error error = {0};
    ck_assert_msg(attn_blas_self_test(&error) == ATTN_OK, "%s", error.text);
    ck_assert_uint_ge(attn_blas_max_callers(), 1);
}
END_TEST

START_TEST(callers_follow_the_build) {
    ck_assert_uint_eq(attn_blas_callers_of("OpenBLAS 0.3.29 NO_AFFINITY Haswell MAX_THREADS=128"), 128);
    ck_assert_uint_eq(attn_blas_callers_of("OpenBLAS 0.3.29 NO_AFFINITY Haswell SINGLE_THREADED"), 1);
    ck_assert_uint_eq(attn_blas_callers_of("OpenBLAS 0.2.20"), 16);
}
END_TEST

START_TEST(old_kernels_on_a_new_processor_are_noticed) {
    ck_assert_str_eq(attn_blas_better_core("Prescott", ATTN_BLAS_AVX512), "SkylakeX");
    ck_assert_str_eq(attn_blas_better_core("PRESCOTT", ATTN_BLAS_AVX2), "Haswell");
    ck_assert_str_eq(attn_blas_better_core("Haswell", ATTN_BLAS_AVX512), "SkylakeX");
    ck_assert_str_eq(attn_blas_better_core("Zen", ATTN_BLAS_AVX512), "SkylakeX");
    ck_assert_str_eq(attn_blas_better_core("Nehalem", ATTN_BLAS_AVX), "Sandybridge");
}
END_TEST

START_TEST(right_or_unknown_kernels_are_left_alone) {
    ck_assert_ptr_null(attn_blas_better_core("Cooperlake", ATTN_BLAS_AVX512));
    ck_assert_ptr_null(attn_blas_better_core("Haswell", ATTN_BLAS_AVX2));
    ck_assert_ptr_null(attn_blas_better_core("Prescott", ATTN_BLAS_SSE));
    ck_assert_ptr_null(attn_blas_better_core("Prescott", ATTN_BLAS_UNKNOWN));
    ck_assert_ptr_null(attn_blas_better_core("NeoverseN1", ATTN_BLAS_UNKNOWN));
    ck_assert_ptr_null(attn_blas_better_core("SomethingNew", ATTN_BLAS_AVX512));
}
END_TEST

ATTND_SUITE(blas) {
    Suite *suite = suite_create("blas");
    TCase *tcase = tcase_create("blas");
    tcase_add_test(tcase, products_of_every_form);
    tcase_add_test(tcase, empty_sides);
    tcase_add_test(tcase, self_test_passes_here);
    tcase_add_test(tcase, callers_follow_the_build);
    tcase_add_test(tcase, old_kernels_on_a_new_processor_are_noticed);
    tcase_add_test(tcase, right_or_unknown_kernels_are_left_alone);
    suite_add_tcase(suite, tcase);
    return suite;
}
