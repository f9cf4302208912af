/* Problems: the table, the first one wins, client text made safe, and the document. */
#include "server/problem.h"

#include "suites.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

START_TEST(first_one_wins) {
    srv_problem problem = {0};
    ck_assert(!srv_problem_set(&problem, SRV_SHAPE_MISMATCH, SRV_WHERE_POINTER, "/inputs/1",
                               "row has %d numbers", 3));
    srv_problem_set(&problem, SRV_CONFLICT, SRV_WHERE_NONE, NULL, "later");
    ck_assert_int_eq(srv_problem_status(&problem), 422);
    ck_assert_str_eq(srv_problem_code(&problem), "shape_mismatch");
    ck_assert_str_eq(problem.detail, "row has 3 numbers");
    ck_assert_str_eq(problem.where, "/inputs/1");
    ck_assert_uint_eq(problem.retry_after, 0);
    srv_problem_clear(&problem);
    srv_problem_set(&problem, SRV_QUEUE_FULL, SRV_WHERE_NONE, NULL, "full");
    ck_assert_int_eq(srv_problem_status(&problem), 503);
    ck_assert_uint_gt(problem.retry_after, 0);
}
END_TEST

static const struct {
    const char *text, *clean;
} dirty[] = {
    {"plain", "plain"},
    {"a\nb\tc\x7f", "a?b?c?"},
    {"\xc2\x85", "?"},
    {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
    {"\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82",
     "\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xf0\x9f\x98\x80\xf4\x90\x80\x80", "\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
};

START_TEST(texts_are_cleaned) {
    srv_problem problem = {0};
    srv_problem_set(&problem, SRV_WRONG_TYPE, SRV_WHERE_POINTER, dirty[_i].text, "%s", dirty[_i].text);
    ck_assert_str_eq(problem.detail, dirty[_i].clean);
    ck_assert_str_eq(problem.where, dirty[_i].clean);
}
END_TEST

/* Whatever the alignment of the cut, no half character is left. */
START_TEST(long_texts_are_cut_between_characters) {
    char text[3000];
    for (size_t shift = 0; shift < 4; shift++) {
        size_t used = shift;
        memset(text, 'x', shift);
        while (used + 5 < sizeof text) {
            memcpy(text + used, "\xf0\x9f\x98\x80", 4);
            used += 4;
        }
        text[used] = '\0';
        srv_problem problem = {0};
        srv_problem_set(&problem, SRV_WRONG_TYPE, SRV_WHERE_HEADER, text, "%s", text);
        size_t length = strlen(problem.detail);
        ck_assert_uint_lt(length, sizeof problem.detail);
        ck_assert_uint_ge(length, sizeof problem.detail - 5);
        ck_assert_int_eq(memcmp(problem.detail, text, length), 0);
        ck_assert_uint_eq((length - shift) % 4, 0);
        ck_assert_uint_lt(strlen(problem.where), sizeof problem.where);
    }
}
END_TEST

static void expect_document(const srv_problem *problem, const char *id, const char *want) {
    size_t size = 0;
    char *document = srv_problem_document(problem, id, false, &size);
    ck_assert_ptr_nonnull(document);
    ck_assert_str_eq(document, want);
    ck_assert_uint_eq(size, strlen(want));
    json_t *read = json_loads(document, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(read);
    json_decref(read);
    free(document);
}

START_TEST(document) {
    srv_problem problem = {0};
    srv_problem_set(&problem, SRV_SHAPE_MISMATCH, SRV_WHERE_POINTER, "/inputs/1",
                    "row has 3 numbers; layer 0 of model 'tiny' takes 4");
    expect_document(
        &problem, "r-1",
        "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\",\"status\":422,"
        "\"code\":\"shape_mismatch\",\"detail\":\"row has 3 numbers; layer 0 of model 'tiny' takes 4\","
        "\"pointer\":\"/inputs/1\",\"request_id\":\"r-1\"}\n");
    srv_problem_clear(&problem);
    srv_problem_set(&problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, "17", "a \"quote\" and \\");
    expect_document(
        &problem, NULL,
        "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,\"code\":\"bad_json\","
        "\"detail\":\"a \\\"quote\\\" and \\\\\",\"offset\":17}\n");
    srv_problem_clear(&problem);
    srv_problem_set(&problem, SRV_BODY_TOO_LARGE, SRV_WHERE_HEADER, "Content-Length", "big");
    expect_document(&problem, NULL,
                    "{\"type\":\"about:blank\",\"title\":\"Content Too Large\",\"status\":413,\"code\":"
                    "\"body_too_large\",\"detail\":\"big\",\"header\":\"Content-Length\"}\n");
}
END_TEST

START_TEST(from_engine) {
    attn_error error = {ATTN_AMBIGUOUS_CAUSAL, "/causal", "2 queries and 5 keys"};
    srv_problem problem = {0};
    ck_assert(!srv_problem_from_engine(&problem, &error));
    ck_assert_int_eq(problem.id, SRV_AMBIGUOUS_CAUSAL);
    ck_assert_int_eq(problem.where_kind, SRV_WHERE_POINTER);
    ck_assert_str_eq(problem.where, "/causal");
    ck_assert_str_eq(problem.detail, "2 queries and 5 keys");
    /* A file's name is nothing to tell a client. */
    error = (attn_error){ATTN_IO, "/srv/weights.safetensors", "cannot be read"};
    srv_problem_clear(&problem);
    srv_problem_from_engine(&problem, &error);
    ck_assert_int_eq(srv_problem_status(&problem), 500);
    ck_assert_int_eq(problem.where_kind, SRV_WHERE_NONE);
    error = (attn_error){ATTN_NO_MEMORY, "", "no memory"};
    srv_problem_clear(&problem);
    srv_problem_from_engine(&problem, &error);
    ck_assert_int_eq(srv_problem_status(&problem), 503);
}
END_TEST

ATTND_SUITE(problem) {
    Suite *suite = suite_create("problem");
    TCase *tests = tcase_create("problem");
    tcase_add_test(tests, first_one_wins);
    tcase_add_loop_test(tests, texts_are_cleaned, 0, sizeof dirty / sizeof *dirty);
    tcase_add_test(tests, long_texts_are_cut_between_characters);
    tcase_add_test(tests, document);
    tcase_add_test(tests, from_engine);
    suite_add_tcase(suite, tests);
    return suite;
}
