/* The token bucket by a clock of the test's own, and under several threads. */
#include "server/auth/rate.h"
#include "suites.h"

#include <pthread.h>
#include <stddef.h>

#define SECOND 1000000000ULL

START_TEST(burst_then_pace) {
    srv_rate rate;
    uint64_t wait, now = 1000 * SECOND;
    srv_rate_init(&rate, 2, 3);
    for (int i = 0; i < 3; i++)
        ck_assert(srv_rate_take(&rate, now, &wait));
    ck_assert(!srv_rate_take(&rate, now, &wait));
    ck_assert_uint_eq(wait, SECOND / 2);
    /* Being refused costs nothing: to the nanosecond it is let in when it was told. */
    ck_assert(!srv_rate_take(&rate, now + wait - 1, &(uint64_t){0}));
    now += wait;
    ck_assert(srv_rate_take(&rate, now, &wait));
    ck_assert_uint_eq(wait, 0);
    ck_assert(!srv_rate_take(&rate, now, &wait));
    /* However long the rest, the burst is no larger after it. */
    now += 1000 * SECOND;
    for (int i = 0; i < 3; i++)
        ck_assert(srv_rate_take(&rate, now, &wait));
    ck_assert(!srv_rate_take(&rate, now, &wait));
}
END_TEST

START_TEST(none_is_no_limit) {
    srv_rate rate = {0};
    uint64_t wait;
    for (int i = 0; i < 1000; i++)
        ck_assert(srv_rate_take(&rate, 5, &wait));
}
END_TEST

/* The ends of what a file may say: no wrapping. */
START_TEST(extremes) {
    srv_rate rate;
    uint64_t wait;
    srv_rate_init(&rate, 1e-4, 1e6);
    for (int i = 0; i < 1000; i++)
        ck_assert(srv_rate_take(&rate, SECOND, &wait));
    srv_rate_init(&rate, 1e-4, 1);
    ck_assert(srv_rate_take(&rate, SECOND, &wait));
    ck_assert(!srv_rate_take(&rate, SECOND, &wait));
    ck_assert_uint_eq(wait, 10000 * SECOND);
    srv_rate_init(&rate, 1e6, 1);
    ck_assert(srv_rate_take(&rate, SECOND, &wait));
    ck_assert(!srv_rate_take(&rate, SECOND + 999, &wait));
    ck_assert(srv_rate_take(&rate, SECOND + 1000, &wait));
}
END_TEST

enum { THREADS = 4, TAKES = 5000, BURST = 7777 };

static srv_rate shared;

static void *take(void *context) {
    size_t *passed = context;
    uint64_t wait;
    for (int i = 0; i < TAKES; i++)
        *passed += srv_rate_take(&shared, SECOND, &wait);
    return NULL;
}

/* No token is given twice and none lost. */
START_TEST(threads_share_it) {
    pthread_t threads[THREADS];
    size_t passed[THREADS] = {0}, all = 0;
    srv_rate_init(&shared, 1, BURST);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take, &passed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += passed[i];
    }
    ck_assert_uint_eq(all, BURST);
}
END_TEST

ATTND_SUITE(rate) {
    Suite *suite = suite_create("rate");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, burst_then_pace);
    tcase_add_test(tests, none_is_no_limit);
    tcase_add_test(tests, extremes);
    tcase_add_test(tests, threads_share_it);
    suite_add_tcase(suite, tests);
    return suite;
}
