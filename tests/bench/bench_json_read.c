/* What reading a number of a JSON tensor takes: feeding a body in pieces as they arrive, with strtod on the same text
 * beside it, in the same run. Processor time of one thread, the best of several; printed, not judged. */
#include "tests/support/decoding.h"
#include "tests/support/suites.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 1024, WIDTH = 768, NUMBERS = ROWS * WIDTH, TIMES = 15, PIECE = 32 << 10 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* As Python's json.dumps writes float64 (17 digits), or as float32 is often written (9). */
static char *make_body(int digits, size_t *size) {
    char *body = malloc((size_t)NUMBERS * 28 + 64), *at = body;
    uint64_t state = 88172645463325252;
    at += sprintf(at, "{\"inputs\":[");
    for (int i = 0; i < NUMBERS; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double value = 4 * ((double)(state >> 11) / 0x1p53) - 2;
        const char *before = i == 0 ? "[" : i % WIDTH == 0 ? "],[" : ",";
        at += sprintf(at, "%s%.*g", before, digits, value);
    }
    at += sprintf(at, "]]}");
    *size = (size_t)(at - body);
    return body;
}

static double read_body(const char *body, size_t size) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &budget, 0);
    double began = now_ns();
    for (size_t at = 0; at < size; at += PIECE)
        ck_assert(srv_decoder_feed(decoder, body + at, size - at < PIECE ? size - at : PIECE, &problem));
    double took = now_ns() - began;
    srv_decoder_free(decoder);
    return took;
}

static double read_with_strtod(const char *body) {
    double sum = 0, began = now_ns();
    char *end;
    for (const char *at = strchr(body, '['); *at != '\0'; at++)
        if (*at != '[' && *at != ']' && *at != ',' && *at != '}') {
            sum += strtod(at, &end);
            at = end - 1;
        }
    double took = now_ns() - began;
    ck_assert(isfinite(sum));
    return took;
}

START_TEST(numbers) {
    static const int digits[] = {9, 17};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        char *body = make_body(digits[i], &size);
        double best = INFINITY, other = INFINITY;
        for (int k = 0; k < TIMES; k++) {
            best = fmin(best, read_body(body, size));
            other = fmin(other, read_with_strtod(body));
        }
        printf("reading %d-digit numbers of JSON tensors: %.1f ns each; strtod takes %.1f\n", digits[i],
               best / NUMBERS, other / NUMBERS);
        free(body);
    }
}
END_TEST

ATTND_SUITE(json_read) {
    Suite *suite = suite_create("json_read");
    TCase *tests = tcase_create("json_read");
    tcase_add_test(tests, numbers);
    suite_add_tcase(suite, tests);
    return suite;
}
