/* Which Content-Types are read as JSON. */
#include "server/http/media.h"
#include "suites.h"

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

ATTND_SUITE(media) {
    Suite *suite = suite_create("media");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, types_are_compared_without_case_and_parameters);
    tcase_add_test(cases, json_comes_under_several_names);
    suite_add_tcase(suite, cases);
    return suite;
}
