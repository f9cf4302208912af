/* base64: the vectors of RFC 4648, section 10, texts that are no base64, and long data in pieces. */
#include "server/codec/base64.h"

#include "suites.h"
#include "tests/oracle/oracle_parts.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *bytes, *text;
} vectors[] = {{"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"},
               {"\xfb\xff\xbe", "+/++"}};

START_TEST(both_ways) {
    const char *bytes = vectors[_i].bytes, *want = vectors[_i].text;
    char text[16];
    ck_assert_uint_eq(srv_base64_write((const unsigned char *)bytes, strlen(bytes), text), strlen(want));
    ck_assert_int_eq(memcmp(text, want, strlen(want)), 0);
    unsigned char out[16];
    size_t size = 99;
    ck_assert(oracle_base64_size(want, strlen(want), &size));
    ck_assert_uint_eq(size, strlen(bytes));
    ck_assert_uint_eq(oracle_base64_decode(want, strlen(want), true, out), strlen(want));
    ck_assert_int_eq(memcmp(out, bytes, size), 0);
}
END_TEST

/* A text, and the place of its first character that is not sound. */
static const struct {
    const char *text;
    size_t sound;
} broken[] = {
    {"Zg=a", 2},  {"Z===", 1}, {"====", 0}, {"Zg==Zg==", 2},   {"Zm9v Zg=", 4}, {"Zm9-", 3}, {"Zm9_", 3},
    {"Zm\n9", 2}, {"Zh==", 1}, {"Zm9=", 2}, {"\xc3\xbc==", 0}, {"Zm9vZm9.", 7}, {"=m9v", 0},
};

START_TEST(refused) {
    unsigned char out[16];
    size_t size = strlen(broken[_i].text);
    ck_assert_uint_eq(oracle_base64_decode(broken[_i].text, size, true, out), broken[_i].sound);
}
END_TEST

START_TEST(lengths) {
    size_t size = 99;
    for (size_t length = 1; length < 8; length++)
        ck_assert(oracle_base64_size("Zm9vZm9v", length, &size) == (length == 4));
    ck_assert_uint_eq(size, 3);
}
END_TEST

/* Padding ends a text: in a piece that is not the last it is no base64. */
START_TEST(pieces) {
    enum { SIZE = 3 * SRV_BASE64_BYTES + 1 };
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);
    char *text = malloc(3 * SRV_BASE64_CHARACTERS + 4);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 37 >> 3);
    size_t first = srv_base64_write(bytes, SRV_BASE64_BYTES, text);
    ck_assert_uint_eq(first, SRV_BASE64_CHARACTERS);
    ck_assert_uint_eq(srv_base64_write(bytes + SRV_BASE64_BYTES, SIZE - SRV_BASE64_BYTES, text + first),
                      2 * SRV_BASE64_CHARACTERS + 4);
    for (size_t i = 0; i < 4; i++) {
        size_t left = i < 3 ? SRV_BASE64_CHARACTERS : 4;
        ck_assert_uint_eq(
            oracle_base64_decode(text + i * SRV_BASE64_CHARACTERS, left, i == 3, back + i * SRV_BASE64_BYTES),
            left);
    }
    ck_assert_int_eq(memcmp(bytes, back, SIZE), 0);
    ck_assert_uint_eq(oracle_base64_decode(text + 3 * SRV_BASE64_CHARACTERS, 4, false, back), 2);
    free(text);
    free(bytes);
    free(back);
}
END_TEST

ATTND_SUITE(base64) {
    Suite *suite = suite_create("base64");
    TCase *tests = tcase_create("base64");
    tcase_add_loop_test(tests, both_ways, 0, sizeof vectors / sizeof *vectors);
    tcase_add_loop_test(tests, refused, 0, sizeof broken / sizeof *broken);
    tcase_add_test(tests, lengths);
    tcase_add_test(tests, pieces);
    suite_add_tcase(suite, tests);
    return suite;
}
