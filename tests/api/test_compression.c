/* Compressed answers: who gets one, and that it is the same answer. */
#include "api.h"
#include "tests/support/packed.h"

#include <stdlib.h>
#include <string.h>

static http_answer ask(const char *query, const char *accept, const char *encodings, const char *body) {
    char path[256], lines[2][128];
    const char *headers[] = {lines[0], encodings ? lines[1] : NULL, NULL};
    snprintf(path, sizeof path, "/v1/attention%s", query);
    snprintf(lines[0], sizeof lines[0], "Accept: %s", accept);
    if (encodings) snprintf(lines[1], sizeof lines[1], "Accept-Encoding: %s", encodings);
    return http_send("POST", api_daemon.url, path, headers, body, strlen(body));
}

static const struct {
    const char *encodings, *coding; /* NULL: none */
} wishes[] = {
    {NULL, NULL},
    {"gzip", "gzip"},
    {"deflate", "deflate"},
    {"GZIP", "gzip"},
    {"gzip, deflate, br, zstd", "gzip"},
    {"deflate, gzip;q=0.5", "deflate"},
    {"br;q=1.0, *;q=0.5", "gzip"},
    {"*;q=0, deflate;q=0.1", "deflate"},
    {"gzip;q=0", NULL},
    {"br", NULL},
    {"identity", NULL},
    {"identity, gzip;q=0.9", NULL},
    {"identity, gzip", "gzip"},
    {"identity;q=0, br", NULL}, /* what is not compressed goes to everybody */
};

#define BODY "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"tokens\":[\"a\",\"b\"]}"

static void check_coding(const http_answer *answer, const char *coding) {
    if (coding) {
        api_check_header(answer, "Content-Encoding", coding);
    } else {
        ck_assert_msg(strcasestr(answer->headers, "Content-Encoding") == NULL, "%s", answer->headers);
    }
    api_check_vary(answer);
}

/* The answer as it would be without compression. */
static void check_same(const http_answer *answer, const char *coding, const http_answer *plain) {
    size_t size = answer->size;
    char *text = coding ? unpacked(coding, answer->body, answer->size, &size) : NULL;
    ck_assert_uint_eq(size, plain->size);
    ck_assert_int_eq(memcmp(text ? text : answer->body, plain->body, size), 0);
    free(text);
}

START_TEST(clients_get_what_they_want) {
    http_answer plain = ask("", "*/*", NULL, BODY);
    http_answer answer = ask("", "*/*", wishes[_i].encodings, BODY);
    ck_assert_int_eq(answer.status, 200);
    check_coding(&answer, wishes[_i].coding);
    check_same(&answer, wishes[_i].coding, &plain);
    http_done(&answer);
    http_done(&plain);
}
END_TEST

/* L vectors of width 1, which make maps of L² numbers. */
static char *body_of(int length) {
    char *body = malloc(64 + 8 * (size_t)length), *at = body;
    at += sprintf(at, "{\"model\":\"plain\",\"inputs\":[");
    for (int i = 0; i < length; i++)
        at += sprintf(at, "%s[%d]", i ? "," : "", i * 7 % 5);
    sprintf(at, "]}");
    return body;
}

static const struct {
    int length;
    const char *query, *accept;
    bool is_packed;
} sizes[] = {
    {200, "", "application/json", true},
    {200, "", "application/x-safetensors", true},
    {200, "?tensor=attention", "application/x-npy", true},
    {200, "?compress=0", "application/json", true},
    {500, "", "application/x-safetensors", true}, /* 1,000,000 bytes of maps */
    {520, "", "application/x-safetensors", false},
    {520, "?compress=true", "application/x-safetensors", true},
    {270, "", "application/json", true},
    {330, "", "application/json", false}, /* which shows when it is written */
    {700, "", "application/json", false},
    {700, "?compress=1", "application/json", true},
    {1200, "?compress=1", "application/json", true}, /* more than is written ahead */
    {1200, "?compress=1&dtype=f16", "application/x-safetensors", true},
    {1200, "?compress=1&tensor=attention", "application/x-npy", true},
};

START_TEST(large_answers_are_compressed_where_that_is_asked_for) {
    char *body = body_of(sizes[_i].length);
    http_answer plain = ask(sizes[_i].query, sizes[_i].accept, NULL, body);
    http_answer answer = ask(sizes[_i].query, sizes[_i].accept, "gzip", body);
    ck_assert_msg(answer.status == 200, "%s", answer.body);
    const char *coding = sizes[_i].is_packed ? "gzip" : NULL;
    bool is_asked = strstr(sizes[_i].query, "compress=1") || strstr(sizes[_i].query, "compress=true");
    ck_assert_msg(is_asked || (plain.size <= 1 << 20) == sizes[_i].is_packed, "%zu bytes", plain.size);
    check_coding(&answer, coding);
    check_same(&answer, coding, &plain);
    http_done(&answer);
    http_done(&plain);
    free(body);
}
END_TEST

START_TEST(refusals_are_not_compressed) {
    static const char *const queries[] = {"?compress=x", "?compress=", "?compress=1,1",
                                          "?compress=1&compress=1"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        http_answer answer = ask(queries[i], "*/*", "gzip", BODY);
        api_check_problem(&answer, 422, i < 3 ? "wrong_type" : "bad_parameter");
        check_coding(&answer, NULL);
        http_done(&answer);
    }
    http_answer half = ask("?dtype=f16&compress=1", "application/x-npy", "gzip",
                           "{\"model\":\"plain\",\"inputs\":[[70000]]}");
    api_check_problem(&half, 422, "not_representable");
    check_coding(&half, NULL);
    http_done(&half);
}
END_TEST

ATTND_SUITE(compression) {
    Suite *suite = suite_create("compression");
    TCase *tests = api_case(suite, "compression");
    tcase_add_loop_test(tests, clients_get_what_they_want, 0, (int)(sizeof wishes / sizeof *wishes));
    tcase_add_loop_test(tests, large_answers_are_compressed_where_that_is_asked_for, 0,
                        (int)(sizeof sizes / sizeof *sizes));
    tcase_add_test(tests, refusals_are_not_compressed);
    return suite;
}
