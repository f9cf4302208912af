/* How long a picture takes besides the attention that it shows: a grid of 12 heads of 512 tokens as PNG, against one row
 * of the same maps as JSON, turn about. Numbers are printed, none is judged. */
#include "tests/support/daemon.h"
#include "tests/support/http.h"
#include "tests/support/process.h"
#include "tests/support/suites.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEADS = 12, WIDTH = 48, TOKENS = 512, TIMES = 21 };

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static char *make_body(void) {
    char *body = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&body, &size);
    fputs("{\"causal\":true,\"inputs\":", out);
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        fprintf(out, "%s%.3f",
                i == 0           ? "[["
                : i % WIDTH == 0 ? "],["
                                 : ",",
                (double)(i * 7919 % 6007) / 1e3 - 3);
    fputs("]]}", out);
    ck_assert_int_eq(fclose(out), 0);
    return body;
}

static double ask(const char *url, const char *path, const char *accept, const char *body) {
    const char *const headers[] = {"Content-Type: application/json", accept, NULL};
    double began = now_ms();
    http_answer answer = http_send("POST", url, path, headers, body, strlen(body));
    double took = now_ms() - began;
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    http_done(&answer);
    return took;
}

START_TEST(picture_of_a_grid) {
    char *folder = temporary_folder(), *model = temporary_path(folder, "grid.safetensors"),
         *body = make_body(), setting[512];
    process_result made =
        process_run_attnd("init", "--d-model", "48", "--heads", "12", "--layers", "1", "-o", model, NULL);
    ck_assert_msg(made.code == 0, "%s", made.errors);
    process_result_done(&made);
    snprintf(setting, sizeof setting, "grid=%s", model);
    test_daemon daemon;
    daemon_start(&daemon, (const char *const[]){"--log-level", "error", "--model", setting, NULL}, NULL);
    double picture[TIMES], alone[TIMES];
    for (int i = -3; i < TIMES; i++) {
        double png = ask(daemon.url, "/v1/attention", "Accept: image/png", body);
        double json =
            ask(daemon.url, "/v1/attention?queries=0&outputs=false", "Accept: application/json", body);
        if (i < 0) continue;
        picture[i] = png;
        alone[i] = json;
    }
    qsort(picture, TIMES, sizeof *picture, compare);
    qsort(alone, TIMES, sizeof *alone, compare);
    double png = picture[TIMES / 2], json = alone[TIMES / 2];
    printf("%d heads, %d tokens as PNG: %.1f ms, of which the attention %.1f, the picture %.1f\n", HEADS,
           TOKENS, png, json, png - json);
    printf("{\"unit\":\"ms\",\"picture\":%.1f,\"attention\":%.1f}\n", png - json, json);
    daemon_stop(&daemon);
    free(body);
    free(model);
    temporary_remove(folder);
}
END_TEST

ATTND_SUITE(pictures) {
    Suite *suite = suite_create("pictures");
    TCase *tests = tcase_create("pictures");
    tcase_add_test(tests, picture_of_a_grid);
    suite_add_tcase(suite, tests);
    return suite;
}
