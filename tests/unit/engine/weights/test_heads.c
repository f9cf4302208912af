/* Who tells the head count, in which order, and what is said where nobody does or it does not divide. */
#include "engine/weights/heads.h"
#include "safetensors_writer.h"
#include "suites.h"
#include "temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder, *path, *config;

static void set_up(void) {
    folder = temporary_folder();
    path = temporary_path(folder, "m.safetensors");
    config = temporary_path(folder, "config.json");
}

static void tear_down(void) {
    free(path);
    free(config);
    temporary_remove(folder);
}

/* 12 query, 6 key and 6 value outputs. */
static void write_model(const char *heads, const char *kv_heads) {
    const float zeros[48] = {0};
    st_builder *builder = st_new();
    if (heads != NULL) st_metadata(builder, "num_heads", heads);
    if (kv_heads != NULL) st_metadata(builder, "num_kv_heads", kv_heads);
    st_add(builder, "W_q.weight", "F32", (size_t[]){12, 4, ST_END}, zeros);
    st_add(builder, "W_k.weight", "F32", (size_t[]){6, 4, ST_END}, zeros);
    st_add(builder, "W_v.weight", "F32", (size_t[]){6, 4, ST_END}, zeros);
    st_finish(builder, path);
}

static void write_config(const char *text) {
    st_write_bytes(config, text, strlen(text));
}

static void expect(size_t heads, size_t kv_heads, size_t found, size_t kv_found) {
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    const attn_model_source source = {"m", path, heads, kv_heads, NULL};
    ck_assert_msg(attn_model_load(&source, &model, &error) == ATTN_OK, "%s: %s", error.where, error.text);
    ck_assert_uint_eq(model->layers[0].heads, found);
    ck_assert_uint_eq(model->layers[0].kv_heads, kv_found);
    attn_model_free(model);
}

static void refuse(size_t heads, size_t kv_heads, attn_code code, const char *where, const char *text) {
    attn_model *model = NULL;
    attn_error error;
    attn_error_clear(&error);
    const attn_model_source source = {"m", path, heads, kv_heads, NULL};
    ck_assert_int_eq(attn_model_load(&source, &model, &error), code);
    ck_assert_str_eq(error.where, where);
    ck_assert_msg(strstr(error.text, text) != NULL, "'%s' is not in '%s'", text, error.text);
}

START_TEST(order_of_sources) {
    write_model("4", NULL);
    write_config("{\"num_attention_heads\": 6}");
    expect(0, 0, 4, 2);
    write_model(NULL, NULL);
    expect(0, 0, 6, 3);
    write_config("{}");
    expect(2, 1, 2, 1);
    write_config("{\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"eps\": 1e-12}");
    expect(0, 0, 4, 2);
    write_config("{\"num_attention_heads\": 4, \"num_key_value_heads\": null}");
    expect(0, 0, 4, 2);
    write_model("4", "2");
    expect(0, 0, 4, 2);
}
END_TEST

/* A map with another number of heads than the file's would look right and be wrong. */
START_TEST(settings_that_contradict_the_file) {
    write_model("4", "2");
    write_config("{\"num_attention_heads\": 6, \"num_key_value_heads\": 6}"); /* not asked */
    expect(4, 2, 4, 2);
    refuse(2, 0, ATTN_BAD_MODEL, path,
           "__metadata__.num_heads says 4; --heads says 2, which contradicts it: leave --heads out");
    refuse(4, 1, ATTN_BAD_MODEL, path,
           "__metadata__.num_kv_heads says 2; --kv-heads says 1, which contradicts it: leave --kv-heads out");
    refuse(0, 1, ATTN_BAD_MODEL, path, "__metadata__.num_kv_heads says 2; --kv-heads says 1");
    write_model("4", NULL);
    expect(4, 2, 4, 2);
    expect(0, 2, 4, 2);

    write_model(NULL, NULL);
    write_config("{\"num_attention_heads\": 4, \"num_key_value_heads\": 2}");
    expect(4, 2, 4, 2);
    refuse(2, 0, ATTN_BAD_MODEL, config,
           "num_attention_heads says 4; --heads says 2, which contradicts it: leave --heads out");
    refuse(4, 1, ATTN_BAD_MODEL, config,
           "num_key_value_heads says 2; --kv-heads says 1, which contradicts it: leave --kv-heads out");
    refuse(0, 1, ATTN_BAD_MODEL, config, "num_key_value_heads says 2; --kv-heads says 1");
}
END_TEST

START_TEST(nobody_tells) {
    write_model(NULL, NULL);
    refuse(0, 0, ATTN_BAD_MODEL, path,
           "the head count of layers.0 (12 query outputs in 'W_q.weight') is unknown; it is taken from "
           "--heads, num_heads in the file's __metadata__, or num_attention_heads in a config.json beside "
           "the file");
    write_config("{\"num_attention_heads\": null}");
    refuse(0, 0, ATTN_BAD_MODEL, path, "is unknown");
}
END_TEST

START_TEST(heads_that_do_not_divide) {
    write_model(NULL, NULL);
    refuse(5, 0, ATTN_BAD_MODEL, path,
           "5 heads do not divide the 12 query outputs of tensor 'W_q.weight' of layers.0; the nearest that "
           "do: 4 and "
           "6");
    refuse(8, 0, ATTN_BAD_MODEL, path, "the nearest that do: 6 and 12");
    refuse(13, 0, ATTN_BAD_MODEL, path, "the nearest that do: 12");
    refuse((size_t)-1, 0, ATTN_BAD_MODEL, path, "the nearest that do: 12");
    refuse(4, (size_t)-1, ATTN_BAD_MODEL, path, "key/value heads of width 3 are expected");
    expect(12, 0, 12, 6);
}
END_TEST

START_TEST(metadata_is_checked) {
    static const char *const bad[] = {"0",   "-1",  "65537", "4 ",   " 4",
                                      "4.0", "0x4", "",      "four", "18446744073709551620"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[80];
        snprintf(text, sizeof text, "__metadata__.num_heads is '%s'; a whole number from 1 to 65536", bad[i]);
        write_model(bad[i], NULL);
        refuse(0, 0, ATTN_BAD_MODEL, path, text);
    }
    write_model("4", "x");
    refuse(0, 0, ATTN_BAD_MODEL, path, "__metadata__.num_kv_heads is 'x'");
    write_model("4", "4");
    refuse(0, 0, ATTN_BAD_MODEL, path,
           "'W_k.weight' of layers.0 has 6 outputs; 4 key/value heads of width 3");
}
END_TEST

START_TEST(config_is_checked) {
    write_model(NULL, NULL);
    static const char *const bad[][2] = {
        {"", "is not JSON: "},
        {"{", "is not JSON: "},
        {"[]", "is not a JSON object"},
        {"{\"num_attention_heads\": \"4\"}", "num_attention_heads is not a whole number from 1 to 65536"},
        {"{\"num_attention_heads\": 4.0}", "num_attention_heads is not a whole number"},
        {"{\"num_attention_heads\": 0}", "num_attention_heads is not a whole number"},
        {"{\"num_attention_heads\": -4}", "num_attention_heads is not a whole number"},
        {"{\"num_attention_heads\": 65537}", "num_attention_heads is not a whole number"},
        {"{\"num_attention_heads\": 4, \"num_key_value_heads\": []}",
         "num_key_value_heads is not a whole number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_config(bad[i][0]);
        refuse(0, 0, ATTN_BAD_FILE, config, bad[i][1]);
        expect(4, 2, 4, 2); /* it is not needed where the counts are told */
    }
}
END_TEST

START_TEST(config_that_is_no_small_file) {
    write_model(NULL, NULL);
    write_config("{}");
    ck_assert_int_eq(truncate(config, (16 << 20) + 1), 0);
    refuse(0, 0, ATTN_BAD_FILE, config, "has 16777217 bytes; up to 16777216 are accepted");
    ck_assert_int_eq(remove(config), 0);
    ck_assert_int_eq(mkfifo(config, 0600), 0);
    refuse(0, 0, ATTN_IO, config, "is not a regular file");
    ck_assert_int_eq(remove(config), 0);
    ck_assert_int_eq(mkdir(config, 0700), 0);
    refuse(0, 0, ATTN_IO, config, "is not a regular file");
}
END_TEST

START_TEST(divisors) {
    static const size_t cases[][4] = {
        {512, 7, 4, 8}, {512, 600, 512, 0}, {7, 2, 1, 7},  {1, 2, 1, 0},
        {36, 6, 4, 9},  {97, 50, 1, 97},    {12, 1, 0, 2}, {4294967291u, 9, 1, 4294967291u}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t below, above;
        attn_nearest_divisors(cases[i][0], cases[i][1], &below, &above);
        ck_assert_uint_eq(below, cases[i][2]);
        ck_assert_uint_eq(above, cases[i][3]);
    }
}
END_TEST

ATTND_SUITE(heads) {
    Suite *suite = suite_create("heads");
    TCase *cases = tcase_create("heads");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, order_of_sources);
    tcase_add_test(cases, settings_that_contradict_the_file);
    tcase_add_test(cases, nobody_tells);
    tcase_add_test(cases, heads_that_do_not_divide);
    tcase_add_test(cases, metadata_is_checked);
    tcase_add_test(cases, config_is_checked);
    tcase_add_test(cases, config_that_is_no_small_file);
    tcase_add_test(cases, divisors);
    suite_add_tcase(suite, cases);
    return suite;
}
