/* The choice of vector width, and that every family of kernels follows it. */
#include "engine/attention/few.h"
#include "engine/attention/rows.h"
#include "engine/tensor/convert.h"
#include "suites.h"

#include <string.h>

START_TEST(what_the_processor_can_run_can_be_chosen) {
    attn_vectors before = attn_vectors_in_use();
    for (int width = 0; width <= (int)attn_vectors_best(); width++) {
        ck_assert_int_eq(attn_vectors_use((attn_vectors)width, NULL), ATTN_OK);
        ck_assert_int_eq(attn_vectors_in_use(), width);
        ck_assert_ptr_eq(attn_row_kernels_in_use(), attn_row_kernels_of((attn_vectors)width));
        ck_assert_ptr_eq(attn_few_kernels_in_use(), attn_few_kernels_of((attn_vectors)width));
        ck_assert_ptr_eq(attn_convert_kernels_in_use(), attn_convert_kernels_of((attn_vectors)width));
    }
    ck_assert_int_eq(attn_vectors_use(before, NULL), ATTN_OK);
}
END_TEST

START_TEST(each_width_has_kernels_of_its_own) {
    ck_assert_ptr_eq(attn_row_kernels_of(ATTN_VECTORS_PLAIN), &ATTN_ROWS_PLAIN);
    ck_assert_ptr_eq(attn_convert_kernels_of(ATTN_VECTORS_PLAIN), &ATTN_CONVERT_PLAIN);
    for (int width = 1; width <= (int)attn_vectors_best(); width++) {
        ck_assert_ptr_ne(attn_row_kernels_of((attn_vectors)width),
                         attn_row_kernels_of((attn_vectors)(width - 1)));
        ck_assert_ptr_ne(attn_few_kernels_of((attn_vectors)width),
                         attn_few_kernels_of((attn_vectors)(width - 1)));
        ck_assert_ptr_ne(attn_convert_kernels_of((attn_vectors)width),
                         attn_convert_kernels_of((attn_vectors)(width - 1)));
    }
}
END_TEST

/* On a processor with all of them there is nothing to refuse; the emulated arm64 has none. */
START_TEST(what_it_cannot_run_is_refused) {
    attn_vectors before = attn_vectors_in_use();
    for (int width = (int)attn_vectors_best() + 1; width < ATTN_VECTORS_COUNT; width++) {
        attn_error error = {0};
        ck_assert_int_eq(attn_vectors_use((attn_vectors)width, &error), ATTN_RANGE);
        ck_assert_ptr_nonnull(strstr(error.text, attn_vectors_name((attn_vectors)width)));
        ck_assert_ptr_nonnull(strstr(error.text, attn_vectors_name(attn_vectors_best())));
        ck_assert_int_eq(attn_vectors_in_use(), before);
    }
}
END_TEST

ATTND_SUITE(vectors) {
    Suite *suite = suite_create("vectors");
    TCase *cases = tcase_create("vectors");
    tcase_add_test(cases, what_the_processor_can_run_can_be_chosen);
    tcase_add_test(cases, each_width_has_kernels_of_its_own);
    tcase_add_test(cases, what_it_cannot_run_is_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
