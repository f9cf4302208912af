/* Clients' texts before they are drawn. */
#include "server/picture/label.h"
#include "suites.h"

#include "server/codec/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Text and what is drawn. */
static const struct {
    const char *text, *shown;
} texts[] = {
    {"", ""},
    {"cat", "cat"},
    {" the ", "␣the␣"},
    {"a b", "a b"},
    {"\n\t\x1b[31m", "⏎⇥\xef\xbf\xbd[31m"},
    {"<script>&\"'", "<script>&\"'"},
    {"\xc2\x85\x7f", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xe2\x80\xae"
     "evil",
     "\xef\xbf\xbd"
     "evil"},                                                 /* U+202E turns the line around */
    {"\xef\xbf\xbe\xef\xb7\x90", "\xef\xbf\xbd\xef\xbf\xbd"}, /* U+FFFE, U+FDD0: no characters */
    {"猫", "猫"},
    {"القطة", "القطة"},
    {"👩\xe2\x80\x8d👧", "👩\xe2\x80\x8d👧"},
};

START_TEST(are_cleaned) {
    char out[SRV_LABEL_SIZE];
    srv_label_clean(texts[_i].text, strlen(texts[_i].text), SRV_LABEL_CHARACTERS, out);
    ck_assert_str_eq(out, texts[_i].shown);
}
END_TEST

START_TEST(nul_and_length_end_nothing) {
    char out[SRV_LABEL_SIZE], *huge = malloc(30000);
    srv_label_clean("a\0b", 3, SRV_LABEL_CHARACTERS, out);
    ck_assert_str_eq(out, "a\xef\xbf\xbd"
                          "b");
    for (size_t i = 0; i < 30000; i += 3)
        memcpy(huge + i, "猫", 3);
    srv_label_clean(huge, 30000, SRV_LABEL_CHARACTERS, out);
    ck_assert(srv_is_utf8(out));
    ck_assert_uint_eq(strlen(out), SRV_LABEL_CHARACTERS * 3); /* 63 cats, an ellipsis */
    ck_assert_str_eq(out + strlen(out) - 3, "…");
    srv_label_clean(huge, 3 * SRV_LABEL_CHARACTERS, SRV_LABEL_CHARACTERS, out);
    ck_assert_str_eq(out + strlen(out) - 3, "猫"); /* so many fit */
    free(huge);
}
END_TEST

START_TEST(are_fitted_to_columns) {
    char wide[] = "猫猫猫猫",
         joined[] = "e\xcc\x81"
                    "e\xcc\x81"
                    "e\xcc\x81",
         short_one[] = "cat";
    ck_assert_uint_eq(srv_label_columns(wide), 8);
    ck_assert_uint_eq(srv_label_columns(joined), 3);
    ck_assert_uint_eq(srv_label_fit(wide, 6), 5);
    ck_assert_str_eq(wide, "猫猫…");
    ck_assert_uint_eq(srv_label_fit(joined, 2), 2);
    ck_assert_str_eq(joined, "e\xcc\x81…"); /* no mark is left behind */
    ck_assert_uint_eq(srv_label_fit(short_one, 3), 3);
    ck_assert_str_eq(short_one, "cat");
    ck_assert_uint_eq(srv_label_fit(short_one, 0), 1); /* an ellipsis is the least */
    char words[] = "abcdef\0next", two[] = "ab";
    ck_assert_uint_eq(srv_label_fit(words, 5), 4);
    ck_assert_str_eq(words, "abc…");
    ck_assert_str_eq(words + 7, "next");
    ck_assert_uint_eq(srv_label_fit(two, 1), 0);
    ck_assert_str_eq(two, "");
}
END_TEST

START_TEST(run_from_left_to_right) {
    static const struct {
        const char *text, *placed;
    } cases[] = {
        {"cat", "cat"},
        {"אב", "בא"},
        {"a אב c", "a בא c"},
        {"אב גד", "דג בא"},
        {"ab\xd9\x8e"
         "c",
         "ab\xd9\x8e"
         "c"},
        {"\xd7\x90\xd6\xb8\xd7\x91", "\xd7\x91\xd7\x90\xd6\xb8"}, /* a vowel stays with its letter */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[64];
        srv_label_visual(cases[i].text, out, sizeof out);
        ck_assert_str_eq(out, cases[i].placed);
    }
}
END_TEST

ATTND_SUITE(label) {
    Suite *suite = suite_create("label");
    TCase *cases = tcase_create("label");
    tcase_add_loop_test(cases, are_cleaned, 0, sizeof texts / sizeof *texts);
    tcase_add_test(cases, nul_and_length_end_nothing);
    tcase_add_test(cases, are_fitted_to_columns);
    tcase_add_test(cases, run_from_left_to_right);
    suite_add_tcase(suite, cases);
    return suite;
}
