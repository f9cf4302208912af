/* The Open Inference Protocol over plain HTTP: every shape of body and answer, and every refusal that a body earns. */
#include "api.h"
#include "tests/support/packed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INFER "/v2/models/tiny/infer"
#define MAPS "/v2/models/tiny-maps/infer"
/* Two tokens of width 4. */
#define NUMBERS "1,0,0,0,0,1,0,0"
#define INPUT_OF(shape, datatype, rest)                                                                      \
    "{\"name\":\"inputs\",\"shape\":" shape ",\"datatype\":\"" datatype "\"," rest "}"
#define INPUT INPUT_OF("[1,2,4]", "FP32", "\"data\":[" NUMBERS "]")
#define BINARY_INPUT INPUT_OF("[1,2,4]", "FP32", "\"parameters\":{\"binary_data_size\":32}")
#define BODY "{\"inputs\":[" INPUT "]}"
#define CAUSAL "\"parameters\":{\"causal\":true}"

/* What the model makes of them, causal: as /v1/attention has it. */
static const char OUTPUTS[] =
    "[-0.48809925,-0.3254487,0.5904733,0.17459571,-0.3355993,-0.20594406,0.43419576,0.038604498]";
static const char ATTENTION[] = "[1,0,0.48784468,0.51215535,1,0,0.51102185,0.48897812]";

static const float numbers[8] = {1, 0, 0, 0, 0, 1, 0, 0};

static http_answer send_with(const char *path, const char *const headers[], const void *body, size_t size) {
    return http_send("POST", api_daemon.url, path, headers, body, size);
}

/* As the protocol's clients do: no Content-Type, no Accept. */
static http_answer send_text(const char *path, const char *body) {
    return send_with(path, (const char *const[]){"Content-Type:", "Accept:", NULL}, body, strlen(body));
}

static json_t *ask(const char *path, const char *body) {
    http_answer answer = send_text(path, body);
    ck_assert_msg(answer.status == 200, "%s", answer.body);
    api_check_header(&answer, "Content-Type", "application/json");
    ck_assert_ptr_null(strcasestr(answer.headers, "Inference-Header-Content-Length"));
    json_t *document = http_json(&answer);
    http_done(&answer);
    return document;
}

/* JSON and bytes behind it; `told`: what the header says, SIZE_MAX: the truth. */
static http_answer send_bytes(const char *path, const char *json, const void *bytes, size_t size,
                              size_t told) {
    char header[64], *body = malloc(strlen(json) + size + 1);
    memcpy(body, json, strlen(json));
    memcpy(body + strlen(json), bytes, size);
    snprintf(header, sizeof header, "Inference-Header-Content-Length: %zu",
             told == SIZE_MAX ? strlen(json) : told);
    http_answer answer =
        send_with(path, (const char *const[]){header, "Content-Type:", NULL}, body, strlen(json) + size);
    free(body);
    return answer;
}

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
    json_t *flat = ask(INFER, "{\"id\":\"é\\n\\\"\",\"inputs\":[" INPUT "]," CAUSAL "}");
    json_check_exact(flat, "/id", "\"é\\n\\\"\"");
    json_check_exact(flat, "/model_name", "\"tiny\"");
    json_check_exact(flat, "/model_version", "\"1\"");
    ck_assert_uint_eq(json_array_size(json_at(flat, "/outputs")), 1);
    json_check_exact(flat, "/outputs/0/name", "\"outputs\"");
    json_check_exact(flat, "/outputs/0/datatype", "\"FP32\"");
    json_check_exact(flat, "/outputs/0/shape", "[1,2,4]");
    json_check(flat, "/outputs/0/data", OUTPUTS);
    json_t *nested = ask("/v2/models/tiny/versions/1/infer",
                         "{\"inputs\":[" INPUT_OF(
                             "[1,2,4]", "FP64", "\"data\":[[[1,0,0,0],\n[0 , 1e0,0.0,-0]]]") "]," CAUSAL "}");
    ck_assert_ptr_null(json_object_get(nested, "id"));
    json_check_exact(nested, "/outputs/0/shape", "[1,2,4]");
    json_check(nested, "/outputs/0/data", OUTPUTS);
    json_decref(nested);
    json_decref(flat);
}
END_TEST

START_TEST(names_with_maps_answer_both) {
    json_t *both = ask(MAPS, "{\"inputs\":[" INPUT "]," CAUSAL ",\"outputs\":[]}");
    json_check_exact(both, "/model_name", "\"tiny-maps\"");
    json_check(both, "/outputs/0/data", OUTPUTS);
    json_check_exact(both, "/outputs/1/shape", "[1,2,2,2]");
    json_check(both, "/outputs/1/data", ATTENTION);
    json_t *one = ask(MAPS, "{\"inputs\":[" INPUT "]," CAUSAL ",\"outputs\":[{\"name\":\"attention\"}]}");
    ck_assert_uint_eq(json_array_size(json_at(one, "/outputs")), 1);
    json_check(one, "/outputs/0/data", ATTENTION);
    json_decref(one);
    json_decref(both);
}
END_TEST

START_TEST(a_batch_is_the_sequences) {
    json_t *two = ask(MAPS, "{\"inputs\":[" INPUT_OF(
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
        http_answer answer = send_bytes(MAPS, json, numbers, sizeof numbers, SIZE_MAX);
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
    http_answer answer =
        send_bytes(MAPS,
                   "{\"inputs\":[" BINARY_INPUT
                   "],\"parameters\":{\"causal\":true,\"binary_data_output\":true},\"outputs\":["
                   "{\"name\":\"attention\"},{\"name\":\"outputs\",\"parameters\":{\"binary_data\":false}}]}",
                   numbers, sizeof numbers, SIZE_MAX);
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
    http_answer answer = send_bytes(INFER, "", numbers, sizeof numbers, 0);
    json_t *head = take_apart(&answer, &bytes, 8), *plain = ask(INFER, BODY);
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
    http_answer answer = send_bytes(INFER, json, vectors[_i].bytes, vectors[_i].size, SIZE_MAX);
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
    memcpy(bytes + size, numbers, sizeof numbers);
    snprintf(json, sizeof json,
             "{\"inputs\":[{\"name\":\"%s\",\"shape\":[1,2],\"datatype\":\"%s\",\"parameters\":{\"binary_"
             "data_size\":%zu}}," BINARY_INPUT "],\"outputs\":[{\"name\":\"attention\"}]}",
             name, flags[which].datatype, size);
    return send_bytes(MAPS, json, bytes, size + sizeof numbers, SIZE_MAX);
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
        json_t *document = ask(INFER, bodies[i]);
        json_check(document, "/outputs/0/data", OUTPUTS);
        json_decref(document);
    }
    json_t *masked =
        ask(MAPS, "{\"inputs\":[{\"data\":[[true,0]],\"name\":\"attention_mask\",\"shape\":[1,2],"
                  "\"datatype\":\"INT8\"}," INPUT "]}");
    json_check_exact(masked, "/outputs/1/data", "[1,0,1,0,1,0,1,0]");
    json_decref(masked);
}
END_TEST

START_TEST(masks_and_context_in_json) {
    json_t *masked =
        ask(MAPS, "{\"inputs\":[" INPUT
                  ",{\"name\":\"attention_mask\",\"shape\":[1,2],\"datatype\":\"INT64\",\"data\":[[1,0]]}]}");
    json_check_exact(masked, "/outputs/1/data", "[1,0,1,0,1,0,1,0]");
    json_decref(masked);
    masked = ask(MAPS, "{\"inputs\":[{\"name\":\"key_padding_mask\",\"shape\":[1,2],\"datatype\":\"BOOL\","
                       "\"data\":[false,true]}," INPUT "]}");
    json_check_exact(masked, "/outputs/1/data", "[1,0,1,0,1,0,1,0]");
    json_decref(masked);
    json_t *crossed = ask(MAPS, "{\"inputs\":[{\"name\":\"context\",\"shape\":[1,3,4],\"datatype\":\"FP32\","
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
        send_with(INFER, (const char *const[]){"Accept-Encoding: gzip", NULL}, BODY, strlen(BODY));
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
    json_decref(ask("/v2/models/demo/infer", body));
    http_answer refused = send_text("/v2/models/demo/infer", BODY);
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
    http_answer answer = send_text(refused[_i].path, refused[_i].body);
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
        http_answer answer = send_text(INFER, counts[i].body);
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
        {INFER, json, numbers, 31, SIZE_MAX, 400, "bad_body"},
        {INFER, json, numbers, 0, SIZE_MAX, 400, "bad_body"},
        {INFER, "{\"inputs\":[" INPUT "]}", numbers, 4, SIZE_MAX, 400, "bad_body"},
        {INFER, json, numbers, 32, sizeof json + 32, 400, "bad_body"},
        {INFER, json, numbers, 32, sizeof json - 2, 400, "bad_json"},
        {INFER, "{\"inputs\":[" INPUT_OF("[1,3,4]", "FP32", "\"parameters\":{\"binary_data_size\":32}") "]}",
         numbers, 32, SIZE_MAX, 400, "bad_body"},
        {INFER,
         "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"parameters\":{\"binary_data_size\":4294967328}") "]}",
         numbers, 32, SIZE_MAX, 400, "bad_body"},
        {INFER, "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32", "\"parameters\":{\"binary_data_size\":-1}") "]}",
         numbers, 32, SIZE_MAX, 422, "out_of_range"},
        {INFER,
         "{\"inputs\":[" INPUT_OF("[1,2,4]", "FP32",
                                  "\"parameters\":{\"binary_data_size\":32},\"data\":[1]") "]}",
         numbers, 32, SIZE_MAX, 422, "conflict"},
        {INFER, json, infinite, 32, SIZE_MAX, 422, "not_finite"},
        {INFER, "", numbers, 28, 0, 400, "bad_body"},
        {INFER, "", numbers, 0, 0, 400, "bad_body"},
        {"/v2/models/plain/infer", "", numbers, 32, 0, 422, "shape_mismatch"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        http_answer answer =
            send_bytes(ways[i].path, ways[i].json, ways[i].bytes, ways[i].size, ways[i].told);
        ck_assert_msg(answer.status == ways[i].status, "%zu: %s", i, answer.body);
        api_check_inference_problem(&answer, ways[i].status, ways[i].code);
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
        http_answer answer = send_with(INFER, headers[i], BODY, strlen(BODY));
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
    memcpy(body + sizeof json - 1, numbers, 32);
    for (size_t i = 0; i < 2 * size; i++) {
        if (i >= size) body[i - size] ^= 0x20;
        http_answer answer = send_with(INFER, (const char *const[]){header, NULL}, body, i < size ? i : size);
        ck_assert_msg(answer.status == 200 || answer.status == 400 || answer.status == 404 ||
                          answer.status == 422 || answer.status == 501,
                      "%zu: %ld %s", i, answer.status, answer.body);
        if (i < size) ck_assert_int_eq(answer.status, 400);
        if (i >= size) body[i - size] ^= 0x20;
        http_done(&answer);
    }
    json_decref(ask(INFER, BODY));
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
        http_answer answer = send_bytes(paths[i], json, bytes, SIZE, SIZE_MAX);
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
        send_with(INFER, (const char *const[]){"Origin: http://localhost:5173", NULL}, "x", 1);
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
    tcase_add_loop_test(tests, what_is_wrong_is_told, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, counts_are_told);
    tcase_add_test(tests, framing_of_bytes_is_checked);
    tcase_add_test(tests, the_header_is_one_number);
    tcase_add_test(tests, broken_bodies_are_answered);
    tcase_add_test(tests, the_client_s_time_is_kept);
    tcase_add_test(tests, web_pages_may_ask);
    return suite;
}
