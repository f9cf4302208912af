/* What a number's text costs on one core: nanoseconds for each of some float32 as an answer has them, comma included. */
#include "server/codec/text.h"
#include "tests/support/suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1 << 16, TIMES = 41 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
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

/* The least of several times: what others do on this machine only adds. */
static double cost(const float *numbers, int digits) {
    static char text[COUNT * SRV_FLOAT_ROOM];
    double best = INFINITY;
    for (int i = 0; i < TIMES; i++) {
        char *at = text;
        double began = now_ns();
        for (size_t k = 0; k < COUNT; k++) {
            at += srv_float_write(numbers[k], digits, at);
            *at++ = ',';
        }
        best = fmin(best, (now_ns() - began) / COUNT);
        ck_assert_int_eq(at[-1], ',');
    }
    return best;
}

START_TEST(numbers_as_text) {
    static float numbers[COUNT];
    static const struct {
        const char *name;
        float (*next)(uint32_t *state);
    } kinds[] = {{"like outputs", like_an_output}, {"like weights", like_a_weight}, {"any bits", any_bits}};
    uint32_t state = 1;
    printf("%-14s %16s %16s\n", "numbers", "shortest, ns", "5 digits, ns");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t k = 0; k < COUNT; k++)
            numbers[k] = kinds[i].next(&state);
        printf("%-14s %16.1f %16.1f\n", kinds[i].name, cost(numbers, 0), cost(numbers, 5));
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
