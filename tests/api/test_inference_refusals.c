/* Every refusal that a body of the Open Inference Protocol earns, as JSON, as bytes and in its framing. */
#include "inference.h"

#include <math.h>
#include <string.h>

/* Bodies of JSON alone that are refused. */
static const struct {
    const char *path, *body;
    long status;
    const char *code, *member, *where;
} refused[] = {
    {INFER, "", 400, "bad_json", "offset", "0"},
    {INFER, "{\"inputs\":[" INPUT "]}x", 400, "bad_json", "offset", "90"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,x]") "]}", 400, "bad_json", "offset",
     "73"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,]") "]}", 400, "bad_json", "offset",
     "73"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1 2]") "]}", 400, "bad_json", "offset",
     "73"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[01]") "]}", 400, "bad_json", "offset",
     "71"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,2") "]}", 400, "bad_json", "offset",
     NULL},
    {INFER, "{\"inputs\":[" INPUT_OF("[9]", "FP32", "\"data\":[1,-]") "]}", 400, "bad_json", "offset", "69"},
    {INFER, "{\"id\":\"\xff\",\"inputs\":[" INPUT "]}", 400, "bad_json", "offset", NULL},
    {INFER, "[]", 422, "wrong_type", "pointer", ""},
    {INFER, "{}", 422, "missing_field", "pointer", "/inputs"},
    {INFER, "{\"inputs\":[]}", 422, "missing_field", "pointer", "/inputs"},
    {INFER, "{\"inputs\":{}}", 422, "wrong_type", "pointer", "/inputs"},
    {INFER, "{\"inputs\":[3]}", 422, "wrong_type", "pointer", "/inputs/0"},
    {INFER, "{\"inputs\":[" INPUT "],\"id\":3}", 422, "wrong_type", "pointer", "/id"},
    {INFER, "{\"inputs\":[" INPUT "],\"input\":3}", 422, "unknown_field", "pointer", "/input"},
    {INFER, "{\"inputs\":[" INPUT "," INPUT "]}", 422, "conflict", "pointer", "/inputs/1/name"},
    {INFER, "{\"inputs\":[{\"name\":\"bias\"}]}", 422, "unknown_field", "pointer", "/inputs/0/name"},
    {INFER, "{\"inputs\":[{\"shape\":[1]}]}", 422, "missing_field", "pointer", "/inputs/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"dato\":[1]") "]}", 422, "unknown_field", "pointer",
     "/inputs/0/dato"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "INT32", "\"data\":[1]") "]}", 422, "wrong_type", "pointer",
     "/inputs/0/datatype"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "BYTES", "\"data\":[\"a\"]") "]}", 422, "wrong_type",
     "pointer", "/inputs/0/datatype"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP16", "\"data\":[" NUMBERS "]") "]}", 422, "wrong_type",
     "pointer", "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[2,4]", "FP32", "\"data\":[" NUMBERS "]") "]}", 422, "shape_mismatch",
     "pointer", "/inputs/0/shape"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,3]", "FP32", "\"data\":[1,2,3,4,5,6]") "]}", 422, "shape_mismatch",
     "pointer", "/inputs/0/shape"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,0,4]", "FP32", "\"data\":[]") "]}", 422, "out_of_range", "pointer",
     "/inputs/0/shape/1"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,-4]", "FP32", "\"data\":[]") "]}", 422, "out_of_range", "pointer",
     "/inputs/0/shape/2"},
    {INFER, "{\"inputs\":[" INPUT_OF("[4294967296,4294967296,4]", "FP32", "\"data\":[1]") "]}", 422,
     "out_of_range", "pointer", "/inputs/0/shape"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,100000000,4]", "FP32", "\"data\":[1]") "]}", 422, "shape_mismatch",
     "pointer", "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,0,0,0,1,0]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[" NUMBERS ",1]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0],[0,1,0]]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0/1"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0],[0,1,0,0,0]]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0/1"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0]],[[0,1,0,0]]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[1,0,0,0],[0,1,0,0]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[[1]], 0, 0, 0]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0/0/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,[0],0,0,1,0,0]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/2"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,\"]\",0,0,1,0,0]") "]}", 422,
     "wrong_type", "pointer", "/inputs/0/data/2"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,{\"a\":[\"]\"]},0,0,1,0,0]") "]}", 422,
     "wrong_type", "pointer", "/inputs/0/data/2"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,null,0],[0,1,0,0]]]") "]}", 422,
     "wrong_type", "pointer", "/inputs/0/data/0/0/2"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,true,0,0,1,0,0]") "]}", 422,
     "wrong_type", "pointer", "/inputs/0/data/2"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,4e38,0,0,1,0,0]") "]}", 422,
     "out_of_range", "pointer", "/inputs/0/data/2"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[true,0,4e38,0,0,1,0,0]") "]}", 422,
     "wrong_type", "pointer", "/inputs/0/data/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[4e38,true,0,0,0,1,0,0]") "]}", 422,
     "out_of_range", "pointer", "/inputs/0/data/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0],[0,1,0,false]]]") "]}", 422,
     "wrong_type", "pointer", "/inputs/0/data/0/1/3"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,{\"a\" 1},0,0,1,0,0]") "]}", 400,
     "bad_json", "offset", "80"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,\"\\x\",0,0,1,0,0]") "]}", 400,
     "bad_json", "offset", NULL},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,{\"a\":1,\"a\":2},0,0,1,0,0]") "]}",
     400, "bad_json", "offset", NULL},
    {INFER,
     "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32",
                              "\"data\":[{\"dtype\":\"f32\",\"shape\":[8],\"data\":\"AAAA\"}]") "]}",
     422, "wrong_type", "pointer", "/inputs/0/data/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":\"AAAA\"") "]}", 422, "wrong_type",
     "pointer", "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[]") "]}", 422, "shape_mismatch", "pointer",
     "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[]]") "]}", 422, "shape_mismatch",
     "pointer", "/inputs/0/data/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[]]]") "]}", 422, "shape_mismatch",
     "pointer", "/inputs/0/data/0/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[1]]") "]}", 422, "shape_mismatch",
     "pointer", "/inputs/0/data/0/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[\"x\"]]") "]}", 422, "wrong_type",
     "pointer", "/inputs/0/data/0/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0],null]]") "]}", 422,
     "wrong_type", "pointer", "/inputs/0/data/0/1"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0],0]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0/1"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0],[0,1,0,0]],[]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/1"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[[[[[1]]]]]]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0/0/0"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0,0],[0,1,0,[0]]]]") "]}", 422,
     "shape_mismatch", "pointer", "/inputs/0/data/0/1/3"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,1e999,0,0,1,0,0]") "]}", 422,
     "out_of_range", "offset", NULL},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP16", "\"data\":[1,0]") "]}", 422, "wrong_type", "pointer",
     "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "INT8", "\"data\":[1,0]") "]}", 422, "wrong_type", "pointer",
     "/inputs/0/datatype"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":7") "]}", 422, "wrong_type", "pointer",
     "/inputs/0/data"},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"sh\\u0061pe\":1") "]}", 400, "bad_json", "offset",
     NULL},
    {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"parameters\":{}") "]}", 422, "missing_field",
     "pointer", "/inputs/0"},
    {INFER, "{\"inputs\":[" BINARY_INPUT "]}", 400, "bad_body", "pointer",
     "/inputs/0/parameters/binary_data_size"},
    {INFER,
     "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32",
                              "\"data\":[" NUMBERS "],\"parameters\":{\"shared_memory_region\":\"r\"}") "]}",
     501, "not_implemented", "pointer", "/inputs/0/parameters/shared_memory_region"},
    {INFER, "{\"inputs\":[" INPUT "],\"parameters\":{\"sequence_id\":1}}", 501, "not_implemented", "pointer",
     "/parameters/sequence_id"},
    {INFER,
     "{\"inputs\":[" INPUT "],\"outputs\":[{\"name\":\"outputs\",\"parameters\":{\"classification\":2}}]}",
     501, "not_implemented", "pointer", "/outputs/0/parameters/classification"},
    {INFER, "{\"inputs\":[" INPUT "],\"outputs\":[{\"name\":\"attention\"}]}", 422, "unknown_field",
     "pointer", "/outputs/0/name"},
    {INFER, "{\"inputs\":[" INPUT "],\"outputs\":[{\"name\":\"outputs\"},{\"name\":\"outputs\"}]}", 422,
     "conflict", "pointer", "/outputs/1/name"},
    {INFER, "{\"inputs\":[" INPUT "],\"outputs\":[{}]}", 422, "missing_field", "pointer", "/outputs/0/name"},
    {INFER,
     "{\"inputs\":[" INPUT "],\"outputs\":[{\"name\":\"outputs\",\"parameters\":{\"binary_data\":1}}]}", 422,
     "wrong_type", "pointer", "/outputs/0/parameters/binary_data"},
    {INFER, "{\"inputs\":[" INPUT "],\"parameters\":{\"casual\":true}}", 422, "unknown_field", "pointer",
     "/parameters/casual"},
    {INFER, "{\"inputs\":[" INPUT "],\"parameters\":{\"causal\":3}}", 422, "wrong_type", "pointer",
     "/parameters/causal"},
    {INFER, "{\"inputs\":[" INPUT "],\"parameters\":{\"window\":-1}}", 422, "out_of_range", "pointer",
     "/parameters/window"},
    {INFER, "{\"inputs\":[" INPUT "],\"parameters\":{\"timeout\":-1}}", 422, "out_of_range", "pointer",
     "/parameters/timeout"},
    {INFER, "{\"inputs\":[" INPUT "],\"parameters\":{\"priority\":\"high\"}}", 422, "wrong_type", "pointer",
     "/parameters/priority"},
    {INFER, "{\"inputs\":[" INPUT "],\"parameters\":{\"layer\":1}}", 404, "layer_not_found", "pointer",
     "/parameters/layer"},
    {INFER, "{\"inputs\":[{}],\"parameters\":{\"layer\":1}}", 404, "layer_not_found", "pointer",
     "/parameters/layer"},
    {INFER,
     "{\"inputs\":[" INPUT
     ",{\"name\":\"attention_mask\",\"shape\":[1,2],\"datatype\":\"BOOL\",\"data\":[1,2]}]}",
     422, "out_of_range", "pointer", "/inputs/1/data/1"},
    {INFER,
     "{\"inputs\":[{\"data\":[1,1.00000001],\"name\":\"key_padding_mask\",\"shape\":[1,2],\"datatype\":"
     "\"BOOL\"}," INPUT "]}",
     422, "out_of_range", "pointer", "/inputs/0/data/1"},
    {INFER,
     "{\"inputs\":[{\"data\":[[1e-60,1]],\"name\":\"key_padding_mask\",\"shape\":[1,2],\"datatype\":\"BOOL\"}"
     "," INPUT "]}",
     422, "out_of_range", "pointer", "/inputs/0/data/0/0"},
    {INFER,
     "{\"inputs\":[{\"data\":[true,null],\"name\":\"key_padding_mask\",\"shape\":[1,2],\"datatype\":\"BOOL\"}"
     "," INPUT "]}",
     422, "wrong_type", "pointer", "/inputs/0/data/1"},
    {INFER,
     "{\"inputs\":[{\"data\":[[0,7],[0]],\"name\":\"key_padding_mask\",\"shape\":[1,2],\"datatype\":\"BOOL\"}"
     "," INPUT "]}",
     422, "out_of_range", "pointer", "/inputs/0/data/0/1"},
    {INFER,
     "{\"inputs\":[{\"data\":[0,4e38],\"name\":\"key_padding_mask\",\"shape\":[1,2],\"datatype\":\"BOOL\"}"
     "," INPUT "]}",
     422, "out_of_range", "pointer", "/inputs/0/data/1"},
    {INFER,
     "{\"inputs\":[{\"name\":\"attention_mask\",\"shape\":[1,3],\"datatype\":\"BOOL\",\"data\":[1,1,1]}"
     "," INPUT "]}",
     422, "shape_mismatch", "pointer", "/inputs/0/shape"},
    {INFER,
     "{\"inputs\":[" INPUT
     ",{\"name\":\"attention_mask\",\"shape\":[1,2],\"datatype\":\"FP32\",\"data\":[0,1]}]}",
     422, "wrong_type", "pointer", "/inputs/1/datatype"},
    {"/v2/models/tiny/versions/1/infer", "{\"inputs\":[" INPUT "],\"parameters\":{\"sequence_end\":true}}",
     501, "not_implemented", "pointer", "/parameters/sequence_end"},
    {"/v2/models/none/infer", BODY, 404, "model_not_found", NULL, NULL},
    {"/v2/models/tiny/versions/2/infer", BODY, 404, "model_not_found", NULL, NULL},
    {"/v2/models/tiny/infer/", BODY, 404, "not_found", NULL, NULL},
    {INFER "?causal=true", BODY, 422, "unknown_field", "parameter", "causal"},
    {INFER "?compress=x", BODY, 422, "wrong_type", "parameter", "compress"},
    {"/v2/models/tiny", BODY, 405, "method_not_allowed", NULL, NULL},
    {"/v2/repository/models/tiny/load", "", 501, "not_implemented", NULL, NULL},
    {"/v2/systemsharedmemory/region/%2F/register", "", 501, "not_implemented", NULL, NULL},
};

START_TEST(what_is_wrong_is_told) {
    http_answer answer = inference_send_text(refused[_i].path, refused[_i].body);
    ck_assert_msg(answer.status == refused[_i].status, "%s: %s", refused[_i].body, answer.body);
    api_check_inference_problem(&answer, refused[_i].status, refused[_i].code);
    json_t *problem = http_json(&answer);
    if (refused[_i].member) {
        json_t *where = json_object_get(problem, refused[_i].member);
        ck_assert_msg(where != NULL, "%s: %s", refused[_i].body, answer.body);
        char number[24] = "";
        if (json_is_integer(where)) snprintf(number, sizeof number, "%d", (int)json_integer_value(where));
        const char *found = *number ? number : json_string_value(where);
        if (refused[_i].where)
            ck_assert_msg(strcmp(found, refused[_i].where) == 0, "%s: %s", refused[_i].body, answer.body);
    }
    json_decref(problem);
    http_done(&answer);
}
END_TEST

/* What was found and what the shape asks for. */
START_TEST(counts_are_told) {
    static const struct {
        const char *body, *detail;
    } counts[] = {
        {"{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[1,0,0]") "]}",
         "found 3 elements; shape [1,2,4] has 8"},
        {"{\"inputs\":[" INPUT_OF("[1,100000000,4]", "FP32", "\"data\":[" NUMBERS "]") "]}",
         "found 8 elements; shape [1,100000000,4] has 400000000"},
        {"{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"data\":[[[1,0,0],[0,1,0]]]") "]}",
         "found a list of 3; shape [1,2,4] asks for 4 here, or for one flat list"},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        http_answer answer = inference_send_text(INFER, counts[i].body);
        json_t *problem = http_json(&answer);
        ck_assert_str_eq(json_string_value(json_object_get(problem, "detail")), counts[i].detail);
        json_decref(problem);
        http_done(&answer);
    }
}
END_TEST

/* Lengths that lie. */
START_TEST(framing_of_bytes_is_checked) {
    static const char json[] = "{\"inputs\":[" BINARY_INPUT "]}";
    static const float infinite[8] = {[3] = INFINITY};
    const struct {
        const char *path, *json;
        const float *bytes;
        size_t size, told;
        long status;
        const char *code;
    } ways[] = {
        {INFER, json, inference_numbers, 31, SIZE_MAX, 400, "bad_body"},
        {INFER, json, inference_numbers, 0, SIZE_MAX, 400, "bad_body"},
        {INFER, "{\"inputs\":[" INPUT "]}", inference_numbers, 4, SIZE_MAX, 400, "bad_body"},
        {INFER, json, inference_numbers, 32, sizeof json + 32, 400, "bad_body"},
        {INFER, json, inference_numbers, 32, sizeof json - 2, 400, "bad_json"},
        {INFER, "{\"inputs\":[" INPUT_OF("[1,3,4]", "FP32", "\"parameters\":{\"binary_data_size\":32}") "]}",
         inference_numbers, 32, SIZE_MAX, 400, "bad_body"},
        {INFER,
         "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"parameters\":{\"binary_data_size\":4294967328}") "]}",
         inference_numbers, 32, SIZE_MAX, 400, "bad_body"},
        {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"parameters\":{\"binary_data_size\":-1}") "]}",
         inference_numbers, 32, SIZE_MAX, 422, "out_of_range"},
        {INFER,
         "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32",
                                  "\"parameters\":{\"binary_data_size\":32},\"data\":[1]") "]}",
         inference_numbers, 32, SIZE_MAX, 422, "conflict"},
        {INFER, json, infinite, 32, SIZE_MAX, 422, "not_finite"},
        {INFER, "", inference_numbers, 28, 0, 400, "bad_body"},
        {INFER, "", inference_numbers, 0, 0, 400, "bad_body"},
        {"/v2/models/plain/infer", "", inference_numbers, 32, 0, 422, "shape_mismatch"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        http_answer answer =
            inference_send_bytes(ways[i].path, ways[i].json, ways[i].bytes, ways[i].size, ways[i].told);
        ck_assert_msg(answer.status == ways[i].status, "%zu: %s", i, answer.body);
        api_check_inference_problem(&answer, ways[i].status, ways[i].code);
        http_done(&answer);
    }
}
END_TEST

/* A tensor's bytes may begin with a NUL, with what is no UTF-8, or with a letter. */
START_TEST(bytes_without_the_header_are_told) {
    static const char json[] = "{\"inputs\":[" BINARY_INPUT "]}", *const begins[] = {"\0\0\x80?",
                                                                                     "\xcd\xcc\xcc=", "abc?"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        char body[sizeof json - 1 + 32] = "";
        memcpy(body, json, sizeof json - 1);
        memcpy(body + sizeof json - 1, begins[i], 4);
        http_answer answer = inference_send(INFER, (const char *const[]){NULL}, body, sizeof body);
        api_check_inference_problem(&answer, 400, "bad_json");
        ck_assert_msg(strstr(answer.body,
                             "; JSON with bytes behind it needs the header Inference-Header-Content-Length, "
                             "which says how long the JSON is") != NULL,
                      "%s", answer.body);
        http_done(&answer);
    }
}
END_TEST

START_TEST(the_header_is_one_number) {
    static const char *const headers[][3] = {
        {"Inference-Header-Content-Length: -1", NULL},
        {"Inference-Header-Content-Length: 0x10", NULL},
        {"Inference-Header-Content-Length: 99999999999999999999", NULL},
        {"Inference-Header-Content-Length;", NULL},
        {"Inference-Header-Content-Length: 4", "Inference-Header-Content-Length: 4", NULL},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        http_answer answer = inference_send(INFER, headers[i], BODY, strlen(BODY));
        api_check_inference_problem(&answer, 400, "bad_body");
        json_t *problem = http_json(&answer);
        json_check_exact(problem, "/header", "\"Inference-Header-Content-Length\"");
        json_decref(problem);
        http_done(&answer);
    }
}
END_TEST

/* A body cut at each byte, and each byte of it flipped, is answered, and the next request is too. */
START_TEST(broken_bodies_are_answered) {
    static const char json[] = "{\"inputs\":[" BINARY_INPUT "]," CAUSAL "}";
    char body[sizeof json + 32];
    size_t size = sizeof json - 1 + 32;
    char header[64];
    snprintf(header, sizeof header, "Inference-Header-Content-Length: %zu", sizeof json - 1);
    memcpy(body, json, sizeof json - 1);
    memcpy(body + sizeof json - 1, inference_numbers, 32);
    for (size_t i = 0; i < 2 * size; i++) {
        if (i >= size) body[i - size] ^= 0x20;
        http_answer answer =
            inference_send(INFER, (const char *const[]){header, NULL}, body, i < size ? i : size);
        ck_assert_msg(answer.status == 200 || answer.status == 400 || answer.status == 404 ||
                          answer.status == 422 || answer.status == 501,
                      "%zu: %ld %s", i, answer.status, answer.body);
        if (i < size) ck_assert_int_eq(answer.status, 400);
        if (i >= size) body[i - size] ^= 0x20;
        http_done(&answer);
    }
    json_decref(inference_ask(INFER, BODY));
}
END_TEST

ATTND_SUITE(inference_refusals) {
    Suite *suite = suite_create("inference_refusals");
    TCase *tests = api_case(suite, "inference refusals");
    tcase_add_loop_test(tests, what_is_wrong_is_told, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, counts_are_told);
    tcase_add_test(tests, framing_of_bytes_is_checked);
    tcase_add_test(tests, bytes_without_the_header_are_told);
    tcase_add_test(tests, the_header_is_one_number);
    tcase_add_test(tests, broken_bodies_are_answered);
    return suite;
}
