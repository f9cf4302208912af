/* The answer buffer, and float32 as text against the C library's "%.{1..9}e until it reads back". */
#include "server/codec/text.h"

#include "engine/tensor/vectors.h"
#include "german_locale.h"
#include "suites.h"
#include "temporary.h"
#include "tests/support/float_text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(srv_text *text, const char *want) {
    ck_assert(!text->failed);
    ck_assert_uint_eq(text->size, strlen(want));
    ck_assert_int_eq(memcmp(text->data, want, text->size), 0);
    srv_text_done(text);
    ck_assert_ptr_null(text->data);
}

START_TEST(appends) {
    srv_text text = {0};
    srv_text_append_string(&text, "");
    ck_assert_uint_eq(text.size, 0);
    srv_text_append(&text, "ab", 2);
    srv_text_append_size(&text, 0);
    srv_text_append_string(&text, ",");
    srv_text_append_size(&text, SIZE_MAX);
    expect_text(&text, "ab0,18446744073709551615");
    for (size_t i = 0; i < 10000; i++)
        srv_text_append(&text, i % 2 ? "y" : "x", 1);
    ck_assert_uint_eq(text.size, 10000);
    for (size_t i = 0; i < 10000; i++)
        ck_assert_int_eq(text.data[i], i % 2 ? 'y' : 'x');
    srv_text_done(&text);
}
END_TEST

START_TEST(sizes_that_do_not_fit) {
    srv_text text = {0};
    srv_text_append(&text, "abc", 3);
    srv_text_append(&text, "abc", SIZE_MAX - 1); /* nothing is read: the sum wraps */
    ck_assert(text.failed);
    srv_text_append(&text, "abc", 3);
    ck_assert_uint_eq(text.size, 3);
    srv_text_done(&text);
}
END_TEST

START_TEST(json_strings) {
    srv_text text = {0};
    static const char string[] = "a\"b\\c/\b\f\n\r\t\x01\x1f\0z\x7f\xc3\xbc\xf0\x9f\x98\x80";
    srv_text_append_json_string(&text, string, sizeof string - 1);
    srv_text_append_json_string(&text, "", 0);
    expect_text(&text,
                "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\\u0000z\x7f\xc3\xbc\xf0\x9f\x98\x80\"\"\"");
}
END_TEST

static const struct {
    float number;
    int digits;
    const char *text;
} floats[] = {
    {0.0f, 0, "0"},
    {-0.0f, 0, "-0"},
    {0.1f, 0, "0.1"},
    {-0.5f, 0, "-0.5"},
    {1.0f, 0, "1"},
    {10.0f, 0, "10"},
    {120.0f, 0, "120"},
    {16777216.0f, 0, "16777216"},
    {1e8f, 0, "100000000"},
    {1e9f, 0, "1e9"},
    {1e30f, 0, "1e30"},
    {1.5e-10f, 0, "1.5e-10"},
    {0.0001f, 0, "0.0001"},
    {0.00012345f, 0, "0.00012345"},
    {0.00001f, 0, "1e-5"},
    {1.0f / 3, 0, "0.33333334"},
    {3.14159274f, 0, "3.1415927"},
    {9999999.0f, 0, "9999999"},
    {FLT_MAX, 0, "3.4028235e38"},
    {-FLT_MAX, 0, "-3.4028235e38"},
    {FLT_MIN, 0, "1.1754944e-38"},
    {FLT_TRUE_MIN, 0, "1e-45"},
    {0x1.5c87fap-84f, 0,
     "7.0385307e-26"}, /* 7.038531e-26 comes back as its neighbour where it is a double first */
    {0.33333334f, 3, "0.333"},
    {0.33333334f, 9, "0.333333343"},
    {0.1f, 9, "0.100000001"},
    {0.1f, 8, "0.1"},
    {99.96f, 3, "100"},
    {0.25f, 1, "0.2"}, /* a tie: to even, as printf does */
    {0.75f, 1, "0.8"},
    {123456.0f, 2, "120000"},
    {999999999.0f, 2, "1e9"},
    {2.5e9f, 1, "2e9"},
    {7.5e9f, 1, "8e9"},
    {9.5f, 1, "10"},
    {FLT_TRUE_MIN, 9, "1.40129846e-45"},
};

START_TEST(float_texts) {
    char text[SRV_FLOAT_ROOM];
    text[srv_float_write(floats[_i].number, floats[_i].digits, text)] = '\0';
    ck_assert_str_eq(text, floats[_i].text);
}
END_TEST

static float from_bits(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static size_t significant_digits(const char *text) {
    const char *at = text + (*text == '-');
    while (*at == '0' || *at == '.')
        at++;
    size_t count = 0, zeros = 0;
    for (; *at != '\0' && *at != 'e'; at++) {
        if (*at == '.') continue;
        zeros = *at == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

/* Shortest, and the nearest of those: what printf has for as many digits. Below a power of two floats lie closer, and
 * what printf has need not read back. */
static void check_float(float number) {
    char text[SRV_FLOAT_ROOM], want[40];
    int exponent;
    text[srv_float_write(number, 0, text)] = '\0';
    if (!float_text_is_shortest(text, number)) ck_abort_msg("%a is written %s", (double)number, text);
    if (fabsf(frexpf(number, &exponent)) == 0.5f) return;
    snprintf(want, sizeof want, "%.*e", (int)significant_digits(text) - 1, (double)number);
    if (strtod(text, NULL) != strtod(want, NULL))
        ck_abort_msg("%a is written %s, printf has %s", (double)number, text, want);
}

START_TEST(random_floats_read_back) {
    uint64_t state = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
    for (int i = 0; i < 200000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint32_t bits = (uint32_t)(state >> 20);
        if (i % 2) bits = (bits & 0x807fffffu) | ((100u + bits % 30u) << 23); /* the usual magnitudes */
        if (isfinite(from_bits(bits)) && from_bits(bits) != 0) check_float(from_bits(bits));
    }
}
END_TEST

START_TEST(borders_read_back) {
    for (uint32_t exponent = 0; exponent < 255; exponent++)
        for (uint32_t near = 0; near < 3; near++) {
            check_float(from_bits((exponent << 23) + near + 1));
            check_float(from_bits((exponent << 23) + 0x7fffffu - near));
            check_float(from_bits(((exponent + (exponent == 0)) << 23)));
        }
    for (uint32_t bits = 1; bits < 0x800000u; bits += 4099)
        check_float(from_bits(bits));
    for (int i = 1; i < 20000; i++) {
        check_float((float)i);
        check_float((float)i / 1000);
        check_float((float)i / 1024);
    }
}
END_TEST

/* The text of `digits` digits is printf's, whichever way it was found. */
START_TEST(precision_is_printf) {
    uint64_t state = 2463534242u;
    for (int i = 0; i < 60000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        float number = i % 3 == 0 ? (float)(state % 100000) / 64 : from_bits((uint32_t)(state >> 16));
        if (!isfinite(number)) continue;
        int digits = 1 + i % 9;
        char text[SRV_FLOAT_ROOM];
        text[srv_float_write(number, digits, text)] = '\0';
        char want[40];
        snprintf(want, sizeof want, "%.*e", digits - 1, (double)number);
        if (strtod(text, NULL) != strtod(want, NULL))
            ck_abort_msg("%a is written %s, printf has %s", (double)number, text, want);
    }
}
END_TEST

/* Many at once are written as each of them by itself, at every width of vectors. */
static void check_many(const float *numbers, size_t count, int digits) {
    char *text = malloc(count * 17 + SRV_FLOAT_ROOM), *end = srv_floats_write(numbers, count, digits, text),
         *at = text;
    for (size_t i = 0; i < count; i++) {
        char want[SRV_FLOAT_ROOM] = "null";
        size_t size = isfinite(numbers[i]) ? srv_float_write(numbers[i], digits, want) : 4;
        bool is_last = i + 1 == count;
        if (memcmp(at, want, size) != 0 || (is_last ? at + size != end : at[size] != ','))
            ck_abort_msg("number %zu of %zu, %a: '%.*s', not '%.*s'", i, count, (double)numbers[i], 20, at,
                         (int)size, want);
        at += size + 1;
    }
    free(text);
}

static float random_float(uint64_t *state, size_t i) {
    static const uint32_t fractions[] = {0, 1, 2, 0x2e43fd, 0x7ffffe, 0x7fffff};
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    uint32_t bits = (uint32_t)(*state >> 20);
    if (i < 1 << 13) return from_bits((uint32_t)i << 19); /* zeros, powers of two, what is not finite */
    if (i % 3 == 0)
        return from_bits((bits & 0x807fffffu) | (110u + bits % 20u) << 23); /* the usual magnitudes */
    return from_bits(i % 3 == 1 ? bits : (bits & 0xff800000u) | fractions[bits % 6]);
}

START_TEST(many_floats_are_written_as_each_is) {
    enum { MANY = 1 << 16 };
    static float numbers[MANY];
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = random_float(&state, i);
    for (int width = 0; width <= (int)attn_vectors_best(); width++) {
        ck_assert_int_eq(attn_vectors_use((attn_vectors)width, NULL), ATTN_OK);
        for (int digits = 0; digits <= 9; digits += 3)
            check_many(numbers, MANY, digits);
        for (size_t count = 1; count < 100; count++)
            for (size_t from = 0; from < 1 << 14; from += 997)
                check_many(numbers + from, count, 0);
    }
}
END_TEST

START_TEST(locale_does_not_matter) {
    char *folder = german_locale_folder();
    ck_assert_int_eq(setenv("LOCPATH", folder, 1), 0);
    ck_assert_ptr_nonnull(setlocale(LC_ALL, "de_DE.UTF-8"));
    ck_assert_str_eq(localeconv()->decimal_point, ",");
    char text[2 * SRV_FLOAT_ROOM];
    size_t size = srv_float_write(0.5f, 0, text);
    text[size++] = ' ';
    size += srv_float_write(2.5e9f, 1, text + size); /* a tie up there takes the C library's way */
    text[size] = '\0';
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(text, "0.5 2e9");
    temporary_remove(folder);
}
END_TEST

ATTND_SUITE(text) {
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, appends);
    tcase_add_test(tests, sizes_that_do_not_fit);
    tcase_add_test(tests, json_strings);
    tcase_add_loop_test(tests, float_texts, 0, sizeof floats / sizeof *floats);
    tcase_add_test(tests, random_floats_read_back);
    tcase_add_test(tests, borders_read_back);
    tcase_add_test(tests, precision_is_printf);
    tcase_add_test(tests, many_floats_are_written_as_each_is);
    tcase_add_test(tests, locale_does_not_matter);
    suite_add_tcase(suite, tests);
    return suite;
}
