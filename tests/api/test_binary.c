/* POST /v1/attention with NPY and safetensors: the answers are those to the same requests in JSON, and refusals say
 * where. */
#include "api.h"
#include "tests/support/golden_body.h"

#include <stdlib.h>
#include <string.h>

static http_answer post(const char *query, const char *type, const char *body, size_t size) {
    char path[256], header[128];
    snprintf(path, sizeof path, "/v1/attention%s", query);
    snprintf(header, sizeof header, "Content-Type: %s", type);
    return http_send("POST", api_daemon.url, path, (const char *const[]){header, NULL}, body, size);
}

static http_answer post_golden(const char *query, const char *name) {
    golden_body body = golden_body_read(name);
    http_answer answer = post(query, body.type, body.bytes, body.size);
    free(body.bytes);
    return answer;
}

#define FIRST "[[-1,-0.125,0.75,1.625],[-0.5,0.375,1.25,-0.875],[0,0.875,1.75,-0.375]]"
#define SECOND "[[0.5,1.375,-0.75,0.125],[1,1.875,-0.25,0.625],[1.5,-0.625,0.25,1.125]]"
#define BATCH "{\"inputs\":[" FIRST "," SECOND "]"

/* A body, its query, and the same request in JSON. */
static const struct {
    const char *name, *query, *json;
} twins[] = {
    {"single.npy", "", "{\"inputs\":" FIRST "}"},
    {"single_fortran.npy", "?causal=true&tokens=a,b,c",
     "{\"inputs\":" FIRST ",\"causal\":true,\"tokens\":[\"a\",\"b\",\"c\"]}"},
    {"fortran_big_f8.npy", "?heads=1&outputs=false", BATCH ",\"return\":{\"heads\":[1],\"outputs\":false}}"},
    {"f2.npy", "?top_k=1", BATCH ",\"return\":{\"top_k\":1}}"},
    {"bf16.safetensors", "?model=plain", BATCH ",\"model\":\"plain\"}"},
    {"unaligned.safetensors", "", BATCH "}"},
    {"options.safetensors", "",
     BATCH
     ",\"causal\":true,\"tokens\":[[\"a\",\"b\",\"c\"],[\"d\",\"e\",\"f\"]],\"return\":{\"heads\":[1,0],"
     "\"precision\":3}}"},
    {"mask_i64.safetensors", "?scores=true",
     BATCH ",\"attention_mask\":[[1,1,0],[1,0,0]],\"return\":{\"scores\":true}}"},
    {"packed.safetensors", "?layer=layers.0",
     "{\"inputs\":[[-1,-0.125,0.75,1.625],[-0.5,0.375,1.25,-0.875],[0,0.875,1.75,-0.375],[0.5,1.375,-0.75,0."
     "125]"
     ",[1,1.875,-0.25,0.625]],\"lengths\":[3,2]}"},
};

START_TEST(answers_are_those_to_json) {
    http_answer right = http_post(api_daemon.url, "/v1/attention", twins[_i].json);
    http_answer mine = post_golden(twins[_i].query, twins[_i].name);
    ck_assert_msg(right.status == 200, "%s: %s", twins[_i].json, right.body);
    ck_assert_msg(mine.status == 200, "%s: %s", twins[_i].name, mine.body);
    ck_assert_str_eq(mine.body, right.body);
    http_done(&right);
    http_done(&mine);
}
END_TEST

/* A header of 96 bytes, and data. */
static size_t small_npy(char out[160], const char *descr, const char *shape, const char *data, size_t size) {
    memcpy(out, "\x93NUMPY\x01\0\x60\0", 10);
    int used = snprintf(out + 10, 97, "{'descr': '%s', 'fortran_order': False, 'shape': %s}", descr, shape);
    memset(out + 10 + used, ' ', 96 - (size_t)used);
    memcpy(out + 106, data, size);
    return 106 + size;
}

static const struct {
    const char *descr, *shape, *query, *data;
    size_t size;
    long status;
    const char *code, *member, *where;
} npy_refused[] = {
    {"<f4", "(1, 4)", "", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15, 400, "bad_body", "offset", "121"},
    {"<f4", "(2147483648, 4)", "", "\0\0\0", 4, 400, "bad_body", "offset", "110"},
    {"<f4", "(1, 4)", "?model=none", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 404, "model_not_found",
     "parameter", "model"},
    {"<i4", "(1, 4)", "?model=none", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 404, "model_not_found",
     "parameter", "model"},
    {"<i4", "(1, 4)", "", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 422, "wrong_type", "pointer",
     "/inputs/dtype"},
    {"<U1", "(4611686018427387904, 3)", "", "", 0, 422, "wrong_type", "pointer", "/inputs/dtype"},
    {"<U1", "(1, 4)", "", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 422, "wrong_type", "pointer",
     "/inputs/dtype"},
    {"<f4", "(4,)", "", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 422, "shape_mismatch", "pointer",
     "/inputs/shape"},
    {"<f4", "(2, 2)", "", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 422, "shape_mismatch", "pointer",
     "/inputs/shape"},
    {"<f4", "(0, 4)", "", "", 0, 422, "out_of_range", "pointer", "/inputs/shape/0"},
    {"<f4", "(1, 4)", "", "\0\0\xc0\x7f\0\0\0\0\0\0\0\0\0\0\0", 16, 422, "not_finite", "pointer",
     "/inputs/data"},
    {"<f4", "(1, 4)", "", "\0\0\0\0\0\0\x80\xff\0\0\0\0\0\0\0", 16, 422, "not_finite", "pointer",
     "/inputs/data"},
    {"<f4", "(1, 4)", "?inputs=1", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 422, "bad_parameter", "parameter",
     "inputs"},
};

static void check_where(const http_answer *answer, const char *member, const char *where) {
    json_t *problem = http_json(answer), *found = json_object_get(problem, member);
    char number[24];
    snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(found));
    const char *text = json_is_string(found) ? json_string_value(found) : number;
    ck_assert_msg(found != NULL && strcmp(text, where) == 0, "%s %s: %s", member, where, answer->body);
    json_decref(problem);
}

START_TEST(npy_is_refused_where_it_is_wrong) {
    char body[160];
    size_t size = small_npy(body, npy_refused[_i].descr, npy_refused[_i].shape, npy_refused[_i].data,
                            npy_refused[_i].size);
    http_answer answer = post(npy_refused[_i].query, "application/x-npy", body, size);
    api_check_problem(&answer, npy_refused[_i].status, npy_refused[_i].code);
    check_where(&answer, npy_refused[_i].member, npy_refused[_i].where);
    http_done(&answer);
}
END_TEST

/* A header, and how many zero bytes follow it. */
#define T(dtype, shape, offsets) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define INPUTS "\"inputs\":" T("F32", "[1,4]", "[0,16]")

static const struct {
    const char *header;
    size_t data;
    const char *query;
    long status;
    const char *code, *member, *where;
} safetensors_refused[] = {
    {"{" INPUTS "}", 15, "", 400, "bad_body", "offset", "10"},
    {"{" INPUTS "}", 17, "", 400, "bad_body", "offset", "70"},
    {"{" INPUTS, 16, "", 400, "bad_body", "offset", "69"},
    {"{" INPUTS "," INPUTS "}", 16, "", 400, "bad_body", "offset", "78"},
    {"{" INPUTS ",\"bias\":" T("F32", "[1,1]", "[12,16]") "}", 16, "", 400, "bad_body", "offset", "71"},
    {"{" INPUTS ",\"bias\":" T("F32", "[1,1]", "[20,24]") "}", 24, "", 400, "bad_body", "offset", "71"},
    {"{\"inputs\":" T("F32", "[4294967296,4294967296]", "[0,0]") "}", 0, "", 400, "bad_body", "offset", "10"},
    {"{\"inputs\":" T("F32", "[2147483648,4]", "[0,16]") "}", 16, "", 400, "bad_body", "offset", "10"},
    {"{\"inputs\":" T("X", "[1,4]", "[0,16]") "}", 16, "", 400, "bad_body", "offset", "10"},
    {"{\"__metadata__\":{\"causal\":true}," INPUTS "}", 16, "", 400, "bad_body", "offset", "10"},
    {"{\"__metadata__\":{\"model\":\"none\"},\"x\":" T("F32", "[4]", "[0,16]") "}", 16, "", 404,
     "model_not_found", "pointer", "/__metadata__/model"},
    {"{\"x\":" T("F32", "[1,4]", "[0,16]") "}", 16, "", 422, "unknown_field", "pointer", "/x"},
    {"{\"__metadata__\":{}}", 0, "", 422, "missing_field", "pointer", "/inputs"},
    {"{\"__metadata__\":{\"casual\":\"1\"}," INPUTS "}", 16, "", 422, "unknown_field", "pointer",
     "/__metadata__/casual"},
    {"{\"__metadata__\":{\"top_k\":\"two\"}," INPUTS "}", 16, "", 422, "wrong_type", "pointer",
     "/__metadata__/top_k"},
    {"{\"__metadata__\":{\"queries\":\"1\"}," INPUTS "}", 16, "", 422, "out_of_range", "pointer",
     "/__metadata__/queries"},
    {"{\"__metadata__\":{\"causal\":\"1\"}," INPUTS "}", 16, "?causal=1", 422, "conflict", "parameter",
     "causal"},
    {"{\"__metadata__\":{\"bias\":\"1\"}," INPUTS "}", 16, "", 422, "wrong_type", "pointer",
     "/__metadata__/bias"},
    {"{" INPUTS ",\"scale\":" T("F32", "[]", "[16,20]") "}", 20, "", 422, "wrong_type", "pointer", "/scale"},
    {"{" INPUTS ",\"attention_mask\":" T("F32", "[1]", "[16,20]") "}", 20, "", 422, "wrong_type", "pointer",
     "/attention_mask/dtype"},
    {"{" INPUTS ",\"bias\":" T("I32", "[1,1]", "[16,20]") "}", 20, "", 422, "wrong_type", "pointer",
     "/bias/dtype"},
    {"{" INPUTS ",\"lengths\":" T("I32", "[1]", "[16,20]") "}", 20, "", 422, "out_of_range", "pointer",
     "/lengths/0"},
    {"{\"inputs.1\":" T("F32", "[1,4]", "[0,16]") "}", 16, "", 422, "shape_mismatch", "pointer", "/inputs"},
    {"{" INPUTS ",\"inputs.0\":" T("F32", "[1,4]", "[16,32]") "}", 32, "", 422, "conflict", "pointer",
     "/inputs"},
    {"{\"inputs.00\":" T("F32", "[1,4]", "[0,16]") "}", 16, "", 422, "unknown_field", "pointer",
     "/inputs.00"},
};

START_TEST(safetensors_are_refused_where_they_are_wrong) {
    char body[512] = {0};
    size_t header = strlen(safetensors_refused[_i].header);
    ck_assert_uint_lt(8 + header + safetensors_refused[_i].data, sizeof body);
    body[0] = (char)(header & 0xff);
    body[1] = (char)(header >> 8);
    memcpy(body + 8, safetensors_refused[_i].header, header);
    http_answer answer = post(safetensors_refused[_i].query, "application/x-safetensors", body,
                              8 + header + safetensors_refused[_i].data);
    api_check_problem(&answer, safetensors_refused[_i].status, safetensors_refused[_i].code);
    check_where(&answer, safetensors_refused[_i].member, safetensors_refused[_i].where);
    http_done(&answer);
}
END_TEST

ATTND_SUITE(binary) {
    Suite *suite = suite_create("binary");
    TCase *tests = api_case(suite, "binary");
    tcase_add_loop_test(tests, answers_are_those_to_json, 0, (int)(sizeof twins / sizeof *twins));
    tcase_add_loop_test(tests, npy_is_refused_where_it_is_wrong, 0,
                        (int)(sizeof npy_refused / sizeof *npy_refused));
    tcase_add_loop_test(tests, safetensors_are_refused_where_they_are_wrong, 0,
                        (int)(sizeof safetensors_refused / sizeof *safetensors_refused));
    return suite;
}
