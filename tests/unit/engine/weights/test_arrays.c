/* Where a layer's arrays lie, the memory under them, and names short enough for an error. */
#include "engine/weights/arrays.h"
#include "engine/weights/label.h"
#include "suites.h"

#include <stdint.h>
#include <string.h>

START_TEST(storage_is_aligned_zeroed_and_bounded) {
    attn_storage *storage = attn_storage_new();
    for (size_t size = 0; size < 200; size += 7) {
        const unsigned char *block = attn_storage_take(storage, size, 1);
        ck_assert_uint_eq((uintptr_t)block % 64, 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_uint_eq(block[i], 0);
    }
    ck_assert_ptr_null(attn_storage_take(storage, SIZE_MAX / 4 + 1, 4));
    ck_assert_ptr_null(attn_storage_take(storage, SIZE_MAX, 1));
    ck_assert_str_eq(attn_storage_copy(storage, "abcdef", 3), "abc");
    ck_assert_ptr_null(attn_storage_copy(storage, "", SIZE_MAX));
    attn_storage_free(storage);
    attn_storage_free(NULL);
}
END_TEST

static attn_layer layer_of(size_t d_model, size_t head_dim, size_t value_dim) {
    return (attn_layer){.d_model = d_model,
                        .d_key = 5,
                        .d_value = 3,
                        .d_out = 9,
                        .heads = 4,
                        .kv_heads = 2,
                        .head_dim = head_dim,
                        .value_dim = value_dim};
}

START_TEST(arrays_stand_one_after_the_other) {
    attn_storage *storage = attn_storage_new();
    attn_layer layer = layer_of(7, 3, 2);
    const attn_layer_parts parts = {.k_bias = true, .output = true};
    attn_layer_arrays arrays;
    layer.extra_keys = 2;
    ck_assert(attn_layer_arrays_take(&layer, &parts, storage, &arrays));
    ck_assert_uint_eq(arrays.floats, 12 * 7 + 6 * 5 + 4 * 3 + 6 + 9 * 8 + 2 * 6 + 2 * 4);
    ck_assert(layer.bq == NULL && layer.bv == NULL && layer.bo == NULL);
    const float *const all[] = {arrays.wq, arrays.wk,      arrays.wv,     arrays.bk,
                                arrays.wo, arrays.extra_k, arrays.extra_v};
    const float *const shown[] = {layer.wq, layer.wk,      layer.wv,     layer.bk,
                                  layer.wo, layer.extra_k, layer.extra_v};
    static const size_t padded[] = {96, 32, 16, 16, 80, 16};
    for (size_t i = 0; i < 7; i++) {
        ck_assert_ptr_eq(all[i], shown[i]);
        ck_assert_uint_eq((uintptr_t)all[i] % 64, 0);
        if (i < 6) ck_assert_ptr_eq(all[i] + padded[i], all[i + 1]);
    }
    attn_storage_free(storage);
}
END_TEST

START_TEST(widths_that_overflow_take_nothing) {
    attn_storage *storage = attn_storage_new();
    attn_layer layer = layer_of(SIZE_MAX / 8, 3, 2);
    attn_layer_arrays arrays = {.floats = 77};
    ck_assert(!attn_layer_arrays_take(&layer, &(attn_layer_parts){0}, storage, &arrays));
    ck_assert_uint_eq(arrays.floats, 77);
    ck_assert_ptr_null(layer.wq);
    attn_storage_free(storage);
}
END_TEST

START_TEST(labels_are_short) {
    ck_assert_str_eq(attn_label_name("a.b").text, "a.b");
    ck_assert_str_eq(attn_label_name("").text, "");
    char name[301];
    for (size_t i = 0; i < 150; i++)
        memcpy(name + 2 * i, "\xc3\xa9", 3);
    attn_label label = attn_label_name(name); /* halves of 48 bytes: 24 characters each */
    ck_assert_uint_eq(strlen(label.text), 99);
    ck_assert_int_eq(memcmp(label.text + 46, "\xc3\xa9...\xc3\xa9", 7), 0);
    memcpy(name, "x", 1); /* no UTF-8 any more, and still cut */
    ck_assert_uint_lt(strlen(attn_label_name(name).text), ATTN_LABEL_SIZE);
    memset(name, '\x80', 300);
    ck_assert_uint_lt(strlen(attn_label_name(name).text), ATTN_LABEL_SIZE);

    memset(name, 'd', 300);
    memcpy(name + 288, ".safetensors", 12);
    attn_place place = attn_label_path(name);
    ck_assert_uint_eq(strlen(place.text), ATTN_WHERE_SIZE - 1);
    ck_assert_int_eq(memcmp(place.text, "...d", 4), 0);
    ck_assert_str_eq(place.text + ATTN_WHERE_SIZE - 1 - 12, name + 288);
}
END_TEST

START_TEST(shapes_are_written) {
    ck_assert_str_eq(attn_label_shape(NULL, 0).text, "[]");
    ck_assert_str_eq(attn_label_shape((size_t[]){3, 4}, 2).text, "[3,4]");
    size_t shape[ATTN_FILE_RANK];
    for (size_t i = 0; i < ATTN_FILE_RANK; i++)
        shape[i] = SIZE_MAX;
    ck_assert_uint_eq(strlen(attn_label_shape(shape, ATTN_FILE_RANK).text), 8 * 20 + 7 + 2);
}
END_TEST

ATTND_SUITE(arrays) {
    Suite *suite = suite_create("arrays");
    TCase *cases = tcase_create("arrays");
    tcase_add_test(cases, storage_is_aligned_zeroed_and_bounded);
    tcase_add_test(cases, arrays_stand_one_after_the_other);
    tcase_add_test(cases, widths_that_overflow_take_nothing);
    tcase_add_test(cases, labels_are_short);
    tcase_add_test(cases, shapes_are_written);
    suite_add_tcase(suite, cases);
    return suite;
}
