/* GET /v1/models/{model}, its layers, and GET /v1/limits: what shapes the attention and what is allowed. */
#include "api.h"

#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>

START_TEST(demo_models_are_described) {
    json_t *list = api_get("/v1/models", 200), *models = json_at(list, "/models"), *summary, *value;
    const char *member;
    size_t i;
    json_array_foreach(models, i, summary) {
        char path[96];
        snprintf(path, sizeof path, "/v1/models/%s", json_string_value(json_at(summary, "/name")));
        json_t *one = api_get(path, 200);
        /* The list's members mean the same here. */
        json_object_foreach(summary, member, value)
            ck_assert_msg(json_equal(value, json_object_get(one, member)), "%s of %s", member, path);
        json_check_exact(one, "/file", "null");
        json_check_exact(one, "/digest", "null");
        json_check_exact(one, "/dtype", "null");
        ck_assert_uint_eq(json_array_size(json_at(one, "/layer_list")),
                          (size_t)json_integer_value(json_at(one, "/layers")));
        json_decref(one);
    }
    json_decref(list);
    json_t *demo = api_get("/v1/models/demo", 200);
    /* 2 layers of 4 matrices 512×512 and 4 biases. */
    json_check_exact(demo, "/bytes", "8404992");
    json_check_exact(demo, "/layer_list/1/name", "\"layers.1\"");
    json_check_exact(demo, "/layer_list/1/layer", "1");
    json_decref(demo);
}
END_TEST

START_TEST(layers_are_found_by_index_and_name) {
    json_t *by_index = api_get("/v1/models/demo/layers/1", 200),
           *by_name = api_get("/v1/models/demo/layers/layers%2E1", 200);
    ck_assert(json_equal(by_index, by_name));
    json_check(by_index, "",
               "{\"model\":\"demo\",\"layer\":1,\"name\":\"layers.1\",\"cross\":false,"
               "\"parameter_free\":false,\"d_model\":512,\"d_key\":512,\"d_value\":512,\"d_out\":512,"
               "\"heads\":8,\"kv_heads\":8,\"head_dim\":64,\"value_dim\":64,"
               "\"biases\":{\"query\":true,\"key\":true,\"value\":true,\"output\":true},"
               "\"output_projection\":true,\"scale\":0.125,\"extra_keys\":0,\"position\":\"none\","
               "\"causal\":false,\"window\":0}");
    json_decref(by_index);
    json_decref(by_name);
    json_t *plain = api_get("/v1/models/plain/layers/0", 200);
    json_check(plain, "/d_model", "null");
    json_check(plain, "/head_dim", "null");
    json_check(plain, "/scale", "null");
    json_check(plain, "/parameter_free", "true");
    json_check(plain, "/output_projection", "false");
    json_check(plain, "/biases", "{\"query\":false,\"key\":false,\"value\":false,\"output\":false}");
    json_decref(plain);
}
END_TEST

static const struct {
    const char *path, *code;
} missing[] = {
    {"/v1/models/none", "model_not_found"},
    {"/v1/models/none/layers/0", "model_not_found"},
    {"/v1/models/demo/layers/2", "layer_not_found"},
    {"/v1/models/demo/layers/-1", "layer_not_found"},
    {"/v1/models/demo/layers/1x", "layer_not_found"},
    {"/v1/models/demo/layers/%20", "layer_not_found"},
    {"/v1/models/demo/layers/18446744073709551617", "layer_not_found"},
    {"/v1/models/demo/layers/", "not_found"},
    {"/v1/models/demo/", "not_found"},
    {"/v1/models/demo%2Flayers/0", "not_found"},
};

START_TEST(what_is_not_there_is_404) {
    http_answer answer = http_get(api_daemon.url, missing[_i].path);
    api_check_problem(&answer, 404, missing[_i].code);
    http_done(&answer);
}
END_TEST

START_TEST(limits_are_those_in_force) {
    json_t *answer = api_get("/v1/limits", 200);
    json_check_exact(answer, "/limits/max_body", "65536");
    json_check_exact(answer, "/limits/max_connections", "1024");
    json_check_exact(answer, "/limits/max_waiting", "64");
    json_check_exact(answer, "/timeouts/drain", "25");
    ck_assert_int_gt(json_integer_value(json_at(answer, "/limits/memory")), 0);
    json_decref(answer);
}
END_TEST

/* An odd layer from a file: F16, widths of its own, no biases, extra keys; and its file's digest in the end. */
START_TEST(a_file_is_described) {
    enum { D = 4, KEY = 3 };
    static const float numbers[3 * D * D] = {1, 0.5f};
    char *folder = temporary_folder(), *path = temporary_path(folder, "odd.safetensors"), option[300];
    st_builder *file = st_new();
    st_add(file, "q_proj_weight", "F16", (size_t[]){D, D, ST_END}, numbers);
    st_add(file, "k_proj_weight", "F16", (size_t[]){D, KEY, ST_END}, numbers);
    st_add(file, "v_proj_weight", "F16", (size_t[]){D, D, ST_END}, numbers);
    st_add(file, "out_proj.weight", "F16", (size_t[]){D, D, ST_END}, numbers);
    st_metadata(file, "num_heads", "2");
    st_metadata(file, "add_zero_attn", "true");
    st_finish(file, path);

    const char *const sum[] = {"/usr/bin/sha256sum", path, NULL};
    process_result wanted = process_run(sum, NULL, NULL, 0);
    ck_assert_msg(wanted.code == 0 && wanted.output_size > 64, "%s", wanted.errors);
    wanted.output[64] = '\0';

    test_daemon daemon;
    snprintf(option, sizeof option, "odd=%s", path);
    daemon_start(&daemon, (const char *const[]){"--model", option, NULL}, NULL);
    json_t *digest = NULL, *model = NULL;
    while (!json_is_string(digest)) { /* the test's own time limit ends this */
        json_decref(model);
        http_answer answer = http_get(daemon.url, "/v1/models/odd");
        ck_assert_int_eq(answer.status, 200);
        model = http_json(&answer);
        digest = json_at(model, "/digest");
        http_done(&answer);
    }
    ck_assert_str_eq(json_string_value(digest), wanted.output);
    json_check_exact(model, "/file", "\"odd.safetensors\"");
    json_check_exact(model, "/dtype", "\"F16\"");
    json_check_exact(model, "/layer_list/0/d_key", "3");
    json_check_exact(model, "/layer_list/0/d_value", "4");
    json_check_exact(model, "/layer_list/0/extra_keys", "1");
    json_check_exact(model, "/layer_list/0/output_projection", "true");
    json_check_exact(model, "/layer_list/0/biases",
                     "{\"query\":false,\"key\":false,\"value\":false,\"output\":false}");
    json_decref(model);
    daemon_stop(&daemon);
    process_result_done(&wanted);
    free(path);
    temporary_remove(folder);
}
END_TEST

ATTND_SUITE(models) {
    Suite *suite = suite_create("models");
    TCase *tests = api_case(suite, "models");
    tcase_add_test(tests, demo_models_are_described);
    tcase_add_test(tests, layers_are_found_by_index_and_name);
    tcase_add_loop_test(tests, what_is_not_there_is_404, 0, (int)(sizeof missing / sizeof *missing));
    tcase_add_test(tests, limits_are_those_in_force);
    tcase_add_test(tests, a_file_is_described);
    return suite;
}
