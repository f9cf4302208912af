/* The shared limit holds under several threads, and nothing of it is lost. */
#include "server/jobs/budget.h"
#include "suites.h"

#include <pthread.h>
#include <stdint.h>

START_TEST(taking_stops_at_the_limit) {
    srv_budget budget;
    srv_budget_init(&budget, 10);
    ck_assert(srv_budget_take(&budget, 7));
    ck_assert(!srv_budget_take(&budget, 4));
    ck_assert(!srv_budget_take(&budget, SIZE_MAX));
    ck_assert(srv_budget_take(&budget, 3));
    ck_assert(srv_budget_take(&budget, 0));
    ck_assert_uint_eq(srv_budget_taken(&budget), 10);
    srv_budget_give(&budget, 10);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
}
END_TEST

START_TEST(a_holding_grows_and_shrinks) {
    srv_budget budget;
    size_t held = 0;
    srv_budget_init(&budget, 10);
    ck_assert(srv_budget_change(&budget, &held, 8));
    ck_assert_uint_eq(held, 8);
    ck_assert(!srv_budget_change(&budget, &held, 11));
    ck_assert_uint_eq(held, 8);
    ck_assert_uint_eq(srv_budget_taken(&budget), 8);
    ck_assert(srv_budget_change(&budget, &held, 3));
    ck_assert_uint_eq(srv_budget_taken(&budget), 3);
    ck_assert(srv_budget_change(&budget, &held, 0));
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
}
END_TEST

static void *take_and_give(void *context) {
    srv_budget *budget = context;
    size_t refused = 0;
    for (int i = 0; i < 20000; i++) {
        if (!srv_budget_take(budget, 3)) {
            refused++;
            continue;
        }
        if (srv_budget_taken(budget) > 10) return NULL;
        srv_budget_give(budget, 3);
    }
    return (void *)(refused < 20000 ? budget : NULL);
}

START_TEST(threads_never_pass_the_limit) {
    srv_budget budget;
    pthread_t threads[4];
    srv_budget_init(&budget, 10);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, &budget), 0);
    for (int i = 0; i < 4; i++) {
        void *kept;
        pthread_join(threads[i], &kept);
        ck_assert_ptr_eq(kept, &budget);
    }
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
}
END_TEST

static size_t told;

static void note_trim(size_t most) {
    told = most;
}

START_TEST(what_is_kept_beside_gives_way) {
    srv_budget budget;
    srv_budget_init(&budget, 100);
    budget.trim = note_trim;
    ck_assert(srv_budget_take(&budget, 30));
    ck_assert_uint_eq(told, 70);
    ck_assert(!srv_budget_take(&budget, 71));
    ck_assert_uint_eq(told, 70);
    size_t held = 30;
    ck_assert(srv_budget_change(&budget, &held, 90));
    ck_assert_uint_eq(told, 10);
    ck_assert(srv_budget_change(&budget, &held, 0));
    ck_assert_uint_eq(told, 10);
}
END_TEST

ATTND_SUITE(budget) {
    Suite *suite = suite_create("budget");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, taking_stops_at_the_limit);
    tcase_add_test(cases, a_holding_grows_and_shrinks);
    tcase_add_test(cases, threads_never_pass_the_limit);
    tcase_add_test(cases, what_is_kept_beside_gives_way);
    suite_add_tcase(suite, cases);
    return suite;
}
