/* Targets: what is path and what is query, and which paths a pattern takes. */
#include "server/http/target.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

/* The path and query of a target as "path|query", "-" where there is no query. */
static const char *split(const char *raw) {
    static char text[256];
    srv_target target = srv_target_split(raw);
    snprintf(text, sizeof text, "%.*s|%.*s", (int)target.path_size, target.path,
             target.query ? (int)target.query_size : 1, target.query ? target.query : "-");
    return text;
}

START_TEST(path_and_query_are_told_apart) {
    ck_assert_str_eq(split("/a/b?c=d"), "/a/b|c=d");
    ck_assert_str_eq(split("/a"), "/a|-");
    ck_assert_str_eq(split("/a?"), "/a|");
    ck_assert_str_eq(split("/a?b?c"), "/a|b?c");
    ck_assert_str_eq(split("*"), "*|-");
    ck_assert_str_eq(split(""), "|-");
}
END_TEST

START_TEST(absolute_form_loses_its_authority) {
    ck_assert_str_eq(split("http://host:80/a?b"), "/a|b");
    ck_assert_str_eq(split("HTTPS://host/a"), "/a|-");
    ck_assert_str_eq(split("http://host"), "/|-");
    ck_assert_str_eq(split("http://host?q"), "/|q");
    ck_assert_str_eq(split("/http://host/a"), "/http://host/a|-");
}
END_TEST

static bool matches(const char *raw, const char *pattern, char parameter[SRV_PARAMETER_SIZE]) {
    srv_target target = srv_target_split(raw);
    srv_parameters parameters;
    if (!srv_target_matches(&target, pattern, &parameters)) return false;
    if (strchr(pattern, '{')) memcpy(parameter, parameters.text[0], SRV_PARAMETER_SIZE);
    return true;
}

START_TEST(patterns_match_whole_paths) {
    char parameter[SRV_PARAMETER_SIZE] = "untouched";
    ck_assert(matches("/livez", "/livez", parameter));
    ck_assert(matches("/livez?verbose=1", "/livez", parameter));
    ck_assert(!matches("/livez/", "/livez", parameter));
    ck_assert(!matches("/live", "/livez", parameter));
    ck_assert(!matches("//livez", "/livez", parameter));
    ck_assert(!matches("/LIVEZ", "/livez", parameter));
    ck_assert(!matches("", "/", parameter));
    ck_assert(matches("/", "/", parameter));
    ck_assert_str_eq(parameter, "untouched");
}
END_TEST

START_TEST(a_segment_becomes_the_parameter) {
    static const char pattern[] = "/v1/models/{model}/example";
    char parameter[SRV_PARAMETER_SIZE] = "untouched";
    ck_assert(matches("/v1/models/my-model.2/example", pattern, parameter));
    ck_assert_str_eq(parameter, "my-model.2");
    ck_assert(matches("/v1/models/a%2Db%20c/example", pattern, parameter));
    ck_assert_str_eq(parameter, "a-b c");
    ck_assert(!matches("/v1/models//example", pattern, parameter));
    ck_assert(!matches("/v1/models/a/b/example", pattern, parameter));
    ck_assert(!matches("/v1/models/a", pattern, parameter));
    ck_assert_str_eq(parameter, "a-b c");
    ck_assert(matches("/m/x", "/m/{model}", parameter));
    ck_assert_str_eq(parameter, "x");
}
END_TEST

START_TEST(two_segments_become_parameters) {
    static const char pattern[] = "/v1/models/{model}/layers/{layer}";
    srv_target target = srv_target_split("/v1/models/a%2Eb/layers/decoder.3.cross?x");
    srv_parameters parameters = {{"untouched", "untouched"}};
    ck_assert(srv_target_matches(&target, pattern, &parameters));
    ck_assert_str_eq(parameters.text[0], "a.b");
    ck_assert_str_eq(parameters.text[1], "decoder.3.cross");
    static const char *const others[] = {"/v1/models/a/layers/", "/v1/models//layers/0",
                                         "/v1/models/c/layers/%00", "/v1/models/c/layers/0/1",
                                         "/v1/models/c/layer/0"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        target = srv_target_split(others[i]);
        ck_assert_msg(!srv_target_matches(&target, pattern, &parameters), "%s", others[i]);
    }
    ck_assert_str_eq(parameters.text[0], "a.b");
    ck_assert_str_eq(parameters.text[1], "decoder.3.cross");
}
END_TEST

START_TEST(bad_escapes_match_nothing) {
    static const char *const bad[] = {"/m/%", "/m/%4", "/m/a%zz", "/m/%00", "/m/a%00b", "/m/%2F", "/m/%2fx"};
    char parameter[SRV_PARAMETER_SIZE];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!matches(bad[i], "/m/{model}", parameter), "%s", bad[i]);
}
END_TEST

START_TEST(an_overlong_segment_matches_nothing) {
    char raw[256] = "/m/", parameter[SRV_PARAMETER_SIZE];
    memset(raw + 3, 'a', SRV_PARAMETER_SIZE - 1);
    ck_assert(matches(raw, "/m/{model}", parameter));
    ck_assert_uint_eq(strlen(parameter), SRV_PARAMETER_SIZE - 1);
    raw[3 + SRV_PARAMETER_SIZE - 1] = 'a';
    ck_assert(!matches(raw, "/m/{model}", parameter));
}
END_TEST

START_TEST(a_segment_that_nobody_reads_may_be_anything) {
    char raw[256] = "/m/";
    memset(raw + 3, 'a', SRV_PARAMETER_SIZE);
    const char *const segments[] = {raw, "/m/%2F", "/m/%", "/m/%00"};
    for (size_t i = 0; i < sizeof segments / sizeof segments[0]; i++) {
        srv_target target = srv_target_split(segments[i]);
        ck_assert_msg(srv_target_matches(&target, "/m/{model}", NULL), "%s", segments[i]);
    }
    srv_target nothing = srv_target_split("/m/"), more = srv_target_split("/m/a/b");
    ck_assert(!srv_target_matches(&nothing, "/m/{model}", NULL));
    ck_assert(!srv_target_matches(&more, "/m/{model}", NULL));
}
END_TEST

ATTND_SUITE(target) {
    Suite *suite = suite_create("target");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, path_and_query_are_told_apart);
    tcase_add_test(cases, absolute_form_loses_its_authority);
    tcase_add_test(cases, patterns_match_whole_paths);
    tcase_add_test(cases, a_segment_becomes_the_parameter);
    tcase_add_test(cases, two_segments_become_parameters);
    tcase_add_test(cases, bad_escapes_match_nothing);
    tcase_add_test(cases, an_overlong_segment_matches_nothing);
    tcase_add_test(cases, a_segment_that_nobody_reads_may_be_anything);
    suite_add_tcase(suite, cases);
    return suite;
}
