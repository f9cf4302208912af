/* Requests of one layer that wait together share the tiles of its projections: each gets the bytes that it gets alone,
 * whichever kernels OpenBLAS uses. */
#include "api.h"
#include "engine/engine.h"
#include "latched.h"

#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 8, WIDTH = 512 };

static latched held;

/* 1 to 3 rows of the demo model's width; other numbers for each request. */
static char *body_of(size_t request) {
    char *text = NULL;
    size_t size = 0, rows = 1 + request % 3;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    fputs("{\"model\":\"demo\",\"inputs\":[", file);
    for (size_t i = 0; i < rows * WIDTH; i++)
        fprintf(file, "%s%d.%d%s",
                i % WIDTH > 0 ? ","
                : i > 0       ? ",["
                              : "[",
                (int)(i * 7 % 5) - 2, (int)(request + i % 9), i % WIDTH == WIDTH - 1 ? "]" : "");
    fputs("]}", file);
    fclose(file);
    return text;
}

static void post(http_raw *raw, const char *body) {
    char head[128];
    snprintf(head, sizeof head,
             "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", strlen(body));
    http_raw_open(raw, held.daemon.port);
    http_raw_send_text(raw, head);
    http_raw_send_text(raw, body);
}

static double sample(const char *name) {
    http_answer answer = http_get(held.daemon.url, "/metrics");
    const char *found = strstr(answer.body, name);
    ck_assert_msg(found != NULL, "%s", answer.body);
    double value = strtod(found + strlen(name), NULL);
    http_done(&answer);
    return value;
}

static void check_company(const char *core) {
    latched_start_under(&held, (const char *const[]){"--workers", "2", NULL}, core);
    http_raw waiting[REQUESTS];
    char *bodies[REQUESTS];
    for (size_t i = 0; i < REQUESTS; i++)
        post(&waiting[i], bodies[i] = body_of(i));
    while (sample("\nattnd_requests_waiting ") != REQUESTS - 2)
        continue;
    ck_assert_double_eq(sample("\nattnd_shared_tiles "), 0);
    latched_open(&held);
    for (size_t i = 0; i < REQUESTS; i++) {
        http_answer together = http_raw_answer(&waiting[i], 0);
        http_raw_close(&waiting[i]);
        http_answer alone =
            http_send("POST", held.daemon.url, "/v1/attention", NULL, bodies[i], strlen(bodies[i]));
        ck_assert_int_eq(together.status, 200);
        ck_assert_int_eq(alone.status, 200);
        ck_assert_str_eq(together.body, alone.body);
        http_done(&together);
        http_done(&alone);
        free(bodies[i]);
    }
    ck_assert_double_gt(sample("\nattnd_shared_tiles "), 0);
    latched_stop(&held);
}

START_TEST(answers_are_the_same_in_company) {
    static const struct {
        const char *core;
        attn_blas_level level;
    } cores[] = {{"OPENBLAS_CORETYPE=Prescott", ATTN_BLAS_SSE},
                 {"OPENBLAS_CORETYPE=Haswell", ATTN_BLAS_AVX2},
                 {"OPENBLAS_CORETYPE=SkylakeX", ATTN_BLAS_AVX512}};
    if (attn_blas_processor_level() < cores[_i].level) {
        check_company(NULL); /* with what there is */
        return;
    }
    check_company(cores[_i].core);
}
END_TEST

ATTND_SUITE(company) {
    Suite *suite = suite_create("company");
    TCase *cases = tcase_create("company");
    tcase_add_loop_test(cases, answers_are_the_same_in_company, 0, 3);
    suite_add_tcase(suite, cases);
    return suite;
}
