/* The error value: first error wins, one line, cut without breaking a character. */
#include "engine/base/error.h"
#include "suites.h"

#include <stdint.h>
#include <string.h>

START_TEST(first_error_wins) {
    attn_error error;
    attn_error_clear(&error);
    ck_assert_int_eq(attn_error_set(&error, ATTN_SHAPE, "/inputs/1", "row has %d numbers", 3), ATTN_SHAPE);
    ck_assert_int_eq(attn_error_set(&error, ATTN_IO, "elsewhere", "later"), ATTN_IO);
    ck_assert_int_eq(error.code, ATTN_SHAPE);
    ck_assert_str_eq(error.where, "/inputs/1");
    ck_assert_str_eq(error.text, "row has 3 numbers");
    ck_assert_str_eq(attn_code_name(error.code), "shape_mismatch");
    attn_error_clear(&error);
    ck_assert_int_eq(error.code, ATTN_OK);
    ck_assert_str_eq(error.where, "");
    ck_assert_str_eq(error.text, "");
}
END_TEST

START_TEST(null_is_fine) {
    attn_error_clear(NULL);
    ck_assert_int_eq(attn_error_set(NULL, ATTN_RANGE, NULL, "ignored"), ATTN_RANGE);
    attn_error error;
    attn_error_clear(&error);
    attn_error_set(&error, ATTN_NO_MEMORY, NULL, "%s", "");
    ck_assert_str_eq(error.where, "");
    ck_assert_str_eq(error.text, "no_memory");
}
END_TEST

START_TEST(control_characters_become_question_marks) {
    attn_error error;
    attn_error_clear(&error);
    attn_error_set(&error, ATTN_BAD_FILE, "a\nb", "tensor '%s'", "x\r\n\x1b[2J\x7f\xc2\x9by \xc3\xa9");
    ck_assert_str_eq(error.where, "a?b");
    ck_assert_str_eq(error.text, "tensor 'x???[2J???y \xc3\xa9'");
}
END_TEST

START_TEST(long_texts_are_cut_between_characters) {
    char name[2 * ATTN_TEXT_SIZE + 1] = "";
    for (size_t i = 0; i < ATTN_TEXT_SIZE; i++)
        memcpy(name + 2 * i, "\xc3\xa9", 2);
    attn_error error;
    attn_error_clear(&error);
    attn_error_set(&error, ATTN_BAD_FILE, name, "%s", name);
    ck_assert_uint_eq(strlen(error.text), ATTN_TEXT_SIZE - 2); /* 511 bytes would end in half a character */
    ck_assert_uint_eq(strlen(error.where), ATTN_WHERE_SIZE - 2);
    ck_assert_int_eq(memcmp(error.text, name, ATTN_TEXT_SIZE - 2), 0);
}
END_TEST

START_TEST(one_of_a_thing) {
    static const struct {
        size_t count;
        const char *plural, *queries;
    } words[] = {{0, "s", "queries"}, {1, "", "query"}, {2, "s", "queries"}, {SIZE_MAX, "s", "queries"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ck_assert_str_eq(attn_plural(words[i].count), words[i].plural);
        ck_assert_str_eq(attn_queries(words[i].count), words[i].queries);
    }
}
END_TEST

ATTND_SUITE(error) {
    Suite *suite = suite_create("error");
    TCase *cases = tcase_create("error");
    tcase_add_test(cases, first_error_wins);
    tcase_add_test(cases, null_is_fine);
    tcase_add_test(cases, control_characters_become_question_marks);
    tcase_add_test(cases, long_texts_are_cut_between_characters);
    tcase_add_test(cases, one_of_a_thing);
    suite_add_tcase(suite, cases);
    return suite;
}
