/* The Open Inference Protocol over plain HTTP: every shape of body and answer. What is refused is in
 * test_inference_refusals.c. */
#include "inference.h"
#include "tests/support/packed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the model makes of them, causal: as /v1/attention has it. */
static const char OUTPUTS[] =
    "[-0.48809925,-0.3254487,0.5904733,0.17459571,-0.3355993,-0.20594406,0.43419576,0.038604498]";
static const char ATTENTION[] = "[1,0,0.48784468,0.51215535,1,0,0.51102185,0.48897812]";

/* The JSON of an answer with bytes; *bytes are what stands behind it. */
static json_t *take_apart(const http_answer *answer, const float **bytes, size_t count) {
    ck_assert_msg(answer->status == 200, "%s", answer->body);
    api_check_header(answer, "Content-Type", "application/octet-stream");
    char *length = http_header(answer, "Inference-Header-Content-Length");
    ck_assert_ptr_nonnull(length);
    size_t size = strtoul(length, NULL, 10);
    ck_assert_uint_eq(answer->size, size + count * sizeof(float));
    json_t *json = json_loadb(answer->body, size, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(json);
    float *copy = malloc(count * sizeof *copy);
    memcpy(copy, answer->body + size, count * sizeof *copy);
    *bytes = copy;
    free(length);
    return json;
}

static void check_floats(const float *got, const char *wanted) {
    json_t *list = json_loads(wanted, 0, NULL);
    for (size_t i = 0; i < json_array_size(list); i++) {
        double value = json_number_value(json_array_get(list, i));
        ck_assert_msg(fabs((double)got[i] - value) < 1e-5, "%zu: %g, not %g", i, (double)got[i], value);
    }
    json_decref(list);
}

START_TEST(json_in_and_out) {
    json_t *flat = inference_ask(INFER, "{\"id\":\"é\\n\\\"\",\"inputs\":[" INPUT "]," CAUSAL "}");
    json_check_exact(flat, "/id", "\"é\\n\\\"\"");
    json_check_exact(flat, "/model_name", "\"tiny\"");
    json_check_exact(flat, "/model_version", "\"1\"");
    ck_assert_uint_eq(json_array_size(json_at(flat, "/outputs")), 1);
    json_check_exact(flat, "/outputs/0/name", "\"outputs\"");
    json_check_exact(flat, "/outputs/0/datatype", "\"FP32\"");
    json_check_exact(flat, "/outputs/0/shape", "[1,2,4]");
    json_check(flat, "/outputs/0/data", OUTPUTS);
    json_t *nested =
        inference_ask("/v2/models/tiny/versions/1/infer",
                      "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP64",
                                               "\"data\":[[[1,0,0,0],\n[0 , 1e0,0.0,-0]]]") "]," CAUSAL "}");
    ck_assert_ptr_null(json_object_get(nested, "id"));
    json_check_exact(nested, "/outputs/0/shape", "[1,2,4]");
    json_check(nested, "/outputs/0/data", OUTPUTS);
    json_decref(nested);
    json_decref(flat);
}
END_TEST

START_TEST(names_with_maps_answer_both) {
    json_t *both = inference_ask(MAPS, "{\"inputs\":[" INPUT "]," CAUSAL ",\"outputs\":[]}");
    json_check_exact(both, "/model_name", "\"tiny-maps\"");
    json_check(both, "/outputs/0/data", OUTPUTS);
    json_check_exact(both, "/outputs/1/shape", "[1,2,2,2]");
    json_check(both, "/outputs/1/data", ATTENTION);
    json_t *one =
        inference_ask(MAPS, "{\"inputs\":[" INPUT "]," CAUSAL ",\"outputs\":[{\"name\":\"attention\"}]}");
    ck_assert_uint_eq(json_array_size(json_at(one, "/outputs")), 1);
    json_check(one, "/outputs/0/data", ATTENTION);
    json_decref(one);
    json_decref(both);
}
END_TEST

START_TEST(a_batch_is_the_sequences) {
    json_t *two =
        inference_ask(MAPS, "{\"inputs\":[" INPUT_OF(
                                "[2,2,4]", "FP32", "\"data\":[0,0,1,0,0,0,0,1," NUMBERS "]") "]," CAUSAL "}");
    json_t *data = json_at(two, "/outputs/0/data"), *maps = json_at(two, "/outputs/1/data");
    json_check_exact(two, "/outputs/1/shape", "[2,2,2,2]");
    ck_assert_uint_eq(json_array_size(data), 16);
    ck_assert_uint_eq(json_array_size(maps), 16);
    json_t *second = json_array(), *second_map = json_array();
    for (size_t i = 8; i < 16; i++) {
        json_array_append(second, json_array_get(data, i));
        json_array_append(second_map, json_array_get(maps, i));
    }
    json_check(second, "", OUTPUTS);
    json_check(second_map, "", ATTENTION);
    json_decref(second);
    json_decref(second_map);
    json_decref(two);
}
END_TEST

/* Bytes begin at any offset: the JSON is made longer by a blank at a time. */
START_TEST(bytes_in_and_out) {
    static const char *const blanks[] = {"", " ", "  ", "   "};
    for (size_t i = 0; i < 4; i++) {
        char json[512];
        const float *bytes;
        snprintf(json, sizeof json,
                 "%s{\"id\":\"7\",\"inputs\":[" BINARY_INPUT
                 "],\"parameters\":{\"causal\":true,\"binary_data_output\":true}}",
                 blanks[i]);
        http_answer answer =
            inference_send_bytes(MAPS, json, inference_numbers, sizeof inference_numbers, SIZE_MAX);
        json_t *head = take_apart(&answer, &bytes, 16);
        json_check_exact(head, "/id", "\"7\"");
        json_check_exact(head, "/outputs/0/parameters/binary_data_size", "32");
        json_check_exact(head, "/outputs/1/parameters/binary_data_size", "32");
        ck_assert_ptr_null(json_object_get(json_at(head, "/outputs/0"), "data"));
        check_floats(bytes, OUTPUTS);
        check_floats(bytes + 8, ATTENTION);
        free((void *)(uintptr_t)bytes);
        json_decref(head);
        http_done(&answer);
    }
}
END_TEST

/* An output's own wish goes before the request's; what is bytes stands in the order of the outputs. */
START_TEST(lists_and_bytes_in_one_answer) {
    const float *bytes;
    http_answer answer = inference_send_bytes(
        MAPS,
        "{\"inputs\":[" BINARY_INPUT
        "],\"parameters\":{\"causal\":true,\"binary_data_output\":true},\"outputs\":["
        "{\"name\":\"attention\"},{\"name\":\"outputs\",\"parameters\":{\"binary_data\":false}}]}",
        inference_numbers, sizeof inference_numbers, SIZE_MAX);
    json_t *head = take_apart(&answer, &bytes, 8);
    json_check_exact(head, "/outputs/0/name", "\"attention\"");
    json_check_exact(head, "/outputs/0/parameters/binary_data_size", "32");
    json_check(head, "/outputs/1/data", OUTPUTS);
    check_floats(bytes, ATTENTION);
    free((void *)(uintptr_t)bytes);
    json_decref(head);
    http_done(&answer);
}
END_TEST

START_TEST(bytes_alone) {
    const float *bytes;
    http_answer answer = inference_send_bytes(INFER, "", inference_numbers, sizeof inference_numbers, 0);
    json_t *head = take_apart(&answer, &bytes, 8), *plain = inference_ask(INFER, BODY);
    json_check_exact(head, "/outputs/0/shape", "[1,2,4]");
    char *wanted = json_dumps(json_at(plain, "/outputs/0/data"), JSON_REAL_PRECISION(9));
    check_floats(bytes, wanted);
    free(wanted);
    free((void *)(uintptr_t)bytes);
    json_decref(plain);
    json_decref(head);
    http_done(&answer);
}
END_TEST

/* The same vectors and the same mask in every type that they may have. */
static const struct {
    const char *datatype;
    size_t size;
    unsigned char bytes[64];
} vectors[] = {
    {"FP16", 16, {0, 0x3c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3c}},
    {"BF16", 16, {0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f}},
    {"FP64", 64, {[6] = 0xf0, [7] = 0x3f, [46] = 0xf0, [47] = 0x3f}},
};

START_TEST(vectors_of_every_type) {
    char json[512];
    snprintf(json, sizeof json,
             "{\"inputs\":[{\"name\":\"inputs\",\"shape\":[1,2,4],\"datatype\":\"%s\",\"parameters\":{"
             "\"binary_data_size\":%zu}}]," CAUSAL "}",
             vectors[_i].datatype, vectors[_i].size);
    http_answer answer = inference_send_bytes(INFER, json, vectors[_i].bytes, vectors[_i].size, SIZE_MAX);
    ck_assert_msg(answer.status == 200, "%s", answer.body);
    json_t *document = http_json(&answer);
    json_check(document, "/outputs/0/data", OUTPUTS);
    json_decref(document);
    http_done(&answer);
}
END_TEST

static const struct {
    const char *datatype;
    size_t width;
} flags[] = {{"BOOL", 1},  {"INT8", 1},   {"UINT8", 1}, {"INT16", 2}, {"UINT16", 2},
             {"INT32", 4}, {"UINT32", 4}, {"INT64", 8}, {"UINT64", 8}};

/* Key 1 is hidden: every weight is key 0's. In the second round a 2 (or a 256) stands there. */
static http_answer send_mask(size_t which, const char *name, const unsigned char mask[16]) {
    char json[600];
    unsigned char bytes[48];
    size_t size = 2 * flags[which].width;
    memcpy(bytes, mask, size);
    memcpy(bytes + size, inference_numbers, sizeof inference_numbers);
    snprintf(json, sizeof json,
             "{\"inputs\":[{\"name\":\"%s\",\"shape\":[1,2],\"datatype\":\"%s\",\"parameters\":{\"binary_"
             "data_size\":%zu}}," BINARY_INPUT "],\"outputs\":[{\"name\":\"attention\"}]}",
             name, flags[which].datatype, size);
    return inference_send_bytes(MAPS, json, bytes, size + sizeof inference_numbers, SIZE_MAX);
}

START_TEST(masks_of_every_type) {
    unsigned char seen[16] = {1}, padding[16] = {0}, wrong[16] = {1};
    size_t width = flags[_i].width;
    padding[width] = 1;
    wrong[width * 2 - 1] = 2;
    const struct {
        const char *name;
        const unsigned char *mask;
    } ways[] = {{"attention_mask", seen}, {"key_padding_mask", padding}};
    for (size_t i = 0; i < 2; i++) {
        http_answer answer = send_mask((size_t)_i, ways[i].name, ways[i].mask);
        ck_assert_msg(answer.status == 200, "%s", answer.body);
        json_t *document = http_json(&answer);
        json_check_exact(document, "/outputs/0/data", "[1,0,1,0,1,0,1,0]");
        json_decref(document);
        http_done(&answer);
    }
    http_answer answer = send_mask((size_t)_i, "attention_mask", wrong);
    api_check_inference_problem(&answer, 422, "out_of_range");
    json_t *problem = http_json(&answer);
    json_check_exact(problem, "/pointer", "\"/inputs/0/data\"");
    json_decref(problem);
    http_done(&answer);
}
END_TEST

/* Members in any order, and names however they are written. */
START_TEST(members_in_any_order) {
    static const char *const bodies[] = {
        "{\"inputs\":[{\"data\":[" NUMBERS
        "],\"datatype\":\"FP32\",\"shape\":[1,2,4],\"name\":\"inputs\"}]," CAUSAL "}",
        "{" CAUSAL ",\"\\u0069nputs\":[{\"n\\u0061me\":\"inputs\",\"sh\\u0061pe\":[1,2,4],\"datatype\":"
        "\"FP32\",\"d\\u0061ta\":[[[1,0,0,0],[0,1,0,0]]]}]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        json_t *document = inference_ask(INFER, bodies[i]);
        json_check(document, "/outputs/0/data", OUTPUTS);
        json_decref(document);
    }
    json_t *masked =
        inference_ask(MAPS, "{\"inputs\":[{\"data\":[[true,0]],\"name\":\"attention_mask\",\"shape\":[1,2],"
                            "\"datatype\":\"INT8\"}," INPUT "]}");
    json_check_exact(masked, "/outputs/1/data", "[1,0,1,0,1,0,1,0]");
    json_decref(masked);
}
END_TEST

START_TEST(masks_and_context_in_json) {
    json_t *masked = inference_ask(
        MAPS, "{\"inputs\":[" INPUT
              ",{\"name\":\"attention_mask\",\"shape\":[1,2],\"datatype\":\"INT64\",\"data\":[[1,0]]}]}");
    json_check_exact(masked, "/outputs/1/data", "[1,0,1,0,1,0,1,0]");
    json_decref(masked);
    masked = inference_ask(
        MAPS, "{\"inputs\":[{\"name\":\"key_padding_mask\",\"shape\":[1,2],\"datatype\":\"BOOL\","
              "\"data\":[false,true]}," INPUT "]}");
    json_check_exact(masked, "/outputs/1/data", "[1,0,1,0,1,0,1,0]");
    json_decref(masked);
    json_t *crossed =
        inference_ask(MAPS, "{\"inputs\":[{\"name\":\"context\",\"shape\":[1,3,4],\"datatype\":\"FP32\","
                            "\"data\":[1,0,0,0,0,1,0,0,0,0,1,0]},"
                            "{\"name\":\"values\",\"shape\":[1,3,4],\"datatype\":\"FP32\",\"data\":[1,0,"
                            "0,0,0,1,0,0,0,0,1,0]}," INPUT "],"
                            "\"parameters\":{\"causal\":\"bottom_right\",\"window\":1,\"layer\":\"layers."
                            "0\",\"priority\":3,\"timeout\":60000000}}");
    json_check_exact(crossed, "/outputs/1/shape", "[1,2,2,3]");
    json_check_exact(crossed, "/outputs/1/data", "[0,1,0,0,0,1,0,1,0,0,0,1]");
    json_decref(crossed);
}
END_TEST

START_TEST(answers_are_compressed_as_everywhere) {
    http_answer answer =
        inference_send(INFER, (const char *const[]){"Accept-Encoding: gzip", NULL}, BODY, strlen(BODY));
    api_check_header(&answer, "Content-Encoding", "gzip");
    size_t size;
    char *text = unpacked("gzip", answer.body, answer.size, &size);
    json_t *document = json_loadb(text, size, 0, NULL);
    json_check_exact(document, "/model_name", "\"tiny\"");
    json_decref(document);
    free(text);
    http_done(&answer);
}
END_TEST

START_TEST(models_are_described) {
    json_t *server = api_get("/v2", 200), *model = api_get("/v2/models/tiny", 200),
           *maps = api_get("/v2/models/plain-maps/versions/1", 200),
           *config = api_get("/v2/models/demo/config", 200),
           *index = api_post("/v2/repository/index", "", 200);
    json_check_exact(server, "/extensions",
                     "[\"binary_tensor_data\",\"model_configuration\",\"statistics\"]");
    json_check_exact(model, "/inputs/0", "{\"name\":\"inputs\",\"datatype\":\"FP32\",\"shape\":[-1,-1,4]}");
    json_check_exact(model, "/outputs", "[{\"name\":\"outputs\",\"datatype\":\"FP32\",\"shape\":[-1,-1,4]}]");
    json_check_exact(maps, "/name", "\"plain-maps\"");
    json_check_exact(maps, "/inputs/0/shape", "[-1,-1,-1]");
    json_check_exact(maps, "/outputs/1",
                     "{\"name\":\"attention\",\"datatype\":\"FP32\",\"shape\":[-1,1,-1,-1]}");
    json_check_exact(
        config, "/input/0",
        "{\"name\":\"inputs\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1,-1,512],\"optional\":false}");
    json_check_exact(config, "/input/3/optional", "true");
    json_check_exact(config, "/max_batch_size", "0");
    ck_assert_uint_eq(json_array_size(index), 6);
    json_check_exact(index, "/5",
                     "{\"name\":\"plain-maps\",\"version\":\"1\",\"state\":\"READY\",\"reason\":\"\"}");
    json_decref(server);
    json_decref(model);
    json_decref(maps);
    json_decref(config);
    json_decref(index);
}
END_TEST

START_TEST(health_is_told) {
    json_t *live = api_get("/v2/health/live", 200), *ready = api_get("/v2/health/ready?x=1", 200),
           *model = api_get("/v2/models/tiny-maps/ready", 200);
    json_check_exact(live, "", "{\"live\":true}");
    json_check_exact(ready, "", "{\"ready\":true}");
    json_check_exact(model, "", "{\"name\":\"tiny-maps\",\"ready\":true}");
    json_decref(live);
    json_decref(ready);
    json_decref(model);
}
END_TEST

static json_int_t number_at(const json_t *document, const char *pointer) {
    return json_integer_value(json_at(document, pointer));
}

/* Counted for the name that was asked, and for no other. */
START_TEST(requests_are_counted) {
    json_t *before = api_get("/v2/models/demo/stats", 200);
    char body[16 * 1024], *at = body;
    at += sprintf(at, "{\"inputs\":["
                      "{\"name\":\"inputs\",\"shape\":[3,1,512],\"datatype\":\"FP32\",\"data\":[1");
    for (size_t i = 1; i < 3UL * 512; i++)
        at += sprintf(at, ",%zu", i % 7);
    sprintf(at, "]}]}");
    json_decref(inference_ask("/v2/models/demo/infer", body));
    http_answer refused = inference_send_text("/v2/models/demo/infer", BODY);
    api_check_inference_problem(&refused, 422, "shape_mismatch");
    http_done(&refused);
    json_t *after = api_get("/v2/models/demo/versions/1/stats", 200), *all = api_get("/v2/models/stats", 200);
    json_check_exact(before, "/model_stats/0/last_inference", "0");
    json_check_exact(before, "/model_stats/0/batch_stats", "[]");
    ck_assert_int_gt(number_at(after, "/model_stats/0/last_inference"), 1700000000000);
    json_check_exact(after, "/model_stats/0/inference_count", "3");
    json_check_exact(after, "/model_stats/0/execution_count", "1");
    json_check_exact(after, "/model_stats/0/inference_stats/success/count", "1");
    json_check_exact(after, "/model_stats/0/inference_stats/fail/count", "1");
    json_check_exact(after, "/model_stats/0/batch_stats/0/batch_size", "3");
    static const char *const parts[] = {"queue", "compute_input", "compute_infer", "compute_output"};
    json_int_t sum = 0;
    for (size_t i = 0; i < 4; i++) {
        char pointer[96];
        snprintf(pointer, sizeof pointer, "/model_stats/0/inference_stats/%s/ns", parts[i]);
        ck_assert_int_gt(number_at(after, pointer), 0);
        sum += number_at(after, pointer);
    }
    /* Each part is cut to whole nanoseconds. */
    ck_assert_int_le(llabs(number_at(after, "/model_stats/0/inference_stats/success/ns") - sum), 4);
    ck_assert_uint_eq(json_array_size(json_at(all, "/model_stats")), 6);
    json_check_exact(all, "/model_stats/3/name", "\"demo-maps\"");
    json_check_exact(all, "/model_stats/3/inference_count", "0");
    json_decref(before);
    json_decref(after);
    json_decref(all);
}
END_TEST

/* Microseconds, which are at least a millisecond: less than maps of 9 million weights take. */
START_TEST(the_client_s_time_is_kept) {
    enum { LENGTH = 3000, WIDTH = 8, SIZE = LENGTH * WIDTH * sizeof(float) };
    static const char *const paths[] = {"/v2/models/plain-maps/infer",
                                        "/v2/models/plain-maps/versions/1/infer"};
    static const char json[] =
        "{\"inputs\":[{\"name\":\"inputs\",\"shape\":[1,3000,8],\"datatype\":\"FP32\","
        "\"parameters\":{\"binary_data_size\":96000}}],\"parameters\":{\"timeout\":1}}";
    test_daemon shared = api_daemon;
    float *bytes = calloc(LENGTH * WIDTH, sizeof *bytes);
    daemon_start(&api_daemon, NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        http_answer answer = inference_send_bytes(paths[i], json, bytes, SIZE, SIZE_MAX);
        api_check_inference_problem(&answer, 504, "deadline");
        http_done(&answer);
    }
    daemon_stop(&api_daemon);
    api_daemon = shared;
    free(bytes);
}
END_TEST

START_TEST(web_pages_may_ask) {
    http_answer answer = http_send(
        "OPTIONS", api_daemon.url, INFER,
        (const char *const[]){"Origin: http://localhost:5173", "Access-Control-Request-Method: POST",
                              "Access-Control-Request-Headers: inference-header-content-length", NULL},
        NULL, 0);
    ck_assert_int_eq(answer.status, 204);
    char *allowed = http_header(&answer, "Access-Control-Allow-Headers");
    ck_assert_ptr_nonnull(strstr(allowed, "Inference-Header-Content-Length"));
    free(allowed);
    http_done(&answer);
    http_answer refusal =
        inference_send(INFER, (const char *const[]){"Origin: http://localhost:5173", NULL}, "x", 1);
    api_check_header(&refusal, "Access-Control-Allow-Origin", "http://localhost:5173");
    char *exposed = http_header(&refusal, "Access-Control-Expose-Headers");
    ck_assert_ptr_nonnull(strstr(exposed, "Inference-Header-Content-Length"));
    free(exposed);
    http_done(&refusal);
}
END_TEST

ATTND_SUITE(inference) {
    Suite *suite = suite_create("inference");
    TCase *tests = api_case(suite, "inference");
    tcase_add_test(tests, json_in_and_out);
    tcase_add_test(tests, names_with_maps_answer_both);
    tcase_add_test(tests, a_batch_is_the_sequences);
    tcase_add_test(tests, bytes_in_and_out);
    tcase_add_test(tests, lists_and_bytes_in_one_answer);
    tcase_add_test(tests, bytes_alone);
    tcase_add_loop_test(tests, vectors_of_every_type, 0, (int)(sizeof vectors / sizeof *vectors));
    tcase_add_loop_test(tests, masks_of_every_type, 0, (int)(sizeof flags / sizeof *flags));
    tcase_add_test(tests, members_in_any_order);
    tcase_add_test(tests, masks_and_context_in_json);
    tcase_add_test(tests, answers_are_compressed_as_everywhere);
    tcase_add_test(tests, models_are_described);
    tcase_add_test(tests, health_is_told);
    tcase_add_test(tests, requests_are_counted);
    tcase_add_test(tests, the_client_s_time_is_kept);
    tcase_add_test(tests, web_pages_may_ask);
    return suite;
}
