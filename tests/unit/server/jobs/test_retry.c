/* When refused clients are told to come back. */
#include "server/jobs/retry.h"
#include "suites.h"

START_TEST(the_queue_divided_by_the_workers) {
    ck_assert_uint_eq(srv_retry_after(0, 0, 4), 1);
    ck_assert_uint_eq(srv_retry_after(100, 5, 1), 1);
    ck_assert_uint_eq(srv_retry_after(1000, 8, 4), 2);
    ck_assert_uint_eq(srv_retry_after(1000, 9, 4), 3);
    ck_assert_uint_eq(srv_retry_after(1000, 8, 0), 8);
    ck_assert_uint_eq(srv_retry_after(60000, 64, 1), 30);
    ck_assert_uint_eq(srv_retry_after(1e300, (size_t)-1, 1), 30);
}
END_TEST

ATTND_SUITE(retry) {
    Suite *suite = suite_create("retry");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, the_queue_divided_by_the_workers);
    suite_add_tcase(suite, cases);
    return suite;
}
