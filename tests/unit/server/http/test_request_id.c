/* Request ids: whose is echoed, and that new ones differ. */
#include "server/http/request_id.h"
#include "suites.h"

#include <stddef.h>
#include <string.h>

START_TEST(a_fit_id_is_echoed) {
    char id[SRV_REQUEST_ID_SIZE], longest[SRV_REQUEST_ID_SIZE];
    srv_request_id(id, "a-b:~!");
    ck_assert_str_eq(id, "a-b:~!");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    srv_request_id(id, longest);
    ck_assert_str_eq(id, longest);
}
END_TEST

START_TEST(others_are_replaced) {
    char too_long[SRV_REQUEST_ID_SIZE + 1];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    const char *const unfit[] = {NULL, "", "a b", "tab\t", "ä", "line\n", too_long};
    char id[SRV_REQUEST_ID_SIZE], before[SRV_REQUEST_ID_SIZE] = "";
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++) {
        srv_request_id(id, unfit[i]);
        ck_assert_uint_eq(strlen(id), 32);
        ck_assert_uint_eq(strspn(id, "0123456789abcdef"), 32);
        ck_assert_str_ne(id, before);
        memcpy(before, id, sizeof before);
    }
}
END_TEST

ATTND_SUITE(request_id) {
    Suite *suite = suite_create("request_id");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, a_fit_id_is_echoed);
    tcase_add_test(cases, others_are_replaced);
    suite_add_tcase(suite, cases);
    return suite;
}
