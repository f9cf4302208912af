/* The table of formats: which row a Content-Type chooses, whose a parameter is, and how the types are listed. */
#include "server/codec/codec.h"
#include "suites.h"

#include <string.h>

static bool decode(const srv_source *source, srv_ask **out, srv_problem *problem) {
    (void)source, (void)out, (void)problem;
    return false;
}

static bool encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    (void)outcome, (void)parts, (void)problem;
    return false;
}

static const char *const also[] = {"text/plain", NULL}, *const colours[] = {"map", "scale", NULL},
                         *const maps[] = {"map", NULL};
static const srv_codec rows[] = {
    {.type = "a/first", .also = also, .decode = decode, .encode = encode},
    {.type = "a/read", .decode = decode},
    {.type = "a/written", .parameters = colours, .encode = encode},
    {.type = "a/last", .parameters = maps, .decode = decode, .encode = encode},
};
static const srv_codecs codecs = {rows, sizeof rows / sizeof *rows};

START_TEST(a_content_type_chooses_a_row) {
    ck_assert_ptr_eq(srv_codec_of_body(&codecs, NULL), rows);
    ck_assert_ptr_eq(srv_codec_of_body(&codecs, " "), rows);
    ck_assert_ptr_eq(srv_codec_of_body(&codecs, "text/plain;charset=UTF-8"), rows);
    ck_assert_ptr_eq(srv_codec_of_body(&codecs, "A/Read"), rows + 1);
    ck_assert_ptr_eq(srv_codec_of_body(&codecs, "a/last; x=y"), rows + 3);
    ck_assert_ptr_null(srv_codec_of_body(&codecs, "a/written"));
    ck_assert_ptr_null(srv_codec_of_body(&codecs, "a/lasts"));
}
END_TEST

START_TEST(json_comes_under_several_names) {
    static const char *const names[] = {"", "application/json", "text/plain;charset=UTF-8",
                                        "application/x-www-form-urlencoded"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(srv_codec_of_body(&srv_codecs_attention, names[i])->type, "application/json");
    ck_assert_ptr_null(srv_codec_of_body(&srv_codecs_attention, "multipart/form-data; boundary=x"));
    ck_assert_ptr_null(srv_codec_of_body(&srv_codecs_attention, "application/problem+json"));
}
END_TEST

START_TEST(parameters_are_a_row_s) {
    ck_assert(srv_codec_has_parameter(rows + 2, "scale"));
    ck_assert(!srv_codec_has_parameter(rows + 2, "scales"));
    ck_assert(!srv_codec_has_parameter(rows, "scale"));
    char text[64];
    srv_codecs_with_parameter(&codecs, "map", text, sizeof text);
    ck_assert_str_eq(text, "a/written or a/last");
    srv_codecs_with_parameter(&codecs, "scale", text, sizeof text);
    ck_assert_str_eq(text, "a/written");
    srv_codecs_with_parameter(&codecs, "tensor", text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(lists_read_as_sentences) {
    char text[64], short_text[12];
    const srv_codecs one = {rows, 1};
    srv_codecs_read(&codecs, text, sizeof text);
    ck_assert_str_eq(text, "a/first, text/plain, a/read or a/last");
    srv_codecs_written(&codecs, text, sizeof text);
    ck_assert_str_eq(text, "a/first, a/written or a/last");
    srv_codecs_written(&one, text, sizeof text);
    ck_assert_str_eq(text, "a/first");
    srv_codecs_written(&codecs, short_text, sizeof short_text);
    ck_assert_str_eq(short_text, "a/first, a/");
}
END_TEST

ATTND_SUITE(codec) {
    Suite *suite = suite_create("codec");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, a_content_type_chooses_a_row);
    tcase_add_test(cases, json_comes_under_several_names);
    tcase_add_test(cases, parameters_are_a_row_s);
    tcase_add_test(cases, lists_read_as_sentences);
    suite_add_tcase(suite, cases);
    return suite;
}
