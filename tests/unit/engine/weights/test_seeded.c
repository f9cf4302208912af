/* Seeded models: the same bits for the same seed, in memory and in a file. */
#include "engine/weights/model.h"
#include "suites.h"
#include "temporary.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const attn_seed_spec tiny = {.d_model = 4, .heads = 2, .layers = 2, .seed = 42};

static attn_model *seeded(const attn_seed_spec *spec) {
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    ck_assert_msg(attn_model_seeded("m", spec, &model, &error) == ATTN_OK, "%s", error.text);
    return model;
}

START_TEST(shapes_and_bounds) {
    attn_model *model = seeded(&tiny);
    ck_assert_uint_eq(model->layer_count, 2);
    ck_assert_str_eq(model->family, "seeded");
    ck_assert_ptr_null(model->file);
    ck_assert_uint_eq(model->bytes, 2 * (4 * 16 + 4 * 4) * sizeof(float));
    const attn_layer *layer = attn_model_layer_named(model, "layers.1");
    ck_assert_ptr_eq(layer, attn_model_layer(model, 1));
    ck_assert_ptr_null(attn_model_layer(model, 2));
    ck_assert_ptr_null(attn_model_layer_named(model, "layers.2"));
    ck_assert(layer->d_model == 4 && layer->d_key == 4 && layer->d_value == 4 && layer->d_out == 4);
    ck_assert(layer->heads == 2 && layer->kv_heads == 2 && layer->head_dim == 2 && layer->value_dim == 2);
    ck_assert_float_eq(layer->scale, (float)(1 / sqrt(2)));
    ck_assert_int_eq(layer->causal, ATTN_CAUSAL_OFF);
    ck_assert_uint_eq((uintptr_t)layer->wq % 64, 0);
    ck_assert_uint_eq((uintptr_t)layer->bo % 64, 0);
    for (size_t i = 0; i < 16; i++) {
        ck_assert(fabsf(layer->wq[i]) < (float)sqrt(6.0 / 16) && fabsf(layer->wo[i]) < (float)sqrt(6.0 / 8));
        ck_assert(layer->wq[i] != 0 && layer->wq[i] != layer->wk[i]);
    }
    for (size_t i = 0; i < 4; i++)
        ck_assert(layer->bq[i] == 0 && layer->bv[i] == 0 && layer->bo[i] == 0);
    attn_model_free(model);
}
END_TEST

/* The first numbers of SplitMix64 with seed 42 are 0xBDD732262FEB6E95, 0x28EFE333B266F103,
 * 0x47526757130F9F52; the weights follow from their top 24 bits by the formula in seeded.c. */
START_TEST(bits_are_pinned) {
    attn_model *model = seeded(&tiny);
    const uint32_t top[3] = {0xBDD732, 0x28EFE3, 0x475267};
    const float bound = (float)sqrt(6.0 / 16);
    for (size_t i = 0; i < 3; i++) {
        float expected = (float)(2 * (int)top[i] + 1 - 16777216) / 16777216.0f * bound;
        ck_assert_msg(memcmp(&model->layers[0].wq[i], &expected, sizeof expected) == 0, "%zu: %a, not %a", i,
                      (double)model->layers[0].wq[i], (double)expected);
    }
    attn_model_free(model);
}
END_TEST

START_TEST(seeds_differ) {
    attn_seed_spec other = tiny;
    other.seed = 43;
    attn_model *a = seeded(&tiny), *b = seeded(&tiny), *c = seeded(&other);
    ck_assert_int_eq(memcmp(a->layers[1].wo, b->layers[1].wo, 16 * sizeof(float)), 0);
    ck_assert_int_ne(memcmp(a->layers[0].wq, c->layers[0].wq, 16 * sizeof(float)), 0);
    ck_assert_int_ne(memcmp(a->layers[0].wq, a->layers[1].wq, 16 * sizeof(float)), 0);
    attn_model_free(a);
    attn_model_free(b);
    attn_model_free(c);
}
END_TEST

static void refuse(attn_seed_spec spec, const char *text) {
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    ck_assert_int_eq(attn_model_seeded("m", &spec, &model, &error), ATTN_RANGE);
    ck_assert_str_eq(error.text, text);
    ck_assert_ptr_null(model);
    attn_error_clear(&error);
    ck_assert_int_eq(attn_model_seeded_write("/nonexistent/x", &spec, &error), ATTN_RANGE);
}

START_TEST(bad_specs) {
    refuse((attn_seed_spec){0, 1, 1, 0}, "d_model is 0; 1 to 65536 is accepted");
    refuse((attn_seed_spec){65537, 1, 1, 0}, "d_model is 65537; 1 to 65536 is accepted");
    refuse((attn_seed_spec){4, 0, 1, 0},
           "heads is 0; a number of at least 1 that divides d_model 4 is accepted");
    refuse((attn_seed_spec){4, 3, 1, 0},
           "heads is 3; a number of at least 1 that divides d_model 4 is accepted");
    refuse((attn_seed_spec){4, 2, 0, 0}, "layers is 0; 1 to 1024 is accepted");
    refuse((attn_seed_spec){4, 2, 1025, 0}, "layers is 1025; 1 to 1024 is accepted");
}
END_TEST

static size_t entries_of(const char *folder) {
    DIR *open_folder = opendir(folder);
    ck_assert_ptr_nonnull(open_folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(open_folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(open_folder);
    return count;
}

START_TEST(nothing_is_left_where_writing_fails) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "taken");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    attn_error error;
    attn_error_clear(&error);
    ck_assert_int_eq(attn_model_seeded_write(path, &tiny, &error), ATTN_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "is not a regular file"));
    ck_assert_uint_eq(entries_of(folder), 1);

    char *nowhere = temporary_path(folder, "no/such/folder.safetensors");
    attn_error_clear(&error);
    ck_assert_int_eq(attn_model_seeded_write(nowhere, &tiny, &error), ATTN_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "No such file or directory"));
    free(nowhere);
    free(path);
    temporary_remove(folder);
}
END_TEST

/* The process may write a kilobyte, as if the disk were full behind it. */
START_TEST(nothing_is_left_of_a_file_that_does_not_fit) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "a");
    struct rlimit before, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1024;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction usual;
    ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, &usual), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    attn_error error;
    attn_error_clear(&error);
    attn_code code = attn_model_seeded_write(path, &(attn_seed_spec){64, 2, 1, 1}, &error);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(sigaction(SIGXFSZ, &usual, NULL), 0);
    ck_assert_int_eq(code, ATTN_IO);
    ck_assert_msg(strstr(error.text, "File too large") != NULL, "%s", error.text);
    ck_assert_uint_eq(entries_of(folder), 0);
    free(path);
    temporary_remove(folder);
}
END_TEST

static char *contents(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

START_TEST(file_is_the_same_bytes_each_time) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "a"),
         *again = temporary_path(folder, "b");
    ck_assert_int_eq(attn_model_seeded_write(path, &tiny, NULL), ATTN_OK);
    ck_assert_int_eq(attn_model_seeded_write(again, &tiny, NULL), ATTN_OK);
    ck_assert_int_eq(attn_model_seeded_write(again, &tiny, NULL), ATTN_OK); /* replaces it */
    ck_assert_uint_eq(entries_of(folder), 2);
    size_t size, size_again;
    char *bytes = contents(path, &size), *bytes_again = contents(again, &size_again);
    ck_assert_uint_eq(size, size_again);
    ck_assert_int_eq(memcmp(bytes, bytes_again, size), 0);
    ck_assert_uint_eq(size % 8, 0);
    free(bytes);
    free(bytes_again);
    free(path);
    free(again);
    temporary_remove(folder);
}
END_TEST

ATTND_SUITE(seeded) {
    Suite *suite = suite_create("seeded");
    TCase *cases = tcase_create("seeded");
    tcase_add_test(cases, shapes_and_bounds);
    tcase_add_test(cases, bits_are_pinned);
    tcase_add_test(cases, seeds_differ);
    tcase_add_test(cases, bad_specs);
    tcase_add_test(cases, nothing_is_left_where_writing_fails);
    tcase_add_test(cases, nothing_is_left_of_a_file_that_does_not_fit);
    tcase_add_test(cases, file_is_the_same_bytes_each_time);
    suite_add_tcase(suite, cases);
    return suite;
}
