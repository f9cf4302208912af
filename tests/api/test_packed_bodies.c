/* Bodies in gzip and deflate: the answers are those to the plain body, whatever its format; what is no such stream is a
 * 400 with the offset, what unpacks to too much a 413. The daemon takes 64 KiB. */
#include "api.h"
#include "tests/support/golden_body.h"
#include "tests/support/packed.h"

#include <stdlib.h>
#include <string.h>

static http_answer post(const char *coding, const char *type, const char *body, size_t size) {
    char lines[2][128];
    snprintf(lines[0], sizeof lines[0], "Content-Encoding: %s", coding);
    snprintf(lines[1], sizeof lines[1], "Content-Type: %s", type);
    return http_send("POST", api_daemon.url, "/v1/attention", (const char *const[]){lines[0], lines[1], NULL},
                     body, size);
}

static http_answer post_packed(const char *coding, const char *type, const char *body, size_t size) {
    size_t packed_size;
    char *bytes = packed(coding, body, size, &packed_size);
    http_answer answer = post(coding, type, bytes, packed_size);
    free(bytes);
    return answer;
}

#define X "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"causal\":true}"

static void check_same(http_answer *mine, http_answer *plain) {
    ck_assert_msg(mine->status == 200, "%ld %s", mine->status, mine->body);
    ck_assert_str_eq(mine->body, plain->body);
    http_done(mine);
    http_done(plain);
}

START_TEST(packed_bodies_are_the_plain_ones) {
    static const char *const codings[] = {"gzip", "deflate"};
    static const char *const names[] = {"f4.npy", "big_f4.npy", "options.safetensors", "ragged.safetensors"};
    const char *coding = codings[_i];
    http_answer plain = http_post(api_daemon.url, "/v1/attention", X);
    http_answer mine = post_packed(coding, "application/json", X, strlen(X));
    check_same(&mine, &plain);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        golden_body body = golden_body_read(names[i]);
        plain = post("identity", body.type, body.bytes, body.size);
        mine = post_packed(coding, body.type, body.bytes, body.size);
        check_same(&mine, &plain);
        free(body.bytes);
    }
}
END_TEST

START_TEST(codings_have_their_names) {
    static const char *const names[] = {"GZip", "x-gzip", " gzip "};
    size_t size;
    char *bytes = packed("gzip", X, strlen(X), &size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        http_answer answer = post(names[i], "application/json", bytes, size);
        ck_assert_msg(answer.status == 200, "%s: %s", names[i], answer.body);
        http_done(&answer);
    }
    static const char *const others[] = {"br", "gzip, deflate", "gzip, gzip", "zlib", "gzipped"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        http_answer answer = post(others[i], "application/json", bytes, size);
        api_check_problem(&answer, 415, "unsupported_media_type");
        api_check_header(&answer, "Accept-Encoding", "gzip, deflate");
        http_done(&answer);
    }
    free(bytes);
}
END_TEST

/* gzip may be cut into members anywhere. */
START_TEST(members_follow_one_another) {
    char both[512];
    size_t first_size, second_size, half = strlen(X) / 2;
    char *first = packed("gzip", X, half, &first_size),
         *second = packed("gzip", X + half, strlen(X) - half, &second_size);
    memcpy(both, first, first_size);
    memcpy(both + first_size, second, second_size);
    http_answer plain = http_post(api_daemon.url, "/v1/attention", X);
    http_answer mine = post("gzip", "application/json", both, first_size + second_size);
    check_same(&mine, &plain);
    free(first);
    free(second);
}
END_TEST

static void check_broken(const char *coding, const char *bytes, size_t size, size_t offset) {
    http_answer answer = post(coding, "application/json", bytes, size);
    api_check_problem(&answer, 400, "bad_body");
    json_t *problem = http_json(&answer), *found = json_object_get(problem, "offset");
    ck_assert_msg(json_is_integer(found) && json_integer_value(found) >= (json_int_t)offset &&
                      json_integer_value(found) <= (json_int_t)size,
                  "%s", answer.body);
    json_decref(problem);
    http_done(&answer);
}

START_TEST(broken_streams_are_400) {
    static const char *const codings[] = {"gzip", "deflate"};
    const char *coding = codings[_i];
    size_t size;
    char *bytes = packed(coding, X, strlen(X), &size), *more = malloc(size + 5);
    for (size_t cut = 0; cut < size; cut++)
        check_broken(coding, bytes, cut, cut);
    memcpy(more, bytes, size);
    memcpy(more + size, "more", 5);
    check_broken(coding, more, size + 4, size);
    bytes[size - 1] ^= 1; /* of the length, or the check sum */
    check_broken(coding, bytes, size, 0);
    check_broken(coding, X, strlen(X), 0);
    free(bytes);
    bytes = packed(codings[1 - _i], X, strlen(X), &size);
    check_broken(coding, bytes, size, 0);
    free(bytes);
    free(more);
}
END_TEST

/* The text's own errors count from its beginning, and 413 goes before them. */
START_TEST(the_text_is_judged_as_ever) {
    http_answer answer = post_packed("gzip", "application/json", "{\"inputs\":[[1,0,0,0]]} x", 24);
    api_check_problem(&answer, 400, "bad_json");
    json_t *problem = http_json(&answer);
    ck_assert_int_ge(json_integer_value(json_object_get(problem, "offset")), 23);
    json_decref(problem);
    http_done(&answer);
    for (int beyond = 0; beyond < 2; beyond++) {
        size_t size = 65536 + (size_t)beyond;
        char *body = malloc(size);
        memset(body, ' ', size);
        memcpy(body, X, strlen(X));
        answer = post_packed("deflate", "application/json", body, size);
        if (beyond)
            api_check_problem(&answer, 413, "body_too_large");
        else
            ck_assert_msg(answer.status == 200, "%s", answer.body);
        http_done(&answer);
        body[0] = 'x'; /* is not JSON besides */
        answer = post_packed("deflate", "application/json", body, size);
        api_check_problem(&answer, beyond ? 413 : 400, beyond ? "body_too_large" : "bad_json");
        http_done(&answer);
        free(body);
    }
}
END_TEST

ATTND_SUITE(packed_bodies) {
    Suite *suite = suite_create("packed_bodies");
    TCase *tests = api_case(suite, "packed_bodies");
    tcase_add_loop_test(tests, packed_bodies_are_the_plain_ones, 0, 2);
    tcase_add_test(tests, codings_have_their_names);
    tcase_add_test(tests, members_follow_one_another);
    tcase_add_loop_test(tests, broken_streams_are_400, 0, 2);
    tcase_add_test(tests, the_text_is_judged_as_ever);
    return suite;
}
