/* The header of an NPY array: what is read, and what is refused where. */
#include "server/codec/npy.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A header of version 1 around a dictionary; returns its size. */
static size_t around(const char *dictionary, char out[512]) {
    size_t size = strlen(dictionary);
    ck_assert_uint_lt(size, 500);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(size & 0xff);
    out[9] = (char)(size >> 8);
    memcpy(out + 10, dictionary, size);
    return size + 10;
}

static srv_npy accept(const char *dictionary) {
    char bytes[512];
    srv_npy header;
    srv_problem problem = {0};
    size_t size = around(dictionary, bytes);
    ck_assert_msg(srv_npy_read_header(bytes, size, &header, &problem), "%s: %s", dictionary, problem.detail);
    ck_assert_uint_eq(header.data_at, size);
    return header;
}

START_TEST(dictionaries_are_read_as_python_writes_them) {
    srv_npy header = accept("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }     \n");
    ck_assert_str_eq(header.descr, "<f4");
    ck_assert(!header.is_fortran && header.rank == 3 && header.count == 24);
    ck_assert(header.shape[0] == 2 && header.shape[1] == 3 && header.shape[2] == 4);
    header = accept("{\"shape\":(5,),\"fortran_order\":True,\"descr\":\"|b1\"}");
    ck_assert_str_eq(header.descr, "|b1");
    ck_assert(header.is_fortran && header.rank == 1 && header.count == 5);
    header = accept("{ 'shape' : ( ) , 'descr' : '>f8' , 'fortran_order' : False }");
    ck_assert(header.rank == 0 && header.count == 1);
    header = accept("{'descr': [('a', '<f4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (3,)}");
    ck_assert_str_eq(header.descr, "records");
    header = accept("{'descr': '<U123456789012345678901234567890', 'fortran_order': False, 'shape': (1,)}");
    ck_assert_str_eq(header.descr, "<U123456789012345678901");
    header = accept("{'descr': '<f4', 'fortran_order': False, 'shape': (1,2,3,4,5,6,7,8,9,10)}");
    ck_assert_uint_eq(header.rank, 10);
    header = accept("{'descr': '<f4', 'fortran_order': False, 'shape': (2147483648, 0)}");
    ck_assert(header.shape[0] == 2147483648 && header.count == 0);
    header = accept("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295, 4294967297)}");
    ck_assert_uint_eq(header.count, 4294967295UL * 4294967297UL);
}
END_TEST

#define GOOD "'descr': '<f4', 'fortran_order': False, 'shape': (2, 4)"

static const struct {
    const char *dictionary;
    size_t offset; /* in the dictionary */
    const char *text;
} refused[] = {
    {"", 0, "'{' is expected"},
    {"{", 1, "a string is expected"},
    {"{}", 0, "has descr, fortran_order and shape"},
    {"{" GOOD, sizeof GOOD, "'}' is expected"},
    {"{" GOOD "} x", sizeof GOOD + 2, "text behind"},
    {"{" GOOD ",,}", sizeof GOOD + 1, "a string is expected"},
    {"{" GOOD ", 'descr': '<f4'}", sizeof GOOD + 2, "each once"},
    {"{" GOOD ", 'more': 1}", sizeof GOOD + 2, "each once"},
    {"{'descr': '<f4', 'shape': (2, 4)}", 0, "has descr, fortran_order and shape"},
    {"{'descr' '<f4'}", 9, "':' is expected"},
    {"{'descr: '<f4'}", 10, "':' is expected"},
    {"{'descr': '<f4}", 11, "does not end"},
    {"{'descr': <f4}", 10, "a string is expected"},
    {"{'descr': [(((((}", 17, "']' is expected"},
    {"{'fortran_order': 0}", 18, "True or False"},
    {"{'fortran_order': Tru", 18, "True or False"},
    {"{'shape': 4}", 10, "'(' is expected"},
    {"{'shape': (4)}", 12, "',' or the end"},
    {"{'shape': (-1, 4)}", 11, "a whole number"},
    {"{'shape': (1.5,)}", 12, "',' or the end"},
    {"{'shape': (,)}", 11, "a whole number"},
    {"{'shape': (4", 12, "',' or the end"},
    {"{'shape': (4,", 13, "a whole number"},
    {"{'shape': (18446744073709551616,)}", 11, "can be counted"},
    {"{'shape': (4294967296, 4294967296)}", 9, "can be counted"},
    {"{'shape': (2147483648, 2147483648, 4)}", 9, "can be counted"},
};

START_TEST(other_dictionaries_are_refused_with_their_place) {
    char bytes[512];
    srv_npy header;
    srv_problem problem = {0};
    size_t size = around(refused[_i].dictionary, bytes);
    ck_assert_msg(!srv_npy_read_header(bytes, size, &header, &problem), "%s", refused[_i].dictionary);
    ck_assert_int_eq(problem.id, SRV_BAD_BODY);
    ck_assert_msg(strstr(problem.detail, refused[_i].text) != NULL, "%s: '%s' is not in '%s'",
                  refused[_i].dictionary, refused[_i].text, problem.detail);
    ck_assert_msg(strtoul(problem.where, NULL, 10) == 10 + refused[_i].offset, "%s: %s",
                  refused[_i].dictionary, problem.where);
}
END_TEST

START_TEST(what_stands_before_is_checked) {
    static const struct {
        const char *bytes;
        size_t size, offset;
        const char *text;
    } starts[] = {
        {"", 0, 0, "numpy.save"},
        {"\x93NUMP", 5, 0, "numpy.save"},
        {"PK\x03\x04____", 8, 0, "numpy.save"},
        {"\x93NUMPY", 6, 6, "--data-binary"},
        {"\x93NUMPY\x01", 7, 7, "--data-binary"},
        {"\x93NUMPY\x00\x00\x00\x00", 10, 6, "version 0.0"},
        {"\x93NUMPY\x04\x00\x00\x00", 10, 6, "version 4.0"},
        {"\x93NUMPY\x01\x01\x00\x00", 10, 6, "version 1.1"},
        {"\x93NUMPY\x01\x00\x10", 9, 9, "cut short"},
        {"\x93NUMPY\x01\x00\x10\x00{}", 12, 8, "16 bytes and 2 follow"},
        {"\x93NUMPY\x02\x00\x10\x00", 10, 10, "cut short"},
        {"\x93NUMPY\x02\x00\x00\x00\x00\x80{}", 14, 8, "2147483648 bytes and 2 follow"},
        {"\x93NUMPY\x03\x00\xff\xff\xff\xff{}", 14, 8, "4294967295 bytes and 2 follow"},
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        srv_npy header;
        srv_problem problem = {0};
        ck_assert(!srv_npy_read_header(starts[i].bytes, starts[i].size, &header, &problem));
        ck_assert_msg(strstr(problem.detail, starts[i].text) != NULL, "'%s' is not in '%s'", starts[i].text,
                      problem.detail);
        ck_assert_uint_eq(strtoul(problem.where, NULL, 10), starts[i].offset);
    }
}
END_TEST

ATTND_SUITE(npy_header) {
    Suite *suite = suite_create("npy_header");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, dictionaries_are_read_as_python_writes_them);
    tcase_add_loop_test(cases, other_dictionaries_are_refused_with_their_place, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(cases, what_stands_before_is_checked);
    suite_add_tcase(suite, cases);
    return suite;
}
