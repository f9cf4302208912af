/* Where keys are asked for: who gets in, who does not and how that is told, how often, and what of it is kept. */
#include "api.h"
#include "keyed.h"

#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define HOST "Host: localhost\r\n"
#define X "{\"inputs\":[[1,0,0,0]]}"
#define ORIGIN "Origin: http://localhost:5173"

static keyed guarded;

static void start(void) {
    keyed_start(&guarded, (const char *const[]){"--log-level", "debug", NULL});
}

static void stop(void) {
    keyed_stop(&guarded);
}

static http_answer send_with(const char *method, const char *path, const char *first, const char *second) {
    const char *headers[] = {first ? first : second, first ? second : NULL, NULL};
    bool has_body = strcmp(method, "POST") == 0;
    return http_send(method, guarded.daemon.url, path, headers, has_body ? X : NULL,
                     has_body ? strlen(X) : 0);
}

static const struct {
    const char *method, *path, *first, *second;
    long status;
    const char *code;
} asked[] = {
    /* Either header, the scheme in any case. */
    {"POST", "/v1/attention", "X-API-Key: " KEY_OF_ALL, NULL, 200, NULL},
    {"POST", "/v1/attention", "Authorization: Bearer " KEY_OF_ALL, NULL, 200, NULL},
    {"POST", "/v1/attention", "authorization: bearer   " KEY_OF_ALL, NULL, 200, NULL},
    /* No key, none of ours, none that can be read. */
    {"POST", "/v1/attention", NULL, NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "X-API-Key: " KEY_OF_ALL "x", NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "X-API-Key: key-of-al", NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "X-API-Key;", NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "X-API-Key: Bearer " KEY_OF_ALL, NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "Authorization: " KEY_OF_ALL, NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "Authorization: Bearer", NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "Authorization: Basic " KEY_OF_ALL, NULL, 401, "unauthorized"},
    /* The digest is no key. */
    {"POST", "/v1/attention", "X-API-Key: 11b61ff8f27ebdeaa6f43de31efa2bb959b0c03b95f5943338d0f95797a6bbd2",
     NULL, 401, "unauthorized"},
    /* Two keys, be they the same. */
    {"POST", "/v1/attention", "X-API-Key: " KEY_OF_ALL, "Authorization: Bearer " KEY_OF_ALL, 401,
     "unauthorized"},
    {"POST", "/v1/attention", "X-API-Key: " KEY_OF_ALL, "X-API-Key: " KEY_OF_READER, 401, "unauthorized"},
    /* Rights. */
    {"POST", "/v1/attention", BEARING(KEY_OF_READER), NULL, 403, "forbidden"},
    {"POST", "/v1/attention", BEARING(KEY_OF_SCRAPER), NULL, 403, "forbidden"},
    {"GET", "/metrics", BEARING(KEY_OF_READER), NULL, 403, "forbidden"},
    {"GET", "/metrics", BEARING(KEY_OF_SCRAPER), NULL, 200, NULL},
    {"GET", "/v1/models", BEARING(KEY_OF_SCRAPER), NULL, 403, "forbidden"},
    {"GET", "/v1/models", BEARING(KEY_OF_READER), NULL, 200, NULL},
    {"GET", "/v1/models/tiny", BEARING(KEY_OF_READER), NULL, 200, NULL},
    {"GET", "/v1/models/tiny/layers/0", BEARING(KEY_OF_READER), NULL, 200, NULL},
    {"GET", "/v1/models/tiny/example", BEARING(KEY_OF_READER), NULL, 200, NULL},
    {"GET", "/v1/limits", BEARING(KEY_OF_READER), NULL, 200, NULL},
    {"GET", "/version", BEARING(KEY_OF_READER), NULL, 200, NULL},
    {"GET", "/v1/models", NULL, NULL, 401, "unauthorized"},
    {"GET", "/v1/models/tiny", NULL, NULL, 401, "unauthorized"},
    {"GET", "/v1/models/tiny/layers/0", NULL, NULL, 401, "unauthorized"},
    {"GET", "/v1/models/tiny/example", NULL, NULL, 401, "unauthorized"},
    {"GET", "/v1/limits", NULL, NULL, 401, "unauthorized"},
    {"GET", "/version", NULL, NULL, 401, "unauthorized"},
    {"GET", "/metrics", NULL, NULL, 401, "unauthorized"},
    /* A model that is not there is none of a stranger's business. */
    {"GET", "/v1/models/none", NULL, NULL, 401, "unauthorized"},
    {"GET", "/v1/models/none", BEARING(KEY_OF_READER), NULL, 404, "model_not_found"},
    /* Open whoever asks, with whatever key. */
    {"GET", "/livez", NULL, NULL, 200, NULL},
    {"GET", "/readyz", NULL, NULL, 200, NULL},
    {"GET", "/healthz", "X-API-Key: wrong", NULL, 200, NULL},
    {"GET", "/", NULL, NULL, 200, NULL},
    {"GET", "/openapi.json", NULL, NULL, 200, NULL},
    {"OPTIONS", "/v1/attention", NULL, NULL, 204, NULL},
    {"OPTIONS", "/v1/attention", ORIGIN, "Access-Control-Request-Method: POST", 204, NULL},
    {"OPTIONS", "/metrics", NULL, NULL, 204, NULL},
    /* 404 and 405 go before, and so does a page's origin; 415 and 406 come after. */
    {"GET", "/nothing", NULL, NULL, 404, "not_found"},
    {"POST", "/v1/models", NULL, NULL, 405, "method_not_allowed"},
    {"POST", "/v1/attention", "Origin: https://evil.example", NULL, 403, "forbidden_origin"},
    {"POST", "/v1/attention", "Content-Type: text/xml", NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "Content-Type: text/xml", BEARING(KEY_OF_READER), 403, "forbidden"},
    {"POST", "/v1/attention", "Content-Type: text/xml", BEARING(KEY_OF_ALL), 415, "unsupported_media_type"},
    {"POST", "/v1/attention", "Accept: text/html", NULL, 401, "unauthorized"},
    {"POST", "/v1/attention", "Accept: text/html", BEARING(KEY_OF_ALL), 406, "not_acceptable"},
    {"GET", "/v1/models?x=1", NULL, NULL, 401, "unauthorized"},
    {"GET", "/v1/models?x=1", BEARING(KEY_OF_READER), NULL, 422, "unknown_field"},
};

START_TEST(who_gets_in) {
    http_answer answer = send_with(asked[_i].method, asked[_i].path, asked[_i].first, asked[_i].second);
    ck_assert_msg(answer.status == asked[_i].status, "%s %s %s %s: %ld %s", asked[_i].method, asked[_i].path,
                  asked[_i].first, asked[_i].second, answer.status, answer.body);
    if (asked[_i].code) api_check_problem(&answer, asked[_i].status, asked[_i].code);
    char *how = http_header(&answer, "WWW-Authenticate");
    ck_assert_int_eq(how != NULL, answer.status == 401);
    if (how) ck_assert_str_eq(how, "Bearer realm=\"attnd\"");
    free(how);
    http_done(&answer);
}
END_TEST

static void ask_raw(http_raw *raw, const char *key, const char *more, const char *body) {
    char head[512];
    snprintf(head, sizeof head, "POST /v1/attention HTTP/1.1\r\n" HOST "%s%s%s%sContent-Length: %zu\r\n\r\n",
             key ? "X-API-Key: " : "", key ? key : "", key ? "\r\n" : "", more, strlen(body));
    http_raw_send_text(raw, head);
    http_raw_send_text(raw, body);
}

static void expect(http_raw *raw, long status, const char *code) {
    http_answer answer = http_raw_answer(raw, 0);
    ck_assert_msg(answer.status == status, "%ld, not %ld: %s", answer.status, status, answer.body);
    if (code) api_check_problem(&answer, status, code);
    http_done(&answer);
}

/* On one connection, each refused body holding a request; too long a body is told after the key, before the rate. */
START_TEST(refusals_keep_step) {
    static const char inner[] = "GET /livez HTTP/1.1\r\n" HOST "\r\n";
    char *big = malloc(70001);
    memset(big, ' ', 70000);
    big[70000] = '\0';
    http_raw raw;
    http_raw_open(&raw, guarded.daemon.port);
    for (int round = 0; round < 2; round++) {
        ask_raw(&raw, NULL, "", inner);
        expect(&raw, 401, "unauthorized");
        ask_raw(&raw, KEY_OF_READER, "", inner);
        expect(&raw, 403, "forbidden");
        ask_raw(&raw, NULL, "", big);
        expect(&raw, 401, "unauthorized");
        ask_raw(&raw, KEY_OF_TWICE, "", big);
        expect(&raw, 413, "body_too_large");
        ask_raw(&raw, KEY_OF_ALL, "", X);
        expect(&raw, 200, NULL);
    }
    /* What was refused before has cost the key nothing. */
    for (int i = 0; i < 2; i++) {
        ask_raw(&raw, KEY_OF_TWICE, "", X);
        expect(&raw, 200, NULL);
    }
    ask_raw(&raw, KEY_OF_TWICE, "", inner);
    expect(&raw, 429, "rate_limited");
    ask_raw(&raw, KEY_OF_TWICE, "", big);
    expect(&raw, 413, "body_too_large");
    ask_raw(&raw, KEY_OF_TWICE, "Content-Type: text/xml\r\n", inner);
    expect(&raw, 415, "unsupported_media_type");
    /* Who waits for leave is told no at once. */
    ask_raw(&raw, NULL, "Expect: 100-continue\r\n", "");
    expect(&raw, 401, "unauthorized");
    ck_assert(http_raw_is_closed(&raw));
    http_raw_close(&raw);
    free(big);
}
END_TEST

START_TEST(a_key_s_own_rate_is_429) {
    http_answer answer = send_with("POST", "/v1/attention", BEARING(KEY_OF_SLOW), NULL);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    answer = send_with("POST", "/v1/attention", BEARING(KEY_OF_SLOW), NULL);
    api_check_problem(&answer, 429, "rate_limited");
    char *seconds = http_header(&answer, "Retry-After");
    long wait = strtol(seconds, NULL, 10);
    ck_assert_msg(wait > 9000 && wait <= 10000, "Retry-After: %s", seconds);
    ck_assert_msg(strstr(answer.body, "the key 'slow' may ask 0.0001 times a second, and 1 times at once"),
                  "%s", answer.body);
    free(seconds);
    http_done(&answer);
    /* Whatever it asks for; and nobody else is kept. */
    answer = send_with("GET", "/v1/models", BEARING(KEY_OF_SLOW), NULL);
    api_check_problem(&answer, 429, "rate_limited");
    http_done(&answer);
    answer = send_with("POST", "/v1/attention", BEARING(KEY_OF_ALL), NULL);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    answer = send_with("GET", "/livez", BEARING(KEY_OF_SLOW), NULL);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
}
END_TEST

START_TEST(pages_can_read_the_refusals) {
    static const struct {
        const char *key;
        long status;
    } refused[] = {{"X-API-Key: wrong", 401}, {BEARING(KEY_OF_READER), 403}, {BEARING(KEY_OF_SLOW), 429}};
    http_answer answer = send_with("POST", "/v1/attention", BEARING(KEY_OF_SLOW), NULL);
    http_done(&answer);
    for (size_t i = 0; i < 3; i++) {
        answer = send_with("POST", "/v1/attention", refused[i].key, ORIGIN);
        ck_assert_int_eq(answer.status, refused[i].status);
        api_check_header(&answer, "Access-Control-Allow-Origin", "http://localhost:5173");
        api_check_header(&answer, "Vary", "Origin");
        char *exposed = http_header(&answer, "Access-Control-Expose-Headers");
        ck_assert_ptr_nonnull(strstr(exposed, "Retry-After"));
        free(exposed);
        http_done(&answer);
    }
}
END_TEST

/* Log and metrics have the key's name, and nothing has the key. */
START_TEST(names_are_kept_and_keys_are_not) {
    static const char *const wrong = "X-API-Key: attnd_not-of-ours", *const scheme =
                                                                         "Authorization: attnd_not-of-ours";
    http_answer answer = send_with("POST", "/v1/attention", BEARING(KEY_OF_ALL), NULL);
    http_done(&answer);
    for (int i = 0; i < 2; i++) {
        answer = send_with("POST", "/v1/attention", i == 0 ? wrong : scheme, NULL);
        ck_assert_int_eq(answer.status, 401);
        ck_assert_ptr_null(strstr(answer.body, "not-of-ours"));
        http_done(&answer);
    }
    answer = send_with("GET", "/metrics", BEARING(KEY_OF_SCRAPER), NULL);
    ck_assert_ptr_nonnull(
        strstr(answer.body, "\nattnd_key_requests_total{key=\"all\",outcome=\"passed\"} 1\n"));
    ck_assert_ptr_nonnull(
        strstr(answer.body, "\nattnd_key_requests_total{key=\"slow\",outcome=\"limited\"} 0\n"));
    ck_assert_ptr_nonnull(strstr(
        answer.body, "\nattnd_requests_total{route=\"/v1/attention\",method=\"POST\",status=\"401\"} 2\n"));
    ck_assert_ptr_null(strstr(answer.body, "key-of"));
    http_done(&answer);
    process_signal(&guarded.daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&guarded.daemon.process), 0);
    char *log = process_errors(&guarded.daemon.process);
    ck_assert_msg(strstr(log, " status=200 key=all "), "%s", log);
    ck_assert_msg(strstr(log, " status=401 code=unauthorized "), "%s", log);
    ck_assert_msg(!strstr(log, "key-of") && !strstr(log, "not-of-ours") && !strstr(log, "11b61ff8"), "%s",
                  log);
    free(log);
    process_done(&guarded.daemon.process);
    daemon_start(&guarded.daemon, (const char *const[]){"--keys-file", guarded.path, NULL}, NULL);
}
END_TEST

START_TEST(check_tells_of_keys) {
    process_result result = process_run_attnd("check", "--keys-file", guarded.path, NULL);
    ck_assert_int_eq(result.code, 0);
    char line[300];
    snprintf(line, sizeof line, "keys: 5, file %s\n", guarded.path);
    ck_assert_msg(strncmp(result.output, line, strlen(line)) == 0, "%s", result.output);
    process_result_done(&result);
    /* Both what is wrong with the keys and what is wrong with the models. */
    char *bad = temporary_path(guarded.folder, "bad.json");
    st_write_bytes(bad, "{\"keys\":[{\"name\":\"a b\"}]}", strlen("{\"keys\":[{\"name\":\"a b\"}]}"));
    result = process_run_attnd("check", "--keys-file", bad, "--model", "m=/nonexistent", NULL);
    ck_assert_int_eq(result.code, 2);
    ck_assert_msg(strstr(result.errors, "attnd check: file ") && strstr(result.errors, ", keys[0].name: ") &&
                      strstr(result.errors, ", keys[0].sha256: ") &&
                      strstr(result.errors, ", keys[0].rights: ") && strstr(result.errors, "/nonexistent"),
                  "%s", result.errors);
    process_result_done(&result);
    result = daemon_refused((const char *const[]){"--keys-file", bad, NULL}, NULL);
    ck_assert_int_eq(result.code, 2);
    ck_assert_str_eq(result.output, "");
    ck_assert_msg(strncmp(result.errors, "attnd serve: file ", 18) == 0, "%s", result.errors);
    process_result_done(&result);
    free(bad);
}
END_TEST

#define KEY "-H 'X-API-Key: KEY'"

/* The command to try at start bears a key where one is asked for, in each of its requests: a large model's example is
 * fetched first. */
START_TEST(the_command_to_try_bears_a_key) {
    char *path = temporary_path(guarded.folder, "large.safetensors"), model[300], line[400], text[300];
    process_result made =
        process_run_attnd("init", "--d-model", "64", "--heads", "2", "--force", "-o", path, NULL);
    ck_assert_msg(made.code == 0, "%s", made.errors);
    process_result_done(&made);
    snprintf(model, sizeof model, "large=%s", path);
    test_daemon daemon;
    daemon_start(&daemon,
                 (const char *const[]){"--keys-file", guarded.path, _i == 1 ? "--model" : NULL, model, NULL},
                 NULL);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, daemon.process.output));
    if (_i == 0)
        snprintf(text, sizeof text, "try: curl -s " KEY " %s/v1/attention -d '{\"model\": \"tiny\",",
                 daemon.url);
    else
        snprintf(text, sizeof text,
                 "try: curl -s " KEY " %s/v1/models/large/example | curl -s " KEY " %s/v1/attention -d @-\n",
                 daemon.url, daemon.url);
    ck_assert_msg(strncmp(line, text, strlen(text)) == 0, "%s", line);
    daemon_stop(&daemon);
    free(path);
}
END_TEST

/* A wrong key for /metrics leaves a trace in an ordinary log; whoever is let in leaves none. */
START_TEST(refused_scrapes_are_logged) {
    keyed quiet;
    static const struct {
        const char *path, *header;
        long status;
    } all[] = {{"/metrics", "X-API-Key: wrong", 401},
               {"/metrics", BEARING(KEY_OF_READER), 403},
               {"/metrics", BEARING(KEY_OF_SCRAPER), 200},
               {"/livez", "Origin: https://evil.example", 403},
               {"/livez", "X-API-Key: wrong", 200}};
    keyed_start(&quiet, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        http_answer answer = http_send("GET", quiet.daemon.url, all[i].path,
                                       (const char *const[]){all[i].header, NULL}, NULL, 0);
        ck_assert_msg(answer.status == all[i].status, "%zu: %ld", i, answer.status);
        http_done(&answer);
    }
    process_signal(&quiet.daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&quiet.daemon.process), 0);
    char *log = process_errors(&quiet.daemon.process);
    ck_assert_msg(
        strstr(log, " route=/metrics status=401 code=unauthorized ") &&
            strstr(log, " route=/metrics status=403 key=reader code=forbidden ") &&
            strstr(log, " route=/livez status=403 code=forbidden_origin origin=https://evil.example "),
        "%s", log);
    ck_assert_msg(!strstr(log, " status=200 "), "%s", log);
    free(log);
    process_done(&quiet.daemon.process);
    free(quiet.path);
    temporary_remove(quiet.folder);
}
END_TEST

/* A key as an operator makes it: printed once, its entry into the file, and in. */
START_TEST(new_keys_get_in) {
    process_result made = process_run_attnd("key", "carol", NULL);
    ck_assert_msg(made.code == 0 && !made.errors[0], "%d %s", made.code, made.errors);
    char *entry = strchr(made.output, '\n'), *text = NULL, *header = NULL;
    ck_assert_ptr_nonnull(entry);
    *entry++ = '\0';
    ck_assert_int_gt(asprintf(&text, "{\"keys\":[%s]}", entry), 0);
    ck_assert_ptr_null(strstr(entry, made.output));
    ck_assert_int_gt(asprintf(&header, "Authorization: Bearer %s", made.output), 0);
    char *path = temporary_path(guarded.folder, "made.json");
    st_write_bytes(path, text, strlen(text));
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--keys-file", path, NULL}, NULL);
    http_answer answer =
        http_send("POST", daemon.url, "/v1/attention", (const char *const[]){header, NULL}, X, strlen(X));
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    http_done(&answer);
    daemon_stop(&daemon);
    process_result_done(&made);
    free(text), free(header), free(path);

    static const char *const names[] = {"a b", "", "ä"};
    for (size_t i = 0; i < 3; i++) {
        made = process_run_attnd("key", names[i], NULL);
        ck_assert_int_eq(made.code, 2);
        ck_assert_str_eq(made.output, "");
        process_result_done(&made);
    }
    made = process_run_attnd("key", NULL);
    ck_assert_int_eq(made.code, 2);
    process_result_done(&made);
}
END_TEST

/* Beyond loopback without keys is worth a warning, with them or on loopback alone it is not. */
START_TEST(an_open_door_is_told) {
    static const char *const told = "no key is asked for (setting auth.keys_file)";
    const char *const arguments[][5] = {{"--listen", "0.0.0.0:0", NULL},
                                        {"--listen", "0.0.0.0:0", "--keys-file", guarded.path, NULL},
                                        {NULL}};
    for (int i = 0; i < 3; i++) {
        test_daemon daemon;
        daemon_start(&daemon, arguments[i], NULL);
        char *log = process_errors(&daemon.process);
        ck_assert_msg((strstr(log, told) != NULL) == (i == 0), "%d: %s", i, log);
        free(log);
        daemon_stop(&daemon);
    }
}
END_TEST

/* Off unless configured: a key is then a header like any other. */
START_TEST(without_keys_none_is_asked_for) {
    http_answer answer =
        http_send("POST", api_daemon.url, "/v1/attention",
                  (const char *const[]){"Authorization: Basic x", "X-API-Key: y", NULL}, X, strlen(X));
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    answer = http_get(api_daemon.url, "/metrics");
    ck_assert_ptr_null(strstr(answer.body, "attnd_key_requests_total"));
    http_done(&answer);
}
END_TEST

ATTND_SUITE(keys) {
    Suite *suite = suite_create("keys");
    TCase *tests = tcase_create("keys");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_loop_test(tests, who_gets_in, 0, (int)(sizeof asked / sizeof *asked));
    tcase_add_test(tests, check_tells_of_keys);
    tcase_add_test(tests, new_keys_get_in);
    tcase_add_loop_test(tests, the_command_to_try_bears_a_key, 0, 2);
    tcase_add_test(tests, refused_scrapes_are_logged);
    tcase_add_test(tests, an_open_door_is_told);
    suite_add_tcase(suite, tests);
    /* Those that count. */
    TCase *counting = tcase_create("keys_counting");
    tcase_add_checked_fixture(counting, start, stop);
    tcase_add_test(counting, refusals_keep_step);
    tcase_add_test(counting, a_key_s_own_rate_is_429);
    tcase_add_test(counting, pages_can_read_the_refusals);
    tcase_add_test(counting, names_are_kept_and_keys_are_not);
    suite_add_tcase(suite, counting);
    TCase *open = api_case(suite, "keys_off");
    tcase_add_test(open, without_keys_none_is_asked_for);
    return suite;
}
