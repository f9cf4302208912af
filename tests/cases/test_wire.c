/* JSON and HTTP. */
#include "cases.h"

#include "tests/support/german_locale.h"
#include "tests/support/packed.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>

START_TEST(float32_range) {
    static const char *const beyond[] = {"1e39", "-1e39"};
    char body[160];
    for (size_t i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "{\"model\":\"sel\",\"inputs\":[[0,1],[0,%s]]}", beyond[i]);
        json_t *problem = case_refused(body, 422, "out_of_range");
        ck_assert_str_eq(json_string_value(json_at(problem, "/pointer")), "/inputs/1/1");
        json_decref(problem);
    }
    /* No double holds these, so they are refused where the text is read: by offset. */
    static const char *const infinite[] = {"1e400", "-1e400"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "{\"model\":\"sel\",\"inputs\":[[0,1],[0,%s]]}", infinite[i]);
        json_t *problem = case_refused(body, 422, "out_of_range");
        ck_assert(json_object_get(problem, "pointer") || json_object_get(problem, "offset"));
        json_decref(problem);
    }
    json_t *answer = case_ask("{\"model\":\"sel\",\"inputs\":[[0,3.4028235e38]]}");
    json_check_exact(answer, "/outputs", "[[3.4028234663852886e38,0]]");
    json_decref(answer);
}
END_TEST

START_TEST(number_forms) {
    json_t *answer =
        case_ask("{\"model\":\"sel\",\"inputs\":[[[0,1]],[[0,16777217]],[[0,17000000000000000000]],"
                 "[[0,1E+2]],[[0,1e-2]]]}");
    json_check_exact(answer, "/outputs", "[[[1,0]],[[16777216,0]],[[1.7e19,0]],[[100,0]],[[0.01,0]]]");
    json_decref(answer);
}
END_TEST

static void check_point(const char *const environment[]) {
    test_daemon *daemon = &case_daemon;
    daemon_start(daemon, (const char *const[]){"--workers", "2", NULL}, environment);
    http_answer answer =
        http_post(daemon->url, "/v1/attention",
                  "{\"model\":\"plain\",\"inputs\":[[0.5,0.25]],\"return\":{\"attention\":false}}");
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    ck_assert_msg(strstr(answer.body, "[[0.5,0.25]]") != NULL, "%s", answer.body);
    http_done(&answer);
    daemon_stop(daemon);
}

START_TEST(decimal_comma) {
    char *folder = german_locale_folder(), *place = NULL;
    ck_assert_int_gt(asprintf(&place, "LOCPATH=%s", folder), 0);
    /* glibc never frees the list that it makes of LOCPATH; a library of the daemon's asks for the POSIX
     * locale. */
    const char *sanitizer = "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0";
    check_point((const char *const[]){"LC_ALL=de_DE.UTF-8", place, sanitizer, NULL});

    /* The daemon calls no setlocale, so the environment alone changes little. A library may: the shim does,
     * and it ends the daemon at once where the decimal sign has not become a comma. */
    char *shim = NULL;
    ck_assert_int_gt(asprintf(&shim, "LD_PRELOAD=%s/locale.so", getenv("ATTND_SHIMS")), 0);
    check_point((const char *const[]){"LC_ALL=de_DE.UTF-8", place, shim, sanitizer, NULL});
    free(shim);
    free(place);
    temporary_remove(folder);
}
END_TEST

/* Sends the request in this framing and expects the bytes that Content-Length gave. */
static void check_framing(const char *wanted, const char *headers, const char *body) {
    http_raw raw;
    http_raw_open(&raw, case_daemon.port);
    http_raw_send_text(
        &raw, "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    http_raw_send_text(&raw, headers);
    http_raw_send_text(&raw, body);
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(answer.body, wanted);
    http_done(&answer);

    /* And the connection is in step: what follows is the next request. */
    http_raw_send_text(&raw, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"ok\""));
    http_done(&answer);
    http_raw_close(&raw);
}

START_TEST(chunked) {
    static const char body[] = "{\"model\":\"asym2\",\"inputs\":[[1,0],[0,1],[1,-1]],\"causal\":true}";
    http_answer plain = http_post(case_daemon.url, "/v1/attention", body);
    ck_assert_int_eq(plain.status, 200);

    char one[256], bytes[1024] = "", trailer[256];
    snprintf(one, sizeof one, "%zx\r\n%s\r\n0\r\n\r\n", sizeof body - 1, body);
    snprintf(trailer, sizeof trailer, "%zx\r\n%s\r\n0\r\nX-After: 1\r\n\r\n", sizeof body - 1, body);
    for (size_t i = 0, used = 0; body[i]; i++)
        used += (size_t)snprintf(bytes + used, sizeof bytes - used, "1\r\n%c\r\n%s", body[i],
                                 body[i + 1] ? "" : "0\r\n\r\n");
    check_framing(plain.body, "Transfer-Encoding: chunked\r\n\r\n", one);
    check_framing(plain.body, "Transfer-Encoding: chunked\r\n\r\n", bytes);
    check_framing(plain.body, "Transfer-Encoding: chunked\r\nTrailer: X-After\r\n\r\n", trailer);
    http_done(&plain);
}
END_TEST

/* 60 MB of white space. */
START_TEST(gzip_bomb) {
    static const char good[] = "{\"model\":\"plain\",\"inputs\":[[0.5]]}";
    const char *const headers[] = {"Content-Type: application/json", "Content-Encoding: gzip", NULL};
    enum { BOMB = 60000000 };
    test_daemon *daemon = &case_daemon;
    daemon_start(daemon, (const char *const[]){"--workers", "2", "--max-body", "16MiB", NULL}, NULL);
    size_t size;
    char *text = malloc(BOMB), *bytes = packed("gzip", good, strlen(good), &size);
    http_answer answer = http_send("POST", daemon->url, "/v1/attention", headers, bytes, size);
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"outputs\":[[0.5]]"));
    http_done(&answer);
    free(bytes);
    memset(text, ' ', BOMB);
    memcpy(text, good, strlen(good));
    bytes = packed("gzip", text, BOMB, &size);
    ck_assert_uint_lt(size, 70000);
    answer = http_send("POST", daemon->url, "/v1/attention", headers, bytes, size);
    ck_assert_msg(answer.status == 413, "%ld: %s", answer.status, answer.body);
    json_t *problem = http_json(&answer);
    ck_assert_str_eq(json_string_value(json_at(problem, "/code")), "body_too_large");
    json_decref(problem);
    http_done(&answer);
    free(bytes);
    free(text);
    daemon_stop(daemon);
}
END_TEST

ATTND_SUITE(cases_wire) {
    Suite *suite = suite_create("cases_wire");
    case_add(suite, "float32-range", float32_range, true);
    case_add(suite, "number-forms", number_forms, true);
    case_add(suite, "decimal-comma", decimal_comma, false);
    case_add(suite, "chunked", chunked, true);
    case_add(suite, "gzip-bomb", gzip_bomb, false);
    return suite;
}
