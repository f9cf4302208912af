/* How media types are compared, and how much an Accept wants one. */
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

static srv_preference prefer(const char *accept) {
    srv_preference known = {0};
    srv_media_prefer(accept, "application/json", &known);
    return known;
}

START_TEST(the_closest_range_decides) {
    static const struct {
        const char *accept;
        int closeness, weight;
    } values[] = {
        {"*/*", 1, 1000},
        {"application/*", 2, 1000},
        {"application/json", 3, 1000},
        {"Application/JSON;charset=utf-8", 3, 1000},
        {"text/html, application/json;q=0.1", 3, 100},
        {"text/html,application/xhtml+xml,*/*;q=0.8", 1, 800},
        {"application/json;q=0", 3, 0},
        {"*/*, application/json;q=0", 3, 0},
        {"application/json;q=0.000, */*;q=1", 3, 0},
        {"application/*;q=0, */*", 2, 0},
        {"*/*;q=0", 1, 0},
        {"*/*;q=0, application/json;q=0.001", 3, 1},
        {"application/json;q=0.25;q=0.5", 3, 250},
        {"application/json; Q=0.123 ,*/*", 3, 123},
        {"application/json;q=1.000", 3, 1000},
        {"application/json;q=1.9", 3, 1000},
        {"application/json;q=0.1234", 3, 123},
        {"application/json;q=x", 3, 1000},
        {"application/json;q=0x", 3, 1000},
        {"application/json;q=", 3, 1000},
        {"application/json;q=0.2, application/json;q=0.9", 3, 200},
        {"text/html", 0, 0},
        {"text/*;q=1", 0, 0},
        {"application/jsonx", 0, 0},
        {"application/problem+json", 0, 0},
        {"json", 0, 0},
        {",,;q=1,", 0, 0},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        srv_preference found = prefer(values[i].accept);
        ck_assert_msg(found.closeness == values[i].closeness && found.weight == values[i].weight,
                      "%s: %d, %d", values[i].accept, found.closeness, found.weight);
    }
}
END_TEST

START_TEST(several_lines_are_one) {
    srv_preference known = prefer("*/*;q=0.5");
    srv_media_prefer("application/json;q=0.2", "application/json", &known);
    srv_media_prefer("application/*", "application/json", &known);
    ck_assert_int_eq(known.closeness, 3);
    ck_assert_int_eq(known.weight, 200);
}
END_TEST

START_TEST(blanks_say_nothing) {
    ck_assert(srv_media_is_nothing(NULL));
    ck_assert(srv_media_is_nothing(""));
    ck_assert(srv_media_is_nothing(" \t"));
    ck_assert(!srv_media_is_nothing(" x"));
}
END_TEST

START_TEST(codings_have_names) {
    static const struct {
        const char *value;
        srv_coding coding;
    } known[] = {
        {NULL, SRV_CODING_IDENTITY}, {"", SRV_CODING_IDENTITY},     {"Identity", SRV_CODING_IDENTITY},
        {"gzip", SRV_CODING_GZIP},   {" X-GZip ", SRV_CODING_GZIP}, {"deflate", SRV_CODING_DEFLATE},
    };
    static const char *const others[] = {"br", "gzip, gzip", "identity, gzip", "gzi", "gzipped"};
    srv_coding found;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_msg(srv_coding_of(known[i].value, &found), "%s", known[i].value);
        ck_assert_msg(found == known[i].coding, "%s", known[i].value);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!srv_coding_of(others[i], &found), "%s", others[i]);
}
END_TEST

ATTND_SUITE(media) {
    Suite *suite = suite_create("media");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, types_are_compared_without_case_and_parameters);
    tcase_add_test(cases, the_closest_range_decides);
    tcase_add_test(cases, several_lines_are_one);
    tcase_add_test(cases, blanks_say_nothing);
    tcase_add_test(cases, codings_have_names);
    suite_add_tcase(suite, cases);
    return suite;
}
