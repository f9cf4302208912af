/* Origins and Host names: what is let through, and the near misses. */
#include "server/http/origin.h"
#include "suites.h"

static const char *const DEFAULTS[] = {"http://localhost:*", "http://127.0.0.1:*"};
static const srv_patterns DEFAULT = {DEFAULTS, 2};

START_TEST(default_origins) {
    ck_assert(srv_origin_is_allowed(DEFAULT, "http://localhost"));
    ck_assert(srv_origin_is_allowed(DEFAULT, "http://localhost:5173"));
    ck_assert(srv_origin_is_allowed(DEFAULT, "HTTP://LOCALHOST:1"));
    ck_assert(srv_origin_is_allowed(DEFAULT, "http://127.0.0.1:3000"));
    ck_assert(!srv_origin_is_allowed(DEFAULT, "https://localhost:5173"));
    ck_assert(!srv_origin_is_allowed(DEFAULT, "http://localhost.evil.example"));
    ck_assert(!srv_origin_is_allowed(DEFAULT, "http://localhost:80.evil.example"));
    ck_assert(!srv_origin_is_allowed(DEFAULT, "http://localhost:"));
    ck_assert(!srv_origin_is_allowed(DEFAULT, "http://localhost:123456"));
    ck_assert(!srv_origin_is_allowed(DEFAULT, "null"));
    ck_assert(!srv_origin_is_allowed(DEFAULT, ""));
}
END_TEST

START_TEST(configured_origins) {
    const char *const exact[] = {"https://app.example:8443", "null"};
    const srv_patterns list = {exact, 2};
    ck_assert(srv_origin_is_allowed(list, "https://app.example:8443"));
    ck_assert(srv_origin_is_allowed(list, "null"));
    ck_assert(!srv_origin_is_allowed(list, "https://app.example"));
    const char *const any[] = {"*"};
    ck_assert(srv_origin_is_allowed((srv_patterns){any, 1}, "https://whoever.example"));
    ck_assert(!srv_origin_is_allowed((srv_patterns){any, 1}, "null"));
    ck_assert(!srv_origin_is_allowed((srv_patterns){NULL, 0}, "http://localhost"));
}
END_TEST

START_TEST(own_origin) {
    ck_assert(srv_origin_is_own("http://box:8080", "box:8080"));
    ck_assert(srv_origin_is_own("https://Box", "box"));
    ck_assert(!srv_origin_is_own("http://box:8080", "box"));
    ck_assert(!srv_origin_is_own("null", "null"));
}
END_TEST

START_TEST(valid_hosts) {
    const char *const valid[] = {"localhost", "a.b-c.example:8080", "127.0.0.1:1",
                                 "[::1]",     "[::1]:8080",         "x:"};
    const char *const invalid[] = {"",     ":80",   "a b",    "a/b", "a:b", "a:123456",
                                   "[::1", "[]:80", "[::1]x", "a@b", "a,b", "[::1]:x"};
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++)
        ck_assert_msg(srv_host_is_valid(valid[i]), "%s", valid[i]);
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        ck_assert_msg(!srv_host_is_valid(invalid[i]), "%s", invalid[i]);
}
END_TEST

START_TEST(loopback_hosts) {
    const char *const ours[] = {"localhost", "LOCALHOST:8080", "app.localhost",
                                "127.0.0.1", "127.9.9.9:80",   "[::1]:1"};
    const char *const others[] = {"evil.example", "localhost.evil.example",
                                  "128.0.0.1",    "127.0.0.1.evil.example",
                                  "notlocalhost", "[::2]",
                                  "0.0.0.0",      "127.1"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        ck_assert_msg(srv_host_is_loopback(ours[i]), "%s", ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(!srv_host_is_loopback(others[i]), "%s", others[i]);
}
END_TEST

START_TEST(listed_hosts) {
    const char *const names[] = {"api.example", "[2001:db8::1]"};
    const srv_patterns list = {names, 2};
    ck_assert(srv_host_is_listed(list, "API.example:443"));
    ck_assert(srv_host_is_listed(list, "[2001:db8::1]:80"));
    ck_assert(!srv_host_is_listed(list, "x.api.example"));
    const char *const any[] = {"*"};
    ck_assert(srv_host_is_listed((srv_patterns){any, 1}, "whatever"));
}
END_TEST

ATTND_SUITE(origin) {
    Suite *suite = suite_create("origin");
    TCase *tcase = tcase_create("origin");
    tcase_add_test(tcase, default_origins);
    tcase_add_test(tcase, configured_origins);
    tcase_add_test(tcase, own_origin);
    tcase_add_test(tcase, valid_hosts);
    tcase_add_test(tcase, loopback_hosts);
    tcase_add_test(tcase, listed_hosts);
    suite_add_tcase(suite, tcase);
    return suite;
}
