/* Repeats: how many pass in a second, and that every one that does not is told once. */
#include "server/obs/repeats.h"
#include "suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static srv_repeats repeats;

static void start(void) {
    srv_repeats_init(&repeats);
}

static void stop(void) {
    srv_repeats_done(&repeats);
}

/* How many of `times` events pass at this moment. */
static size_t passing(const char *reason, size_t times, double now) {
    size_t passed = 0;
    for (size_t i = 0; i < times; i++)
        passed += srv_repeats_pass(&repeats, "request", reason, now);
    return passed;
}

START_TEST(a_second_lets_a_few_through) {
    srv_repeat told;
    ck_assert_uint_eq(passing("bad_json", 1000, 5000), SRV_REPEATS_MOST);
    ck_assert_uint_eq(passing("bad_json", 5, 5999), 0);
    ck_assert(!srv_repeats_take(&repeats, 5999, &told));
    ck_assert(srv_repeats_take(&repeats, 6000, &told));
    ck_assert_str_eq(told.event, "request");
    ck_assert_str_eq(told.reason, "bad_json");
    ck_assert_uint_eq(told.left_out, 1005 - SRV_REPEATS_MOST);
    ck_assert(!srv_repeats_take(&repeats, 7000, &told));
    ck_assert_uint_eq(passing("bad_json", 20, 6000), SRV_REPEATS_MOST);
}
END_TEST

START_TEST(few_lose_nothing) {
    srv_repeat told;
    for (int second = 0; second < 5; second++)
        ck_assert_uint_eq(passing("bad_json", SRV_REPEATS_MOST, second * 1000.0), SRV_REPEATS_MOST);
    ck_assert(!srv_repeats_take(&repeats, INFINITY, &told));
}
END_TEST

START_TEST(kinds_do_not_take_each_others_places) {
    srv_repeat told;
    ck_assert_uint_eq(passing("bad_json", 100, 0), SRV_REPEATS_MOST);
    ck_assert_uint_eq(passing("not_found", 3, 0), 3);
    ck_assert(srv_repeats_pass(&repeats, "microhttpd", "bad_json", 0));
    ck_assert(srv_repeats_take(&repeats, INFINITY, &told));
    ck_assert_str_eq(told.reason, "bad_json");
    ck_assert_uint_eq(told.left_out, 100 - SRV_REPEATS_MOST);
    ck_assert(!srv_repeats_take(&repeats, INFINITY, &told));
}
END_TEST

/* What is left out while nobody takes is not lost when the next second begins. */
START_TEST(counts_last_until_told) {
    srv_repeat told;
    passing("cut", 50, 0);
    passing("cut", 50, 1500);
    ck_assert(!srv_repeats_take(&repeats, 1600, &told));
    ck_assert(srv_repeats_take(&repeats, 2500, &told));
    ck_assert_uint_eq(told.left_out, 100 - 2 * SRV_REPEATS_MOST);
}
END_TEST

START_TEST(more_kinds_than_places_share_the_last) {
    static char reasons[SRV_REPEATS_KINDS + 8][16];
    size_t passed = 0, left_out = 0;
    srv_repeat told;
    for (size_t i = 0; i < SRV_REPEATS_KINDS + 8; i++) {
        snprintf(reasons[i], sizeof reasons[i], "r%zu", i);
        passed += passing(reasons[i], 20, 0);
    }
    while (srv_repeats_take(&repeats, INFINITY, &told))
        left_out += told.left_out;
    ck_assert_uint_eq(passed, SRV_REPEATS_KINDS * SRV_REPEATS_MOST);
    ck_assert_uint_eq(passed + left_out, (SRV_REPEATS_KINDS + 8) * 20);
}
END_TEST

ATTND_SUITE(repeats) {
    Suite *suite = suite_create("repeats");
    TCase *cases = tcase_create("all");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, a_second_lets_a_few_through);
    tcase_add_test(cases, few_lose_nothing);
    tcase_add_test(cases, kinds_do_not_take_each_others_places);
    tcase_add_test(cases, counts_last_until_told);
    tcase_add_test(cases, more_kinds_than_places_share_the_last);
    suite_add_tcase(suite, cases);
    return suite;
}
