/* Model names, the parameter-free model, and the ends of nothing. */
#include "engine/weights/model.h"
#include "suites.h"

#include <string.h>

START_TEST(names) {
    static const char *const good[] = {"a", "tiny", "A-b_c.9", "-maps-", "maps", "x-map"};
    static const char *const bad[] = {"", "a b", "a/b", "caf\xc3\xa9", "tiny-maps", "-maps", "a\n"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert(attn_model_name_is_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert(!attn_model_name_is_valid(bad[i]));
    char name[66];
    memset(name, 'x', sizeof name);
    name[64] = '\0';
    ck_assert(attn_model_name_is_valid(name));
    name[64] = 'x', name[65] = '\0';
    ck_assert(!attn_model_name_is_valid(name));
    ck_assert(!attn_model_name_is_valid(NULL));
}
END_TEST

START_TEST(parameter_free) {
    attn_model *model = NULL;
    ck_assert_int_eq(attn_model_parameter_free("plain", &model, NULL), ATTN_OK);
    ck_assert_str_eq(model->name, "plain");
    ck_assert_str_eq(model->family, "parameter-free");
    ck_assert_uint_eq(model->layer_count, 1);
    const attn_layer *layer = attn_model_layer(model, 0);
    ck_assert(attn_layer_is_parameter_free(layer));
    ck_assert_str_eq(layer->name, "layers.0");
    ck_assert(layer->heads == 1 && layer->kv_heads == 1 && layer->d_model == 0 && layer->head_dim == 0);
    ck_assert(layer->scale == 0 && layer->causal == ATTN_CAUSAL_OFF && !layer->is_cross);
    attn_model_free(model);
}
END_TEST

START_TEST(bad_name_is_an_error) {
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    ck_assert_int_eq(attn_model_parameter_free("a/b", &model, &error), ATTN_RANGE);
    ck_assert_str_eq(error.text,
                     "model name 'a/b'; 1 to 64 of A-Z a-z 0-9 . _ - that do not end in '-maps' are "
                     "accepted");
    ck_assert_ptr_null(model);
    attn_model_free(NULL);
}
END_TEST

ATTND_SUITE(model) {
    Suite *suite = suite_create("model");
    TCase *cases = tcase_create("model");
    tcase_add_test(cases, names);
    tcase_add_test(cases, parameter_free);
    tcase_add_test(cases, bad_name_is_an_error);
    suite_add_tcase(suite, cases);
    return suite;
}
