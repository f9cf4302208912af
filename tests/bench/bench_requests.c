/* How long small requests take over one connection on this machine: median and 99th percentile, and how many times
 * a bare /livez that is. Numbers are printed, none is judged: first as a table, then as one line of JSON. */
#include "tests/support/daemon.h"
#include "tests/support/http.h"
#include "tests/support/suites.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 50, MOST_TIMES = 2000 };

typedef struct measured {
    double median, p99; /* microseconds */
} measured;

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static measured measure(int port, const char *request, long status, int times) {
    static double took[MOST_TIMES];
    http_raw raw;
    http_raw_open(&raw, port);
    for (int i = -WARM_UP; i < times; i++) {
        double began = now_us();
        http_raw_send_text(&raw, request);
        http_answer answer = http_raw_answer(&raw, 0);
        if (i >= 0) took[i] = now_us() - began;
        ck_assert_msg(answer.status == status, "%ld: %s", answer.status, answer.body);
        http_done(&answer);
    }
    http_raw_close(&raw);
    qsort(took, (size_t)times, sizeof *took, compare);
    return (measured){.median = took[times / 2], .p99 = took[times * 99 / 100]};
}

static char *get(const char *path) {
    char *request = NULL;
    ck_assert_int_gt(asprintf(&request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path), 0);
    return request;
}

static char *post(const char *body) {
    char *request = NULL;
    int size = asprintf(&request,
                        "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        strlen(body), body);
    ck_assert_int_gt(size, 0);
    return request;
}

/* A sequence for the model 'demo', 512 wide, with digits as a client would send them. */
static char *post_rows(size_t rows) {
    enum { WIDTH = 512 };
    char *body = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&body, &size);
    fputs("{\"model\":\"demo\",\"inputs\":[", out);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < WIDTH; j++)
            fprintf(out, "%s%.6f",
                    j   ? ","
                    : i ? ",["
                        : "[",
                    (double)((i * 7919 + j * 104729) % 20011) / 1e4 - 1);
        fputc(']', out);
    }
    fputs("]}", out);
    ck_assert_int_eq(fclose(out), 0);
    char *request = post(body);
    free(body);
    return request;
}

START_TEST(small_requests) {
    struct {
        const char *name;
        char *request;
        long status;
        int times;
        measured took;
    } rows[] = {
        {"GET /livez", get("/livez"), 200, 2000, {0, 0}},
        {"404", get("/nothing"), 404, 2000, {0, 0}},
        {"GET /v1/models", get("/v1/models"), 200, 2000, {0, 0}},
        {"422 (wrong width)", post("{\"inputs\":[[1,0,0]]}"), 422, 2000, {0, 0}},
        {"tiny, 2 tokens", post("{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"causal\":true}"), 200, 2000, {0, 0}},
        {"demo, 1x512", post_rows(1), 200, 2000, {0, 0}},
        {"demo, 16x512", post_rows(16), 200, 200, {0, 0}},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--log-level", "error", NULL}, NULL);
    printf("%-20s %12s %12s %10s\n", "request", "median µs", "p99 µs", "× /livez");
    for (size_t i = 0; i < COUNT; i++) {
        rows[i].took = measure(daemon.port, rows[i].request, rows[i].status, rows[i].times);
        printf("%-20s %11.1f %11.1f %9.2f\n", rows[i].name, rows[i].took.median, rows[i].took.p99,
               rows[i].took.median / rows[0].took.median);
        free(rows[i].request);
    }
    daemon_stop(&daemon);
    printf("{\"unit\":\"us\",\"requests\":[");
    for (size_t i = 0; i < COUNT; i++) {
        printf("%s{\"name\":\"%s\",\"median\":%.1f,\"p99\":%.1f}", i ? "," : "", rows[i].name,
               rows[i].took.median, rows[i].took.p99);
    }
    puts("]}");
}
END_TEST

ATTND_SUITE(bench) {
    Suite *suite = suite_create("bench");
    TCase *tests = tcase_create("requests");
    tcase_add_test(tests, small_requests);
    suite_add_tcase(suite, tests);
    return suite;
}
