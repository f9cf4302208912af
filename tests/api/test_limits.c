/* Limits of a body as settings: what it may have outside its tensors, and how much of a refused one is still read. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

static test_daemon tight;

static void start(void) {
    daemon_start(
        &tight,
        (const char *const[]){"--max-json", "64", "--max-body", "4096", "--max-swallow", "4096", NULL}, NULL);
}

static void stop(void) {
    daemon_stop(&tight);
}

START_TEST(what_is_outside_tensors_has_a_limit) {
    /* {"inputs":[],"tokens":["…"]} and 37 bytes of a label are the limit; numbers do not count. */
    static const char form[] =
        "{\"inputs\":[[1.0000000000,0.0000000000,0.0000000000,0.0000000000]],\"tokens\":[\"%s\"]}";
    char label[64], body[256];
    memset(label, 'x', sizeof label);
    for (int extra = 0; extra < 2; extra++) {
        label[37 + extra] = '\0';
        snprintf(body, sizeof body, form, label);
        label[37 + extra] = 'x';
        http_answer answer = http_post(tight.url, "/v1/attention", body);
        if (extra) {
            api_check_problem(&answer, 413, "body_too_large");
            ck_assert_ptr_nonnull(strstr(answer.body, "more than 64 bytes of JSON outside the tensors"));
        } else {
            ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
        }
        http_done(&answer);
    }
}
END_TEST

/* Up to the two limits together the connection stays; beyond, it ends with the refusal, which waits for no body. */
START_TEST(swallowing_has_a_limit) {
    for (int extra = 0; extra < 2; extra++) {
        http_raw raw;
        char head[160], *body = calloc(8193, 1);
        memset(body, ' ', (size_t)(8192 + extra));
        snprintf(head, sizeof head,
                 "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n",
                 8192 + extra);
        http_raw_open(&raw, tight.port);
        http_raw_send_text(&raw, head);
        if (extra == 0) http_raw_send(&raw, body, 8192);
        http_answer answer = http_raw_answer(&raw, 0);
        api_check_problem(&answer, 413, "body_too_large");
        char *connection = http_header(&answer, "Connection");
        ck_assert_msg((connection && strcasecmp(connection, "close") == 0) == (extra == 1), "%s",
                      answer.headers);
        free(connection);
        http_done(&answer);
        http_raw_close(&raw);
        free(body);
    }
}
END_TEST

ATTND_SUITE(limits) {
    Suite *suite = suite_create("limits");
    TCase *tests = tcase_create("limits");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_test(tests, what_is_outside_tensors_has_a_limit);
    tcase_add_test(tests, swallowing_has_a_limit);
    suite_add_tcase(suite, tests);
    return suite;
}
