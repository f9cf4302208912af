/* POST /v1/attention: options in the query, base64, packed batches, what is returned, plans. */
#include "api.h"

#include "server/codec/json_fields.h"

#include <string.h>

#define PAIR "{\"model\":\"plain\",\"inputs\":[[3,0],[0,0.5]],\"attention_mask\":[[1,0],[0,1]]"

/* Query, body, and a member of the answer. */
static const struct {
    const char *query, *body, *pointer, *want;
} answered[] = {
    {"?attention=false", PAIR "}", "/outputs", "[[3,0],[0,0.5]]"},
    {"?model=plain&queries=1,0", "{\"inputs\":[[1],[2]],\"causal\":true}", "/queries", "[1,0]"},
    {"?caus%61l=1&scale=1&scores=1", "{\"model\":\"plain\",\"inputs\":[[2],[3]]}", "/scores",
     "[[[4,null],[6,9]]]"},
    {"?layer=layers.1", "{\"model\":\"demo\",\"inputs\":{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"\"}}",
     NULL, NULL},
    {"?top_k=1", PAIR "}", "/attention", "{\"index\":[[[0],[1]]],\"weight\":[[[1],[1]]],\"rest\":[[0,0]]}"},
    {"?average_heads=true", PAIR "}", "/attention", "[[1,0],[0,1]]"},
    {"?lengths=1,1&tokens=a,b+c", "{\"model\":\"plain\",\"inputs\":[[3],[4]]}", "/outputs", "[[[3]],[[4]]]"},
    {"?lengths=1,1&tokens=a,b+c", "{\"model\":\"plain\",\"inputs\":[[3],[4]]}", "/tokens", "[\"a\",\"b c\"]"},
    {"?encoding=base64&dtype=f16", PAIR ",\"return\":{\"attention\":false}}", "/outputs",
     "{\"dtype\":\"f16\",\"shape\":[2,2],\"data\":\"AEIAAAAAADg=\"}"},
    {"", "{\"model\":\"plain\",\"inputs\":{\"dtype\":\"f16\",\"shape\":[1,2],\"data\":\"AEIAOA==\"}}",
     "/outputs", "[[3,0.5]]"},
    {"?plan=1", PAIR "}", "/plan/verdict", "\"fits\""},
    {"?", PAIR "}", "/layer", "0"},
};

START_TEST(answers) {
    char path[128];
    snprintf(path, sizeof path, "/v1/attention%s", answered[_i].query);
    bool good = answered[_i].pointer != NULL;
    json_t *answer = api_post(path, answered[_i].body, good ? 200 : 422);
    if (good) json_check_exact(answer, answered[_i].pointer, answered[_i].want);
    json_decref(answer);
}
END_TEST

static const struct {
    const char *query;
    long status;
    const char *code, *parameter;
} refused[] = {
    {"?bogus=1", 422, "unknown_field", "bogus"},   {"?layer=0&layer=0", 422, "bad_parameter", "layer"},
    {"?heads=0%", 422, "bad_parameter", "heads"},  {"?heads=%00", 422, "bad_parameter", "heads"},
    {"?heads=4", 422, "out_of_range", "heads"},    {"?model=other", 404, "model_not_found", "model"},
    {"?layer=9", 404, "layer_not_found", "layer"}, {"?stats=x", 422, "out_of_range", "stats"},
    {"?causal=false", 422, "conflict", "causal"},  {"?dtype=f16", 422, "conflict", "dtype"},
    {"?inputs=1", 422, "bad_parameter", "inputs"},
};

START_TEST(refusals) {
    char path[128];
    snprintf(path, sizeof path, "/v1/attention%s", refused[_i].query);
    http_answer answer = http_post(api_daemon.url, path, "{\"inputs\":[[1,0,0,0]],\"causal\":true}");
    api_check_problem(&answer, refused[_i].status, refused[_i].code);
    json_t *problem = http_json(&answer);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "parameter")), refused[_i].parameter);
    json_decref(problem);
    http_done(&answer);
}
END_TEST

/* Of every field of either table. */
static void check_null(const srv_field *table, const char *before, const char *after, const char *wanted) {
    char body[128];
    for (; table->name != NULL; table++) {
        if (strcmp(table->name, "inputs") == 0) continue;
        snprintf(body, sizeof body, "{\"inputs\":[[1,0,0,0],[0,1,0,0]],%s\"%s\":null%s}", before, table->name,
                 after);
        http_answer answer = http_post(api_daemon.url, "/v1/attention", body);
        ck_assert_msg(answer.status == 200 && strcmp(answer.body, wanted) == 0, "%s: %ld %s", body,
                      answer.status, answer.body);
        http_done(&answer);
        if (table->members) check_null(table->members, "\"return\":{", "}", wanted);
    }
}

START_TEST(null_means_absent) {
    http_answer without = http_post(api_daemon.url, "/v1/attention", "{\"inputs\":[[1,0,0,0],[0,1,0,0]]}");
    ck_assert_int_eq(without.status, 200);
    check_null(srv_fields, "", "", without.body);
    http_done(&without);
}
END_TEST

static void check_parameter_problem(const char *query, const char *code, const char *name) {
    char path[96];
    snprintf(path, sizeof path, "/v1/attention?%s", query);
    http_answer answer = http_post(api_daemon.url, path, "{\"inputs\":[[1,0,0,0],[0,1,0,0]]}");
    api_check_problem(&answer, 422, code);
    json_t *problem = http_json(&answer);
    const char *found = json_string_value(json_object_get(problem, "parameter"));
    ck_assert_msg(found && strcmp(found, name) == 0, "%s: %s", query, answer.body);
    json_decref(problem);
    http_done(&answer);
}

static void check_parameters(const srv_field *table) {
    static const char *const said[] = {"true", "false", "1", "0"};
    char query[96];
    for (; table->name != NULL; table++) {
        if (table->members) check_parameters(table->members);
        if (table->kind == SRV_FIELD_BODY) continue;
        /* One that there is, or its 404 would go first. */
        const char *value = strcmp(table->name, "model") == 0 ? "tiny" : "0";
        snprintf(query, sizeof query, "%s=%s&%s=%s", table->name, value, table->name, value);
        check_parameter_problem(query, "bad_parameter", table->name);
        bool is_reserved = !table->set && !table->take;
        if (table->kind != SRV_FIELD_BOOLEAN || is_reserved) continue;
        snprintf(query, sizeof query, "%s=TRUE", table->name);
        check_parameter_problem(query, "wrong_type", table->name);
        for (size_t i = 0; i < 4; i++) {
            snprintf(query, sizeof query, "/v1/attention?%s=%s", table->name, said[i]);
            http_answer answer = http_post(api_daemon.url, query, "{\"inputs\":[[1,0,0,0],[0,1,0,0]]}");
            ck_assert_msg(answer.status == 200, "%s: %ld %s", query, answer.status, answer.body);
            http_done(&answer);
        }
    }
}

START_TEST(parameters_keep_their_grammar) {
    check_parameters(srv_fields);
}
END_TEST

/* Beyond ±65504 float16 has no number. */
START_TEST(what_f16_cannot_hold_is_told) {
    static const char body[] =
        "{\"model\":\"plain\",\"inputs\":[[%s]],\"return\":{\"encoding\":\"base64\",\"dtype\":\"f16\"}}";
    static const char *const numbers[] = {"65504", "65536"};
    for (size_t i = 0; i < 2; i++) {
        char text[160];
        const char *place = strstr(body, "%s");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(place - body), body, numbers[i], place + 2);
        http_answer answer = http_post(api_daemon.url, "/v1/attention", text);
        if (i == 0)
            ck_assert_msg(answer.status == 200, "%ld %s", answer.status, answer.body);
        else
            api_check_problem(&answer, 422, "not_representable");
        http_done(&answer);
    }
}
END_TEST

ATTND_SUITE(options) {
    Suite *suite = suite_create("options");
    TCase *tests = api_case(suite, "options");
    tcase_add_loop_test(tests, answers, 0, sizeof answered / sizeof *answered);
    tcase_add_loop_test(tests, refusals, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, null_means_absent);
    tcase_add_test(tests, parameters_keep_their_grammar);
    tcase_add_test(tests, what_f16_cannot_hold_is_told);
    return suite;
}
