/* The engine's answers against PyTorch's, stage by stage, with several numbers of workers; and the reference
 * in double precision against the same numbers, to nearly all of their digits. */
#include "golden.h"

#include "compare.h"
#include "suites.h"

#include <string.h>

START_TEST(engine_agrees_with_the_vector) {
    golden_case *golden = golden_load((size_t)_i);
    golden_answer answer = golden_run(golden, golden->layer, 1);
    char text[COMPARE_TEXT_SIZE];
    bool agrees = golden_agrees(golden, &answer, GOLDEN_ALL_STAGES, text);
    ck_assert_msg(agrees, "%s: %s", golden->name, text);
    ck_assert_msg(answer.rows_without_keys == golden->rows_without_keys,
                  "%s: %zu rows without keys, want %zu", golden->name, answer.rows_without_keys,
                  golden->rows_without_keys);
    golden_answer_done(&answer);
    golden_free(golden);
}
END_TEST

START_TEST(more_workers_give_the_same_bits) {
    golden_case *golden = golden_load((size_t)_i);
    golden_answer one = golden_run(golden, golden->layer, 1);
    for (size_t workers = 2; workers <= 3; workers++) {
        golden_answer more = golden_run(golden, golden->layer, workers);
        ck_assert_uint_eq(more.count, one.count);
        for (size_t i = 0; i < one.count; i++)
            ck_assert_msg(memcmp(&more.values[i], &one.values[i], sizeof(float)) == 0,
                          "%s: number %zu is %.9g with one worker, %.9g with %zu", golden->name, i,
                          (double)one.values[i], (double)more.values[i], workers);
        golden_answer_done(&more);
    }
    golden_answer_done(&one);
    golden_free(golden);
}
END_TEST

START_TEST(loader_uses_every_weight_and_nothing_else) {
    golden_case *golden = golden_load((size_t)_i);
    for (size_t i = 0; i < golden->model->tensor_count; i++) {
        const attn_tensor_use *tensor = &golden->model->tensors[i];
        bool is_weight = strncmp(tensor->name, "golden.", strlen("golden.")) != 0;
        ck_assert_msg(is_weight == (tensor->use != NULL), "%s: %s became %s", golden->name, tensor->name,
                      tensor->use != NULL ? tensor->use : "nothing");
    }
    golden_free(golden);
}
END_TEST

/* The factor on q·k is a float32; where 1/sqrt(dk) is not one exactly, its rounding shows in the scores. */
static double reference_tolerance(const golden_case *golden) {
    const attn_layer *layer = golden->layer;
    double width = (double)(layer->head_dim > 0 ? layer->head_dim : golden->request.d_model);
    double scale = golden->request.scale_given ? 0 : 1 / __builtin_sqrt(width);
    return scale == (double)(float)scale ? 1e-12 : 1e-6;
}

START_TEST(reference_agrees_with_the_vector) {
    golden_case *golden = golden_load((size_t)_i);
    char text[COMPARE_TEXT_SIZE];
    bool agrees = golden_reference_agrees(golden, reference_tolerance(golden), text);
    ck_assert_msg(agrees, "%s: reference, %s", golden->name, text);
    golden_free(golden);
}
END_TEST

ATTND_SUITE(golden) {
    Suite *suite = suite_create("golden");
    TCase *cases = tcase_create("vectors");
    int count = (int)golden_count();
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_loop_test(cases, loader_uses_every_weight_and_nothing_else, 0, count);
    tcase_add_loop_test(cases, engine_agrees_with_the_vector, 0, count);
    tcase_add_loop_test(cases, more_workers_give_the_same_bits, 0, count);
    tcase_add_loop_test(cases, reference_agrees_with_the_vector, 0, count);
    suite_add_tcase(suite, cases);
    return suite;
}
