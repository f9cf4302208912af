/* What a number's text costs on one core: nanoseconds for each of some float32 as an answer has them, comma included,
 * with snprintf on the same numbers beside it, in the same run. Processor time of one thread; printed, not judged. */
#include "server/codec/part.h"
#include "server/codec/text.h"
#include "tests/support/suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* 0 … 1 */
static double next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes */
    return (double)(*state >> 8) * 0x1p-24;
}

static float like_an_output(uint32_t *state) {
    return (float)((next(state) + next(state) - 1) * 0.4);
}

static float like_a_weight(uint32_t *state) {
    return (float)(exp(3 * next(state) - 1.5) / 128);
}

static float any_bits(uint32_t *state) {
    float number;
    do {
        next(state);
        uint32_t bits = *state ^ *state >> 11;
        memcpy(&number, &bits, sizeof number);
    } while (!isfinite(number));
    return number;
}

enum { COUNT = 1 << 16, WIDTH = 1 << 10, TIMES = 41 };

static char text[COUNT * SRV_FLOAT_ROOM];

/* As rows of a tensor. */
static double write_part(const float *numbers, int digits) {
    srv_part part = {
        .view = {.data = numbers, .rank = 2, .shape = {COUNT / WIDTH, WIDTH}, .stride = {WIDTH, 1}},
        .form = SRV_FORM_LISTS,
        .precision = digits};
    double began = now_ns();
    char *end = srv_part_write(&part, 0, COUNT, text);
    double took = now_ns() - began;
    ck_assert_int_eq(end[-1], ']');
    return took;
}

static double write_with_snprintf(const float *numbers) {
    char *at = text;
    double began = now_ns();
    for (size_t k = 0; k < COUNT; k++)
        at += snprintf(at, SRV_FLOAT_ROOM, "%.9g,", (double)numbers[k]);
    return now_ns() - began;
}

START_TEST(numbers_as_text) {
    static float numbers[COUNT];
    static const struct {
        const char *name;
        float (*next)(uint32_t *state);
    } kinds[] = {{"like outputs", like_an_output}, {"like weights", like_a_weight}, {"any bits", any_bits}};
    uint32_t state = 1;
    printf("%-14s %16s %16s %16s\n", "numbers", "shortest, ns", "5 digits, ns", "snprintf, ns");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t k = 0; k < COUNT; k++)
            numbers[k] = kinds[i].next(&state);
        double shortest = INFINITY, five = INFINITY, other = INFINITY;
        for (int k = 0; k < TIMES; k++) {
            shortest = fmin(shortest, write_part(numbers, 0));
            five = fmin(five, write_part(numbers, 5));
            other = fmin(other, write_with_snprintf(numbers));
        }
        printf("%-14s %16.1f %16.1f %16.1f\n", kinds[i].name, shortest / COUNT, five / COUNT, other / COUNT);
    }
}
END_TEST

ATTND_SUITE(floats) {
    Suite *suite = suite_create("floats");
    TCase *tests = tcase_create("floats");
    tcase_add_test(tests, numbers_as_text);
    suite_add_tcase(suite, tests);
    return suite;
}
