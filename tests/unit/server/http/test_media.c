/* Which Content-Types are read as JSON, and what an Accept lets through. */
#include "server/http/media.h"
#include "suites.h"

#include <stdbool.h>
#include <stddef.h>

START_TEST(types_are_compared_without_case_and_parameters) {
    ck_assert(srv_media_is("application/json", "application/json"));
    ck_assert(srv_media_is("Application/JSON; charset=utf-8", "application/json"));
    ck_assert(srv_media_is(" application/json ;q=1", "application/json"));
    ck_assert(!srv_media_is("application/json5", "application/json"));
    ck_assert(!srv_media_is("application/json x", "application/json"));
    ck_assert(!srv_media_is("application/jso", "application/json"));
}
END_TEST

START_TEST(json_comes_under_several_names) {
    ck_assert(srv_media_is_json(NULL));
    ck_assert(srv_media_is_json(""));
    ck_assert(srv_media_is_json("application/json"));
    ck_assert(srv_media_is_json("text/plain;charset=UTF-8"));
    ck_assert(srv_media_is_json("application/x-www-form-urlencoded"));
    ck_assert(!srv_media_is_json("application/x-npy"));
    ck_assert(!srv_media_is_json("multipart/form-data; boundary=x"));
    ck_assert(!srv_media_is_json("application/problem+json"));
}
END_TEST

START_TEST(the_closest_range_decides) {
    static const char type[] = "application/json";
    static const struct {
        const char *accept;
        bool accepted;
    } values[] = {
        {NULL, true},
        {"", true},
        {" ", true},
        {"*/*", true},
        {"application/*", true},
        {"application/json", true},
        {"Application/JSON;charset=utf-8", true},
        {"text/html, application/json;q=0.1", true},
        {"text/html,application/xhtml+xml,*/*;q=0.8", true},
        {"application/json;q=0", false},
        {"*/*, application/json;q=0", false},
        {"application/json;q=0.000, */*;q=1", false},
        {"application/*;q=0, */*", false},
        {"*/*;q=0", false},
        {"*/*;q=0, application/json;q=0.001", true},
        {"text/html", false},
        {"text/*;q=1", false},
        {"application/jsonx", false},
        {"application/problem+json", false},
        {"json", false},
        {",,;q=1,", false},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        ck_assert_msg(srv_media_is_accepted(values[i].accept, type) == values[i].accepted, "%s",
                      values[i].accept);
}
END_TEST

START_TEST(no_coding_is_identity) {
    ck_assert(srv_coding_is_identity(NULL));
    ck_assert(srv_coding_is_identity(""));
    ck_assert(srv_coding_is_identity("Identity"));
    ck_assert(!srv_coding_is_identity("gzip"));
    ck_assert(!srv_coding_is_identity("identity, gzip"));
}
END_TEST

ATTND_SUITE(media) {
    Suite *suite = suite_create("media");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, types_are_compared_without_case_and_parameters);
    tcase_add_test(cases, json_comes_under_several_names);
    tcase_add_test(cases, the_closest_range_decides);
    tcase_add_test(cases, no_coding_is_identity);
    suite_add_tcase(suite, cases);
    return suite;
}
