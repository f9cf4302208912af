/* Every rule of a safetensors header, one broken input each, with the text that the user reads. */
#include "engine/weights/safetensors.h"
#include "suites.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(const char *json, size_t data_size, const char *text) {
    attn_file_header header = {.tensor_count = 77};
    attn_error error;
    attn_error_clear(&error);
    attn_code code =
        attn_file_header_parse(json, strlen(json), data_size, "m.safetensors", &header, NULL, &error);
    ck_assert_msg(code == ATTN_BAD_FILE, "accepted: %s", json);
    ck_assert_msg(strstr(error.text, text) != NULL, "'%s' is not in '%s'", text, error.text);
    ck_assert_str_eq(error.where, "m.safetensors");
    ck_assert_uint_eq(header.tensor_count, 77);
}

static attn_file_header accept(const char *json, size_t data_size) {
    attn_file_header header;
    attn_error error;
    attn_error_clear(&error);
    ck_assert_msg(attn_file_header_parse(json, strlen(json), data_size, "f", &header, NULL, &error) ==
                      ATTN_OK,
                  "%s", error.text);
    return header;
}

#define T(dtype, shape, offsets) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

START_TEST(json_rules) {
    refuse("", 0, "does not begin with '{'");
    refuse(" {}", 0, "does not begin with '{'");
    refuse("[]", 0, "does not begin with '{'");
    refuse("{", 0, "not the JSON that the format asks for");
    refuse("{}x", 0, "not the JSON");
    refuse("{\"a\":" T("U8", "[1]", "[0,1]") ",\"a\":" T("U8", "[1]", "[0,1]") "}", 1,
           "duplicate object key");
    refuse("{\"a\xff\":1}", 0, "not the JSON");
    refuse("{\"a\\u0000\":1}", 0, "not the JSON");
    refuse("{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,1]}}", 1,
           "too big");
    attn_file_header header = accept("{}   ", 0);
    ck_assert_uint_eq(header.tensor_count, 0);
    attn_file_header_done(&header);
}
END_TEST

START_TEST(deep_nesting_is_refused) {
    char *deep = malloc(1 << 17);
    memset(deep, '[', 1 << 17);
    memcpy(deep, "{\"a\":", 5);
    deep[(1 << 17) - 1] = '\0';
    refuse(deep, 0, "not the JSON");
    free(deep);
}
END_TEST

START_TEST(entry_rules) {
    refuse("{\"a\":1}", 0, "tensor 'a': an object of exactly dtype, shape and data_offsets");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[0]}}", 0, "exactly dtype");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":1}}", 0, "exactly dtype");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"offsets\":[0,0]}}", 0, "exactly dtype");
    refuse("{\"a\":{\"dtype\":3,\"shape\":[0],\"data_offsets\":[0,0]}}", 0, "dtype must be a string");
    refuse("{\"a\":" T("float32", "[1]", "[0,4]") "}", 4, "dtype 'float32' is unknown");
    refuse("{\"a\":" T("F32", "4", "[0,4]") "}", 4, "shape must be an array");
    refuse("{\"a\":" T("F32", "[-1]", "[0,4]") "}", 4, "axis 0 of shape is not a whole number");
    refuse("{\"a\":" T("F32", "[1,1.0]", "[0,4]") "}", 4, "axis 1 of shape is not a whole number");
    refuse("{\"a\":" T("F32", "[\"1\"]", "[0,4]") "}", 4, "axis 0 of shape is not a whole number");
    refuse("{\"a\":" T("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4,
           "shape has 9 axes; up to 8 are accepted");
    refuse("{\"__metadata__\":[]}", 0, "__metadata__ must be an object of strings");
    refuse("{\"__metadata__\":{\"n\":1}}", 0, "__metadata__ entry 'n' is not a string");
}
END_TEST

START_TEST(offset_rules) {
    refuse("{\"a\":" T("F32", "[1]", "[0]") "}", 4, "data_offsets must be two whole numbers");
    refuse("{\"a\":" T("F32", "[1]", "[0,4,4]") "}", 4, "data_offsets must be two whole numbers");
    refuse("{\"a\":" T("F32", "[1]", "{}") "}", 4, "data_offsets must be two whole numbers");
    refuse("{\"a\":" T("F32", "[1]", "[-4,0]") "}", 4, "data_offsets must be two whole numbers");
    refuse("{\"a\":" T("F32", "[1]", "[0,4.0]") "}", 4, "data_offsets must be two whole numbers");
    refuse("{\"a\":" T("F32", "[1]", "[4,0]") "}", 4, "data_offsets [4,0] end before they begin");
    refuse("{\"a\":" T("F32", "[2]", "[0,8]") "}", 4,
           "[0,8] reach beyond the file's 4 bytes of data; it may be truncated");
    refuse("{\"a\":" T("F32", "[3]", "[0,8]") "}", 8, "[0,8] hold 8 bytes; shape [3] of F32 takes 12");
    refuse("{\"a\":" T("F32", "[1]", "[0,8]") "}", 8, "[0,8] hold 8 bytes; shape [1] of F32 takes 4");
    refuse("{\"a\":" T("F4", "[3]", "[0,2]") "}", 2, "shape [3] of F4 does not fill whole bytes");
}
END_TEST

/* The case shape-wraps: 2^32 · 2^32 is 0 in 64 bits. */
START_TEST(shape_products_do_not_wrap) {
    refuse("{\"w\":" T("F32", "[4294967296,4294967296]", "[0,0]") "}", 0,
           "tensor 'w': shape [4294967296,4294967296] is more than can be counted");
    refuse("{\"w\":" T("F32", "[4611686018427387904]", "[0,0]") "}", 0, "is more than can be counted");
    refuse("{\"w\":" T("F64", "[288230376151711744]", "[0,0]") "}", 0, "is more than can be counted");
}
END_TEST

/* The case shared-bytes. */
START_TEST(layout_rules) {
    refuse("{\"k\":" T("F32", "[2,2]", "[0,16]") ",\"v\":" T("F32", "[2,2]", "[0,16]") "}", 16,
           "tensors 'k' and 'v' share bytes");
    refuse("{\"k\":" T("F32", "[2]", "[0,8]") ",\"v\":" T("F32", "[2]", "[4,12]") "}", 12, "share bytes");
    refuse("{\"k\":" T("F32", "[1]", "[0,4]") ",\"v\":" T("F32", "[1]", "[8,12]") "}", 12,
           "a hole of 4 bytes before tensor 'v'");
    refuse("{\"k\":" T("F32", "[1]", "[4,8]") "}", 8, "a hole of 4 bytes before tensor 'k'");
    refuse("{\"k\":" T("F32", "[1]", "[0,4]") "}", 7, "3 bytes follow the last tensor");
    refuse("{}", 1, "1 bytes follow the last tensor");
}
END_TEST

START_TEST(sound_headers_load_in_data_order) {
    attn_file_header header =
        accept("{\"b\":" T("BF16", "[2,3]", "[7,19]") ",\"__metadata__\":{\"num_heads\":\"2\"},\"\":" T(
                   "U8", "[]",
                   "[0,1]") ",\"line\\nend\":" T("F4", "[4]",
                                                 "[1,3]") ",\"none\":" T("F32", "[0,5]",
                                                                         "[3,3]") ",\"a\":" T("I32", "[1]",
                                                                                              "[3,7]") "}",
               19);
    static const char *const names[] = {"", "line\nend", "none", "a", "b"};
    ck_assert_uint_eq(header.tensor_count, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(header.tensors[i].name, names[i]);
    const attn_file_tensor *b = &header.tensors[4];
    ck_assert(b->dtype == ATTN_BF16 && b->rank == 2 && b->shape[0] == 2 && b->shape[1] == 3 && b->count == 6);
    ck_assert(b->begin == 7 && b->end == 19 && header.tensors[0].count == 1 && header.tensors[2].count == 0);
    ck_assert_str_eq(attn_file_header_metadata(&header, "num_heads"), "2");
    ck_assert_ptr_null(attn_file_header_metadata(&header, "num_kv_heads"));
    attn_file_header_done(&header);
    attn_file_header_done(&header);
}
END_TEST

START_TEST(names_cannot_break_a_line) {
    refuse("{\"a\\n\\u001b[2J\":1}", 0, "tensor 'a??[2J': ");
    char json[700], name[600];
    memset(name, 'n', sizeof name);
    memcpy(name, "first", 5);
    memcpy(name + 594, "last\0", 5);
    snprintf(json, sizeof json, "{\"%s\":1}", name);
    refuse(json, 0, "nnnlast': an object of exactly");
    refuse(json, 0, "tensor 'firstn");
}
END_TEST

/* Any cut or flipped byte must be refused or accepted, never worse; asan watches. */
START_TEST(damaged_headers_do_no_harm) {
    static const char sound[] = "{\"__metadata__\":{\"num_heads\":\"2\"},\"a\":" T(
        "F32", "[2,1]", "[0,8]") ",\"b\":" T("F16", "[4]", "[8,16]") "}";
    char bytes[sizeof sound];
    for (size_t size = 0; size < sizeof sound - 1; size++) {
        attn_file_header header = {0};
        ck_assert_int_eq(attn_file_header_parse(sound, size, 16, "f", &header, NULL, NULL), ATTN_BAD_FILE);
    }
    for (size_t at = 0; at < sizeof sound - 1; at++)
        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            memcpy(bytes, sound, sizeof sound);
            bytes[at] = (char)((unsigned char)bytes[at] ^ flip);
            attn_file_header header = {0};
            attn_code code = attn_file_header_parse(bytes, sizeof sound - 1, 16, "f", &header, NULL, NULL);
            ck_assert(code == ATTN_OK || code == ATTN_BAD_FILE);
            attn_file_header_done(&header);
        }
}
END_TEST

START_TEST(errors_say_where_in_the_header) {
    static const struct {
        const char *json;
        size_t data_size, broken;
    } headers[] = {
        {"[", 0, 0},
        {"{\"a\":", 0, 5},
        {"{\"a\":{},\"b\":1}", 0, 2},
        {"{\"x\":" T("U8", "[1]", "[0,1]") ",\"second\":" T("U8", "[2]", "[1,2]") "}", 3, 54},
        {"{\"x\":" T("U8", "[1]", "[0,1]") ",\"second\":" T("U8", "[1]", "[0,1]") "}", 1, 2},
        {"{\"x\":" T("U8", "[1]", "[0,1]") ",\"second\":" T("U8", "[1]", "[2,3]") "}", 3, 54},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        attn_file_header header;
        size_t broken = 1000;
        attn_code code = attn_file_header_parse(headers[i].json, strlen(headers[i].json),
                                                headers[i].data_size, "f", &header, &broken, NULL);
        ck_assert_int_eq(code, ATTN_BAD_FILE);
        ck_assert_msg(broken == headers[i].broken, "%s: %zu", headers[i].json, broken);
    }
}
END_TEST

ATTND_SUITE(safetensors_header) {
    Suite *suite = suite_create("safetensors_header");
    TCase *cases = tcase_create("rules");
    tcase_add_test(cases, json_rules);
    tcase_add_test(cases, deep_nesting_is_refused);
    tcase_add_test(cases, entry_rules);
    tcase_add_test(cases, offset_rules);
    tcase_add_test(cases, shape_products_do_not_wrap);
    tcase_add_test(cases, layout_rules);
    tcase_add_test(cases, sound_headers_load_in_data_order);
    tcase_add_test(cases, names_cannot_break_a_line);
    tcase_add_test(cases, errors_say_where_in_the_header);
    tcase_add_test(cases, damaged_headers_do_no_harm);
    suite_add_tcase(suite, cases);
    return suite;
}
