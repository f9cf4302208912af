/* Weights files: what is refused at start, and what loads. */
#include "cases.h"

#include "engine/engine.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>

static char *folder, *path, *argument;

static void make_place(void) {
    folder = temporary_folder();
    path = temporary_path(folder, "mine.safetensors");
    ck_assert_int_gt(asprintf(&argument, "mine=%s", path), 0);
}

static void remove_place(void) {
    free(path);
    free(argument);
    temporary_remove(folder);
}

/* The daemon must not come up: exit code 2 (configuration), and its complaint holds all of these words. */
static void check_refused(const char *first, const char *second) {
    process_result result =
        daemon_refused((const char *const[]){"--model", argument, "--heads", "mine=1", NULL}, NULL);
    ck_assert_msg(result.code == 2, "exit code %d: %s", result.code, result.errors);
    ck_assert_msg(strstr(result.errors, path) != NULL, "no file is named: %s", result.errors);
    ck_assert_msg(strstr(result.errors, first) != NULL, "'%s' is missing: %s", first, result.errors);
    ck_assert_msg(strstr(result.errors, second) != NULL, "'%s' is missing: %s", second, result.errors);
    process_result_done(&result);
}

/* The daemon serves the file, with one head; the caller decrefs the answer. */
static json_t *serve_and_ask(const char *body) {
    daemon_start(&case_daemon, (const char *const[]){"--model", argument, "--heads", "mine=1", NULL}, NULL);
    json_t *answer = case_ask(body);
    daemon_stop(&case_daemon);
    return answer;
}

static void check_asymmetric(void) {
    json_t *answer = serve_and_ask("{\"inputs\":[[1,0],[0,1],[1,-1]]}");
    json_check(answer, "/outputs", "[[1.906602,1.002816],[2.081535,1.223084],[1.703344,0.212997]]");
    json_decref(answer);
}

START_TEST(shape_wraps) {
    make_place();
    st_write(
        path,
        "{\"in_proj_weight\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}",
        "", 0);
    check_refused("in_proj_weight", "");
    remove_place();
}
END_TEST

#define TENSOR(name, shape, start, end)                                                                      \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #start "," #end "]}"

START_TEST(shared_bytes) {
    make_place();
    static const float data[22];
    st_write(path,
             "{" TENSOR("Wq", "[2,2]", 0, 16) "," TENSOR("Wk", "[2,2]", 16, 32) "," TENSOR("Wv", "[2,2]", 16,
                                                                                           32) "}",
             data, 32);
    check_refused("W", "");
    st_write(path,
             "{" TENSOR("Wq", "[2,2]", 0, 16) "," TENSOR("Wk", "[2,2]", 16, 32) "," TENSOR("Wv", "[2,2]", 36,
                                                                                           52) "}",
             data, 52);
    check_refused("Wv", "");

    /* The order of the header's entries says nothing: these are contiguous. */
    float asymmetric[24];
    memcpy(asymmetric, fixture_asymmetric_in_weight, 48);
    memcpy(asymmetric + 12, fixture_asymmetric_in_bias, 24);
    memcpy(asymmetric + 18, fixture_asymmetric_out_weight, 16);
    memcpy(asymmetric + 22, fixture_asymmetric_out_bias, 8);
    st_write(
        path,
        "{" TENSOR("out_proj.bias", "[2]", 88, 96) "," TENSOR("in_proj_weight", "[6,2]", 0, 48) "," TENSOR(
            "out_proj.weight", "[2,2]", 72, 88) "," TENSOR("in_proj_bias", "[6]", 48, 72) "}",
        asymmetric, sizeof asymmetric);
    check_asymmetric();
    remove_place();
}
END_TEST

START_TEST(unaligned_data) {
    make_place();
    char header[512];
    snprintf(
        header, sizeof header, "%s",
        "{\"pad\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}"
        "," TENSOR("in_proj_weight", "[6,2]", 3, 51) "," TENSOR("in_proj_bias", "[6]", 51, 75) "," TENSOR(
            "out_proj.weight", "[2,2]", 75, 91) "," TENSOR("out_proj.bias", "[2]", 91, 99) "}");
    /* Once with the data (behind the 8 bytes of the length) at an odd place, once at an even one. */
    for (int i = 0; i < 2; i++) {
        char data[99] = "pad";
        memcpy(data + 3, fixture_asymmetric_in_weight, 48);
        memcpy(data + 51, fixture_asymmetric_in_bias, 24);
        memcpy(data + 75, fixture_asymmetric_out_weight, 16);
        memcpy(data + 91, fixture_asymmetric_out_bias, 8);
        st_write(path, header, data, sizeof data);
        check_asymmetric();
        strncat(header, " ", sizeof header - strlen(header) - 1);
    }
    remove_place();
}
END_TEST

START_TEST(f16_subnormals) {
    make_place();
    static const unsigned char zeros[150];
    static const uint16_t bits[5] = {0x0001, 0x03FF, 0x0400, 0x8000, 0x7BFF};
    static const float values[5] = {0x1p-24f, 0x1.ff8p-15f, 0x1p-14f, -0.0f, 65504};
    st_builder *builder = st_new();
    st_add_bytes(builder, "in_proj_weight", "F16", (size_t[]){15, 5, ST_END}, zeros, 150);
    st_add_bytes(builder, "in_proj_bias", "F16", (size_t[]){15, ST_END}, zeros, 30);
    st_add_bytes(builder, "out_proj.weight", "F16", (size_t[]){5, 5, ST_END}, zeros, 50);
    st_add_bytes(builder, "out_proj.bias", "F16", (size_t[]){5, ST_END}, bits, sizeof bits);
    st_finish(builder, path);

    /* A sum cannot show the sign of a zero; the loaded weights can. */
    attn_model *model = NULL;
    attn_error error = {0};
    attn_model_source source = {.name = "mine", .path = path, .heads = 1};
    ck_assert_msg(attn_model_load(&source, &model, &error) == ATTN_OK, "%s", error.text);
    ck_assert_mem_eq(attn_model_layer(model, 0)->bo, values, sizeof values);
    attn_model_free(model);

    json_t *answer = serve_and_ask("{\"inputs\":[[1,2,3,4,5]]}");
    json_check_exact(answer, "/outputs",
                     "[[5.9604644775390625e-08,6.097555160522461e-05,6.103515625e-05,0,65504]]");
    json_decref(answer);
    remove_place();
}
END_TEST

START_TEST(lfs_pointer) {
    make_place();
    static const char pointer[] =
        "version https://git-lfs.github.com/spec/v1\n"
        "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
        "size 12345\n";
    st_write_bytes(path, pointer, sizeof pointer - 1);
    check_refused("Git LFS", "pointer");
    remove_place();
}
END_TEST

ATTND_SUITE(cases_weights) {
    Suite *suite = suite_create("cases_weights");
    case_add(suite, "shape-wraps", shape_wraps, false);
    case_add(suite, "shared-bytes", shared_bytes, false);
    case_add(suite, "unaligned-data", unaligned_data, false);
    case_add(suite, "f16-subnormals", f16_subnormals, false);
    case_add(suite, "lfs-pointer", lfs_pointer, false);
    return suite;
}
