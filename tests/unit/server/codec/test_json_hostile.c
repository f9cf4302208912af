/* Broken bodies: every prefix of good ones, every change of one byte, and texts made to hurt. Each must give
 * an ask or a problem that a client can be told; the sanitizers see to the rest. */
#include "sample_layers.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const bodies[] = {
    "{\"model\":\"tiny\",\"layer\":0,\"inputs\":[[1,0,-0.5,1e2],[0,1,0,0]],\"causal\":true,\"window\":2,"
    "\"scale\":0.5,"
    "\"key_padding_mask\":[true,false],\"return\":{\"attention\":true,\"heads\":[0,1],\"precision\":3},"
    "\"tokens\":[\"The\",\"\\u00fc\xc3\xbc\"]}",
    "{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[0,1,0,0]]],\"context\":[[[1,2,3]],[[1,2,3]]],\"values\":[[[1,2]],[["
    "3,4]]],"
    "\"attention_mask\":[[[[1]],[[0]]],[[[1],[1]]]],\"bias\":[[[0.5]],[[1],[2]]],\"causal\":\"top_left\"}",
    "{\"inputs\":{\"dtype\":\"f16\",\"shape\":[2,1,4],\"data\":\"ADwAAAC4AEAAPAAAALgAQA==\"},"
    "\"key_padding_mask\":[{\"dtype\":\"bool\",\"shape\":[1],\"data\":\"AA==\"},{\"dtype\":\"u8\",\"shape\":["
    "1],"
    "\"data\":\"AQ==\"}],\"bias\":{\"dtype\":\"f32\",\"shape\":[1,2,1,1],\"data\":\"AACA/"
    "wAAgD8=\"},\"plan\":true}",
    "{\"inputs\":[[1,0,0,0],[0,1,0,0],[0,0,1,0]],\"lengths\":[1,2],\"key_padding_mask\":[true,false,false],"
    "\"timeout_ms\":9,\"return\":{\"average_heads\":true,\"top_k\":2,\"encoding\":\"base64\",\"dtype\":"
    "\"f16\"}}",
};
static const char *const layers[] = {"tiny", "cross", "tiny", "tiny"};

/* The verdict on a body; true: accepted. The bytes are copied so that reading behind them is seen. */
static bool judge_with(const char *bytes, size_t size, const char *query, const char *layer) {
    char *body = malloc(size == 0 ? 1 : size);
    ck_assert_ptr_nonnull(body);
    memcpy(body, bytes, size);
    srv_problem problem = {0};
    attn_plan plan;
    srv_ask *ask = sample_request_with(body, size, query, layer, &plan, &problem);
    free(body);
    if (ask != NULL) {
        srv_ask_free(ask);
        return true;
    }
    int status = srv_problem_status(&problem);
    ck_assert(status == 400 || status == 404 || status == 422);
    ck_assert_str_ne(problem.detail, "");
    size_t document_size = 0;
    char *document = srv_problem_document(&problem, "id", false, &document_size);
    json_t *read = json_loadb(document, document_size, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(read != NULL, "not JSON: %s", document);
    json_decref(read);
    free(document);
    return false;
}

static bool judge(const char *bytes, size_t size, const char *layer) {
    return judge_with(bytes, size, "", layer);
}

START_TEST(prefixes) {
    size_t size = strlen(bodies[_i]);
    for (size_t length = 0; length < size; length++)
        ck_assert(!judge(bodies[_i], length, layers[_i]));
    ck_assert(judge(bodies[_i], size, layers[_i]));
}
END_TEST

START_TEST(changed_bytes) {
    size_t size = strlen(bodies[_i]);
    char changed[1024];
    ck_assert_uint_lt(size, sizeof changed);
    for (size_t at = 0; at < size; at++) {
        memcpy(changed, bodies[_i], size);
        for (int byte = 0; byte < 256; byte++) {
            changed[at] = (char)byte;
            judge(changed, size, layers[_i]);
        }
    }
}
END_TEST

START_TEST(removed_and_doubled_bytes) {
    size_t size = strlen(bodies[_i]);
    char changed[1024];
    for (size_t at = 0; at < size; at++) {
        memcpy(changed, bodies[_i], at);
        memcpy(changed + at, bodies[_i] + at + 1, size - at - 1);
        judge(changed, size - 1, layers[_i]);
        memcpy(changed, bodies[_i], at + 1);
        memcpy(changed + at + 1, bodies[_i] + at, size - at);
        judge(changed, size + 1, layers[_i]);
    }
}
END_TEST

START_TEST(changed_queries) {
    static const char body[] = "{\"inputs\":[[1,2,3,4],[1,2,3,4]]}";
    static const char query[] = "layer=0&model=%6d&causal=top_left&window=2&scale=0.5&heads=0,1&queries=1&"
                                "outputs=0&scores=true&top_k=1&encoding=base64&dtype=f16&tokens=a,b&plan=1";
    char changed[sizeof query];
    ck_assert(judge_with(body, sizeof body - 1, query, "tiny"));
    for (size_t at = 0; at + 1 < sizeof query; at++) {
        memcpy(changed, query, sizeof query);
        for (int byte = 0; byte < 256; byte++) {
            changed[at] = (char)byte;
            judge_with(body, sizeof body - 1, changed, "tiny");
        }
    }
}
END_TEST

/* {"inputs": then `count` times a text. */
static bool judge_repeated(const char *piece, size_t count) {
    static const char head[] = "{\"inputs\":";
    size_t length = strlen(piece), size = sizeof head - 1 + count * length;
    char *body = malloc(size);
    ck_assert_ptr_nonnull(body);
    memcpy(body, head, sizeof head - 1);
    for (size_t i = 0; i < count; i++)
        memcpy(body + sizeof head - 1 + i * length, piece, length);
    bool accepted = judge(body, size, "tiny");
    free(body);
    return accepted;
}

START_TEST(hurtful_texts) {
    ck_assert(!judge_repeated("[", 1000000));
    ck_assert(!judge_repeated("{\"a\":", 200000));
    ck_assert(!judge_repeated("9", 100000));
    ck_assert(!judge_repeated("\"", 3));
    static const char nul[] = "{\"inputs\0\":[[1,2,3,4]]}";
    ck_assert(!judge(nul, sizeof nul - 1, "tiny"));
    static const char bytes[] = "{\"inputs\":[[1,2,3,4]],\"\xff\xfe\":1}";
    ck_assert(!judge(bytes, sizeof bytes - 1, "tiny"));
    static const char mark[] = "\xef\xbb\xbf{\"inputs\":[[1,2,3,4]]}";
    ck_assert(!judge(mark, sizeof mark - 1, "tiny"));
    static const char wide[] = "{\0\"\0i\0n\0p\0u\0t\0s\0\"\0";
    ck_assert(!judge(wide, sizeof wide - 1, "tiny"));
}
END_TEST

/* A deep list is a 400 that says what depth there is; one within Jansson's bound is a shape. */
START_TEST(deep_lists) {
    char body[9000] = "{\"inputs\":";
    memset(body + 10, '[', 4000);
    srv_problem problem = {0};
    attn_plan plan;
    ck_assert_ptr_null(sample_request(body, 4010, "tiny", &plan, &problem));
    ck_assert_int_eq(problem.id, SRV_BAD_JSON);
    ck_assert_ptr_nonnull(strstr(problem.detail, "nesting"));
    memset(body + 10, '[', 100);
    body[110] = '1';
    memset(body + 111, ']', 100);
    body[211] = '}';
    srv_problem_clear(&problem);
    ck_assert_ptr_null(sample_request(body, 212, "tiny", &plan, &problem));
    ck_assert_int_eq(problem.id, SRV_SHAPE_MISMATCH);
    ck_assert_str_eq(problem.where, "/inputs");
}
END_TEST

ATTND_SUITE(json_hostile) {
    Suite *suite = suite_create("json_hostile");
    TCase *tests = tcase_create("json_hostile");
    tcase_add_loop_test(tests, prefixes, 0, sizeof bodies / sizeof *bodies);
    tcase_add_loop_test(tests, changed_bytes, 0, sizeof bodies / sizeof *bodies);
    tcase_add_loop_test(tests, removed_and_doubled_bytes, 0, sizeof bodies / sizeof *bodies);
    tcase_add_test(tests, changed_queries);
    tcase_add_test(tests, hurtful_texts);
    tcase_add_test(tests, deep_lists);
    suite_add_tcase(suite, tests);
    return suite;
}
