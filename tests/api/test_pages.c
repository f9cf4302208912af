/* For web pages: preflights, the CORS headers on every answer of ours, and whom the daemon does not serve. */
#include "api.h"

#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ORIGIN "http://localhost:5173"
#define X "{\"inputs\":[[1,0,0,0]]}"

static void check_absent(const http_answer *answer, const char *name) {
    char *found = http_header(answer, name);
    ck_assert_msg(!found, "%s: %s", name, found);
}

static void check_cors(const http_answer *answer) {
    api_check_header(answer, "Access-Control-Allow-Origin", ORIGIN);
    api_check_header(answer, "Timing-Allow-Origin", ORIGIN);
    api_check_vary(answer);
    char *exposed = http_header(answer, "Access-Control-Expose-Headers");
    static const char *const names[] = {
        "X-Request-Id",        "Server-Timing", "Retry-After", "ETag", "Inference-Header-Content-Length",
        "X-Attention-Encoding"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(exposed && strstr(exposed, names[i]), "%s is not in %s", names[i], exposed);
    free(exposed);
    check_absent(answer, "Access-Control-Allow-Credentials");
}

START_TEST(preflight_is_204) {
    static const char *const paths[] = {"/v1/attention", "/v1/models", "/livez", "/v1/models/tiny/example"};
    static const char *const allowed[] = {"POST, OPTIONS", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS",
                                          "GET, HEAD, OPTIONS"};
    http_answer answer =
        http_send("OPTIONS", api_daemon.url, paths[_i],
                  (const char *const[]){"Origin: " ORIGIN, "Access-Control-Request-Method: POST",
                                        "Access-Control-Request-Headers: content-type", NULL},
                  NULL, 0);
    ck_assert_int_eq(answer.status, 204);
    ck_assert_uint_eq(answer.size, 0);
    check_cors(&answer);
    api_check_header(&answer, "Allow", allowed[_i]);
    api_check_header(&answer, "Access-Control-Allow-Methods", allowed[_i]);
    char *headers = http_header(&answer, "Access-Control-Allow-Headers");
    static const char *const names[] = {"Content-Type",
                                        "Content-Encoding",
                                        "Authorization",
                                        "X-API-Key",
                                        "X-Request-Id",
                                        "traceparent",
                                        "Inference-Header-Content-Length"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(headers && strstr(headers, names[i]), "%s is not in %s", names[i], headers);
    free(headers);
    char *age = http_header(&answer, "Access-Control-Max-Age");
    ck_assert_int_gt(strtol(age, NULL, 10), 0);
    free(age);
    http_done(&answer);
}
END_TEST

START_TEST(options_without_a_page) {
    http_answer answer = http_send("OPTIONS", api_daemon.url, "/v1/attention", NULL, NULL, 0);
    ck_assert_int_eq(answer.status, 204);
    api_check_header(&answer, "Allow", "POST, OPTIONS");
    check_absent(&answer, "Access-Control-Allow-Origin");
    check_absent(&answer, "Access-Control-Allow-Methods");
    http_done(&answer);
    answer = http_send("OPTIONS", api_daemon.url, "/nothing", NULL, NULL, 0);
    api_check_problem(&answer, 404, "not_found");
    http_done(&answer);

    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    for (int i = 0; i < 2; i++) {
        http_raw_send_text(&raw, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n");
        answer = http_raw_answer(&raw, 0);
        ck_assert_int_eq(answer.status, 204);
        http_done(&answer);
    }
    http_raw_close(&raw);
}
END_TEST

static const struct {
    const char *method, *path, *header, *body;
    long status;
} answers[] = {
    {"POST", "/v1/attention", NULL, X, 200},
    {"GET", "/livez", NULL, NULL, 200},
    {"GET", "/metrics", NULL, NULL, 200},
    {"POST", "/v1/attention", NULL, "{", 400},
    {"GET", "/nothing", NULL, NULL, 404},
    {"POST", "/v1/attention", NULL, "{\"model\":\"none\",\"inputs\":[[1]]}", 404},
    {"PUT", "/v1/attention", NULL, X, 405},
    {"POST", "/v1/attention", "Accept: text/html", X, 406},
    {"POST", "/v1/attention", "Content-Length: 70000", NULL, 413},
    {"POST", "/v1/attention", "Content-Type: text/xml", X, 415},
    {"POST", "/v1/attention", "Content-Encoding: br", X, 415},
    {"POST", "/v1/attention", "Expect: a-miracle", X, 400},
    {"POST", "/v1/attention", "Host: other.example", X, 421},
    {"POST", "/v1/attention", NULL, "{\"inputs\":[[1]]}", 422},
};

START_TEST(every_answer_can_be_read) {
    char *big = NULL;
    size_t size = answers[_i].body ? strlen(answers[_i].body) : 0;
    const char *headers[4] = {"Origin: " ORIGIN}, *body = answers[_i].body;
    if (answers[_i].header) headers[1] = answers[_i].header;
    if (answers[_i].status == 413) {
        size = 70000;
        body = big = malloc(size);
        memset(big, ' ', size);
    }
    http_answer answer = http_send(answers[_i].method, api_daemon.url, answers[_i].path, headers, body, size);
    ck_assert_msg(answer.status == answers[_i].status, "%ld: %s", answer.status, answer.body);
    check_cors(&answer);
    http_done(&answer);
    free(big);
}
END_TEST

START_TEST(other_origins_are_forbidden) {
    static const char *const origins[] = {"Origin: https://evil.example", "Origin: null",
                                          "Origin: ", "Origin: http://localhost.evil.example",
                                          "Origin: file://"};
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        /* An empty header is written with a semicolon for libcurl. */
        const char *headers[] = {i == 2 ? "Origin;" : origins[i], NULL};
        http_answer answer = http_send("POST", api_daemon.url, "/v1/attention", headers, X, strlen(X));
        api_check_problem(&answer, 403, "forbidden_origin");
        check_absent(&answer, "Access-Control-Allow-Origin");
        api_check_vary(&answer);
        http_done(&answer);
    }
    /* The daemon's own page. */
    char own[96];
    snprintf(own, sizeof own, "Origin: %s", api_daemon.url);
    http_answer answer =
        http_send("POST", api_daemon.url, "/v1/attention", (const char *const[]){own, NULL}, X, strlen(X));
    ck_assert_int_eq(answer.status, 200);
    api_check_header(&answer, "Access-Control-Allow-Origin", api_daemon.url);
    http_done(&answer);
}
END_TEST

START_TEST(hosts_that_are_served) {
    static const struct {
        const char *host;
        long status;
    } hosts[] = {{"Host: localhost", 200},      {"Host: LOCALHOST:1", 200}, {"Host: 127.0.0.1", 200},
                 {"Host: [::1]:8080", 200},     {"Host: x.localhost", 200}, {"Host: evil.example", 421},
                 {"Host: 192.168.1.1", 421},    {"Host: evil:8080", 421},   {"Host: a b", 400},
                 {"Host: localhost/evil", 400}, {"Host: a,b", 400}};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        http_answer answer =
            http_send("GET", api_daemon.url, "/livez", (const char *const[]){hosts[i].host, NULL}, NULL, 0);
        ck_assert_msg(answer.status == hosts[i].status, "%s: %ld", hosts[i].host, answer.status);
        http_done(&answer);
    }
    /* An absolute target's word goes before Host's. */
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    http_raw_send_text(&raw, "GET http://localhost/livez HTTP/1.1\r\nHost: evil.example\r\n\r\n"
                             "GET http://evil.example/livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    answer = http_raw_answer(&raw, 0);
    api_check_problem(&answer, 421, "misdirected");
    http_done(&answer);
    http_raw_close(&raw);
}
END_TEST

START_TEST(hosts_and_origins_are_settings) {
    test_daemon daemon;
    daemon_start(&daemon,
                 (const char *const[]){"--host", "api.example", "--cors-origin", "https://app.example",
                                       "--cors-origin", "null", NULL},
                 NULL);
    static const struct {
        const char *headers[3];
        long status;
    } asked[] = {{{"Host: api.example:443"}, 200},
                 {{"Host: other.example"}, 421},
                 {{"Origin: https://app.example"}, 200},
                 {{"Origin: null"}, 200},
                 {{"Origin: http://localhost:5173"}, 403},
                 {{"Host: api.example", "Origin: https://api.example"}, 200}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        http_answer answer = http_send("GET", daemon.url, "/livez", asked[i].headers, NULL, 0);
        ck_assert_msg(answer.status == asked[i].status, "%zu: %ld %s", i, answer.status, answer.body);
        http_done(&answer);
    }
    daemon_stop(&daemon);
}
END_TEST

/* The whole log of a daemon that refuses this header of a request for /v1/attention, and the answer's detail. */
static char *log_of_refusal(const char *format, const char *header, long status, char detail[300]) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--log-format", format, NULL}, NULL);
    http_answer answer =
        http_send("POST", daemon.url, "/v1/attention", (const char *const[]){header, NULL}, X, strlen(X));
    ck_assert_msg(answer.status == status, "%s: %ld %s", header, answer.status, answer.body);
    json_t *document = http_json(&answer);
    snprintf(detail, 300, "%s", json_string_value(json_object_get(document, "detail")));
    json_decref(document);
    http_done(&answer);
    process_signal(&daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    char *log = process_errors(&daemon.process);
    process_done(&daemon.process);
    return log;
}

#define REMEDY "; --cors-origin https://app.example.com:8443 allows it"
#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN

/* What has been refused stands in the log, which is all that an operator sees of it: escaped, and cut. */
static const struct {
    const char *header;
    long status;
    const char *text, *key, *value, *remedy; /* in either form of the log; what the detail ends with */
} refused[] = {
    {"Origin: https://app.example.com:8443", 403,
     " status=403 code=forbidden_origin origin=https://app.example.com:8443 in=", "origin",
     "https://app.example.com:8443", REMEDY},
    {"Origin: http://[fd00::7]", 403, " origin=http://[fd00::7] in=", "origin", "http://[fd00::7]",
     "; --cors-origin http://[fd00::7] allows it"},
    {"Origin: https://box:443", 403, " origin=https://box:443 in=", "origin", "https://box:443",
     "are allowed"},
    {"Origin: https://box:*", 403, " origin=https://box:* in=", "origin", "https://box:*", "are allowed"},
    {"Origin: null", 403, " origin=null in=", "origin", "null", "are allowed"},
    {"Origin;", 403, " origin=\"\" in=", "origin", "", "are allowed"},
    {"Origin: https://a\"b\\ x\t=\xff", 403, " origin=\"https://a\\\"b\\\\ x?=\xef\xbf\xbd\" in=", "origin",
     "https://a\"b\\ x?=\xef\xbf\xbd", "are allowed"},
    {"Origin: https://" FIFTY FIFTY FIFTY, 403, " origin=https://" FIFTY FIFTY TEN "012345678 in=", "origin",
     "https://" FIFTY FIFTY TEN "012345678", "are allowed"},
    {"Host: box.example:81", 421, " status=421 code=misdirected host=box.example:81 in=", "host",
     "box.example:81", "setting server.hosts are"},
};

START_TEST(what_was_refused_is_logged) {
    char detail[300];
    char *log = log_of_refusal("text", refused[_i].header, refused[_i].status, detail);
    ck_assert_msg(strstr(log, refused[_i].text), "no '%s' in %s", refused[_i].text, log);
    size_t size = strlen(detail), end = strlen(refused[_i].remedy);
    ck_assert_msg(size > end && strcmp(detail + size - end, refused[_i].remedy) == 0, "%s", detail);
    free(log);
    log = log_of_refusal("json", refused[_i].header, refused[_i].status, detail);
    char *line = strstr(log, "\"event\":\"request\"");
    ck_assert_msg(line, "%s", log);
    while (line > log && line[-1] != '\n')
        line--;
    json_t *entry = json_loads(line, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(json_is_object(entry), "%s", line);
    ck_assert_str_eq(json_string_value(json_object_get(entry, refused[_i].key)), refused[_i].value);
    json_decref(entry);
    free(log);
}
END_TEST

/* The remedy that a refusal names is one. */
START_TEST(the_remedy_of_a_refused_origin_helps) {
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--cors-origin", "https://app.example.com:8443", NULL}, NULL);
    http_answer answer =
        http_send("POST", daemon.url, "/v1/attention",
                  (const char *const[]){"Origin: https://app.example.com:8443", NULL}, X, strlen(X));
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    daemon_stop(&daemon);
}
END_TEST

/* An empty list in the settings file: no page but the daemon's own. */
START_TEST(no_origins_are_none) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "attnd.json"), own[96];
    static const char text[] = "{\"server\":{\"cors_origins\":[]}}";
    st_write_bytes(path, text, strlen(text));
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--config", path, NULL}, NULL);
    http_answer answer =
        http_send("GET", daemon.url, "/livez", (const char *const[]){"Origin: " ORIGIN, NULL}, NULL, 0);
    api_check_problem(&answer, 403, "forbidden_origin");
    check_absent(&answer, "Access-Control-Allow-Origin");
    http_done(&answer);
    snprintf(own, sizeof own, "Origin: %s", daemon.url);
    answer = http_send("GET", daemon.url, "/livez", (const char *const[]){own, NULL}, NULL, 0);
    ck_assert_int_eq(answer.status, 200);
    http_done(&answer);
    daemon_stop(&daemon);
    free(path);
    temporary_remove(folder);
}
END_TEST

ATTND_SUITE(pages) {
    Suite *suite = suite_create("pages");
    TCase *tests = api_case(suite, "pages");
    tcase_add_loop_test(tests, preflight_is_204, 0, 4);
    tcase_add_test(tests, options_without_a_page);
    tcase_add_loop_test(tests, every_answer_can_be_read, 0, (int)(sizeof answers / sizeof *answers));
    tcase_add_test(tests, other_origins_are_forbidden);
    tcase_add_test(tests, hosts_that_are_served);
    tcase_add_test(tests, hosts_and_origins_are_settings);
    tcase_add_loop_test(tests, what_was_refused_is_logged, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, the_remedy_of_a_refused_origin_helps);
    tcase_add_test(tests, no_origins_are_none);
    return suite;
}
