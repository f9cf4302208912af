/* Compressing piece by piece: what comes out fits its room and unpacks to what went in. */
#include "server/jobs/squeeze.h"
#include "suites.h"
#include "tests/support/packed.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 5 };

/* From one state to the next: numbers that no packer shortens. */
static unsigned noise(unsigned *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 24;
}

START_TEST(pieces_fit_and_unpack) {
    static const size_t sizes[] = {0, 1, 5, 1000, 65536, 131072 + 32};
    size_t size = sizes[_i / 4], room = srv_squeeze_room(size), used = 0, found;
    bool is_noise = _i % 2, is_gzip = _i / 2 % 2;
    char *text = malloc(PIECES * size + 1), *out = malloc(PIECES * room);
    unsigned state = 1;
    for (size_t i = 0; i < PIECES * size; i++)
        text[i] = is_noise ? (char)noise(&state) : "0.125,"[i % 6];
    srv_squeeze *squeeze = srv_squeeze_new(is_gzip ? SRV_CODING_GZIP : SRV_CODING_DEFLATE);
    for (size_t i = 0; i < PIECES; i++) {
        size_t written = srv_squeeze_write(squeeze, text + i * size, size, i + 1 == PIECES, out + used);
        if (size > 0) ck_assert_uint_gt(written, 0);
        ck_assert_uint_lt(written, room);
        used += written;
    }
    char *back = unpacked(is_gzip ? "gzip" : "deflate", out, used, &found);
    ck_assert_uint_eq(found, PIECES * size);
    ck_assert_int_eq(memcmp(back, text, found), 0);
    if (!is_noise && size >= 1000) ck_assert_uint_lt(used, found / 10);
    srv_squeeze_free(squeeze);
    free(back);
    free(text);
    free(out);
}
END_TEST

/* A piece behind the last one is no part of any stream; nor is what follows. */
START_TEST(what_zlib_refuses_is_left_out) {
    char out[1024];
    srv_squeeze *squeeze = srv_squeeze_new(SRV_CODING_GZIP);
    ck_assert_uint_lt(srv_squeeze_room(7), sizeof out);
    ck_assert_uint_gt(srv_squeeze_write(squeeze, "0.125,1", 7, true, out), 0);
    ck_assert_uint_eq(srv_squeeze_write(squeeze, "0.125,1", 7, false, out), 0);
    ck_assert_uint_eq(srv_squeeze_write(squeeze, "0.125,1", 7, true, out), 0);
    srv_squeeze_free(squeeze);
}
END_TEST

ATTND_SUITE(squeeze) {
    Suite *suite = suite_create("squeeze");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, pieces_fit_and_unpack, 0, 24);
    tcase_add_test(cases, what_zlib_refuses_is_left_out);
    suite_add_tcase(suite, cases);
    return suite;
}
