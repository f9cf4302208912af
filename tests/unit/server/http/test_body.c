/* Collecting a body: every byte is counted before it is there, and all of them go back. */
#include "server/http/body.h"
#include "suites.h"

#include <string.h>

START_TEST(pieces_make_the_body) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_body body = {0};
    srv_budget_init(&budget, 100000);
    char piece[3000];
    for (int i = 0; i < 10; i++) {
        memset(piece, 'a' + i, sizeof piece);
        ck_assert(srv_body_append(&body, &budget, piece, sizeof piece, &problem));
        ck_assert_uint_ge(srv_budget_taken(&budget), body.capacity);
    }
    ck_assert_uint_eq(body.size, 30000);
    for (size_t i = 0; i < body.size; i++)
        ck_assert_int_eq(body.data[i], 'a' + (int)(i / 3000));
    srv_body_done(&body, &budget);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
    ck_assert_ptr_null(body.data);
}
END_TEST

START_TEST(a_declared_length_is_taken_at_once_and_no_more) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_body body = {0};
    srv_budget_init(&budget, 10000);
    ck_assert(srv_body_expect(&body, &budget, 10000, &problem));
    ck_assert_uint_eq(srv_budget_taken(&budget), 10000);
    ck_assert_ptr_null(body.data);
    char piece[2500] = {0};
    for (int i = 0; i < 4; i++)
        ck_assert(srv_body_append(&body, &budget, piece, sizeof piece, &problem));
    ck_assert_uint_eq(body.capacity, 10000);
    ck_assert_uint_eq(srv_budget_taken(&budget), 10000);
    srv_body_done(&body, &budget);
}
END_TEST

START_TEST(what_never_fits_is_told_from_what_does_not_fit_now) {
    srv_budget budget;
    srv_problem never = {0}, later = {0};
    srv_body body = {0}, other = {0};
    srv_budget_init(&budget, 1000);
    ck_assert(!srv_body_expect(&body, &budget, 1001, &never));
    ck_assert_int_eq(never.id, SRV_NEEDS_TOO_MUCH_MEMORY);
    ck_assert(srv_budget_take(&budget, 600));
    ck_assert(!srv_body_expect(&other, &budget, 500, &later));
    ck_assert_int_eq(later.id, SRV_MEMORY_TAKEN);
    ck_assert_uint_gt(later.retry_after, 0);
    ck_assert_uint_eq(srv_budget_taken(&budget), 600);
}
END_TEST

START_TEST(growth_beyond_the_budget_is_refused) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_body body = {0};
    srv_budget_init(&budget, 6000);
    char piece[4096] = {0};
    ck_assert(srv_body_append(&body, &budget, piece, sizeof piece, &problem));
    ck_assert(!srv_body_append(&body, &budget, piece, sizeof piece, &problem));
    ck_assert_int_eq(problem.id, SRV_NEEDS_TOO_MUCH_MEMORY);
    ck_assert_uint_eq(body.size, 4096);
    srv_body_done(&body, &budget);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
}
END_TEST

ATTND_SUITE(body) {
    Suite *suite = suite_create("body");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, pieces_make_the_body);
    tcase_add_test(cases, a_declared_length_is_taken_at_once_and_no_more);
    tcase_add_test(cases, what_never_fits_is_told_from_what_does_not_fit_now);
    tcase_add_test(cases, growth_beyond_the_budget_is_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
