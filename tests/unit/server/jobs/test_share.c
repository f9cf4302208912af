/* A request's share of the budget: what is expected, what is used, and that the two come together as the body does. */
#include "server/jobs/share.h"
#include "suites.h"

START_TEST(what_is_expected_shrinks_to_what_is_needed) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_share share = {.budget = &budget};
    srv_budget_init(&budget, 10 << 20);
    ck_assert(srv_share_expect(&share, 8 << 20, &problem));
    ck_assert_uint_eq(srv_budget_taken(&budget), 4 << 20);
    /* A tenth of the body came and takes 200,000 bytes: all of it will take some two millions. */
    ck_assert(srv_share_take(&share, 200000, &problem));
    ck_assert_uint_eq(srv_budget_taken(&budget), 4 << 20);
    srv_share_receive(&share, (8 << 20) / 10);
    ck_assert_uint_ge(share.held, 1999000);
    ck_assert_uint_le(share.held, 2001000);
    ck_assert_uint_eq(srv_budget_taken(&budget), share.held);
    srv_share_settle(&share);
    ck_assert_uint_eq(srv_budget_taken(&budget), 200000);
    srv_share_give(&share, 50000);
    srv_share_settle(&share);
    ck_assert_uint_eq(srv_budget_taken(&budget), 150000);
}
END_TEST

START_TEST(a_body_of_unknown_length_takes_what_it_needs) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_share share = {.budget = &budget};
    srv_budget_init(&budget, 1000);
    ck_assert(srv_share_expect(&share, 0, &problem));
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
    ck_assert(srv_share_take(&share, 1000, &problem));
    srv_share_receive(&share, 1 << 20);
    ck_assert_uint_eq(srv_budget_taken(&budget), 1000);
    ck_assert(!srv_share_take(&share, 1, &problem));
    ck_assert_int_eq(problem.id, SRV_NEEDS_TOO_MUCH_MEMORY);
    ck_assert_uint_eq(share.used, 1000);
}
END_TEST

START_TEST(what_never_fits_is_told_from_what_does_not_fit_now) {
    srv_budget budget;
    srv_problem never = {0}, later = {0};
    srv_share share = {.budget = &budget}, other = {.budget = &budget};
    srv_budget_init(&budget, 1000);
    ck_assert(!srv_share_expect(&share, 2002, &never));
    ck_assert_int_eq(never.id, SRV_NEEDS_TOO_MUCH_MEMORY);
    ck_assert(srv_budget_take(&budget, 600));
    ck_assert(!srv_share_expect(&other, 1000, &later));
    ck_assert_int_eq(later.id, SRV_MEMORY_TAKEN);
    ck_assert_uint_gt(later.retry_after, 0);
    ck_assert_uint_eq(srv_budget_taken(&budget), 600);
}
END_TEST

ATTND_SUITE(share) {
    Suite *suite = suite_create("share");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, what_is_expected_shrinks_to_what_is_needed);
    tcase_add_test(cases, a_body_of_unknown_length_takes_what_it_needs);
    tcase_add_test(cases, what_never_fits_is_told_from_what_does_not_fit_now);
    suite_add_tcase(suite, cases);
    return suite;
}
