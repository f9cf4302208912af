/* The subcommands around weights files: init makes what serve serves, inspect tells what became of a file. */
#include "api.h"

#include "tests/support/fixtures.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>

static char *init_file(const char *folder, const char *name, const char *seed) {
    char *path = temporary_path(folder, name);
    process_result made = process_run_attnd("init", "--d-model", "16", "--heads", "4", "--layers", "3",
                                            "--seed", seed, "-o", path, NULL);
    ck_assert_msg(made.code == 0, "%s", made.errors);
    process_result_done(&made);
    return path;
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

START_TEST(init_makes_what_serve_serves) {
    char *folder = temporary_folder(), *path = init_file(folder, "made.safetensors", "42"), *argument = NULL;
    char *again = init_file(folder, "again.safetensors", "42"),
         *other = init_file(folder, "other.safetensors", "43");
    size_t size, again_size, other_size;
    char *bytes = read_file(path, &size), *again_bytes = read_file(again, &again_size);
    char *other_bytes = read_file(other, &other_size);
    ck_assert_uint_eq(size, again_size);
    ck_assert_mem_eq(bytes, again_bytes, size);
    ck_assert(size != other_size || memcmp(bytes, other_bytes, size) != 0);

    test_daemon daemon;
    ck_assert_int_gt(asprintf(&argument, "mine=%s", path), 0);
    daemon_start(&daemon, (const char *const[]){"--model", argument, NULL}, NULL);
    http_answer answer = http_get(daemon.url, "/v1/models");
    json_t *document = http_json(&answer);
    json_check_exact(document, "/models/0/name", "\"mine\"");
    json_check_exact(document, "/models/0/d_model", "16");
    json_check_exact(document, "/models/0/heads", "4");
    json_check_exact(document, "/models/0/layers", "3");
    json_decref(document);
    http_done(&answer);
    static const char body[] =
        "{\"model\":\"mine\",\"layer\":\"layers.2\",\"inputs\":[[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]]}";
    answer = http_post(daemon.url, "/v1/attention", body);
    document = http_json(&answer);
    json_check_exact(document, "/attention", "[[[1]],[[1]],[[1]],[[1]]]");
    ck_assert_uint_eq(json_array_size(json_at(document, "/outputs/0")), 16);
    ck_assert_double_gt(json_difference(json_at(document, "/outputs/0/0"), json_at(document, "/outputs/0/1")),
                        0);
    json_decref(document);

    process_result run =
        process_run((const char *const[]){process_attnd(), "run", "--model", argument, "-", NULL}, NULL, body,
                    strlen(body));
    ck_assert_str_eq(run.output, answer.body);
    process_result_done(&run);
    http_done(&answer);
    daemon_stop(&daemon);
    free(argument), free(path), free(again), free(other), free(bytes), free(again_bytes), free(other_bytes);
    temporary_remove(folder);
}
END_TEST

/* Of several models the first one is the default, whatever their names. */
START_TEST(the_first_model_is_the_default) {
    char *folder = temporary_folder(), *path = init_file(folder, "made.safetensors", "42"), first[300],
         second[300];
    snprintf(first, sizeof first, "z=%s", path);
    snprintf(second, sizeof second, "a=%s", path);
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--model", first, "--model", second, NULL}, NULL);
    http_answer answer =
        http_post(daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]]}");
    json_t *document = http_json(&answer);
    json_check_exact(document, "/model", "\"z\"");
    json_decref(document);
    http_done(&answer);
    answer = http_get(daemon.url, "/v1/models");
    document = http_json(&answer);
    json_check_exact(document, "/models/0/name", "\"z\"");
    json_check_exact(document, "/models/0/default", "true");
    json_check_exact(document, "/models/1/default", "false");
    json_decref(document);
    http_done(&answer);
    daemon_stop(&daemon);
    free(path);
    temporary_remove(folder);
}
END_TEST

START_TEST(inspect_tells_every_tensor) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "asym.safetensors");
    fixture_asymmetric(path, 2);
    process_result told = process_run_attnd("inspect", path, NULL);
    ck_assert_msg(told.code == 0, "%s", told.errors);
    static const char *const words[] = {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias",
                                        "F32"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(strstr(told.output, words[i]) != NULL, "%s is missing: %s", words[i], told.output);
    process_result_done(&told);

    st_write_bytes(path, "rubbish", 7);
    told = process_run_attnd("inspect", path, NULL);
    ck_assert_int_eq(told.code, 1);
    ck_assert_msg(strstr(told.errors, path) != NULL, "%s", told.errors);
    process_result_done(&told);
    free(path);
    temporary_remove(folder);
}
END_TEST

ATTND_SUITE(files) {
    Suite *suite = suite_create("files");
    TCase *tests = tcase_create("files");
    tcase_add_test(tests, init_makes_what_serve_serves);
    tcase_add_test(tests, the_first_model_is_the_default);
    tcase_add_test(tests, inspect_tells_every_tensor);
    suite_add_tcase(suite, tests);
    return suite;
}
