/* What receiving a body takes: the tensor's float32 bytes and a quarter more, however long its text is, and all of it
 * counted. Growing buffers keep what is in them. */
#include "suites.h"
#include "tests/support/decoding.h"

#include "server/codec/ask_storage.h"
#include "server/codec/buffer.h"
#include "server/jobs/cost.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(buffers_keep_their_bytes) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_share share = {.budget = &budget};
    srv_buffer buffer = {0};
    char piece[1000];
    srv_budget_init(&budget, SIZE_MAX);
    for (int i = 0; i < 3000; i++) {
        memset(piece, i % 251, sizeof piece);
        ck_assert(srv_buffer_append(&buffer, piece, sizeof piece, &share, &problem));
        ck_assert_uint_eq(share.used, buffer.capacity);
        if (buffer.size > 100000) ck_assert_uint_le(buffer.capacity, buffer.size + buffer.size / 4 + 4096);
    }
    srv_buffer_fit(&buffer, &share);
    ck_assert_uint_le(buffer.capacity, 3000000 + 4096);
    ck_assert_uint_eq(share.used, buffer.capacity);
    for (size_t i = 0; i < buffer.size; i++)
        if ((unsigned char)buffer.data[i] != i / 1000 % 251) ck_abort_msg("byte %zu", i);
    srv_buffer_done(&buffer, &share);
    ck_assert_uint_eq(share.used, 0);
    ck_assert_uint_eq(srv_budget_taken(&budget), share.held);
}
END_TEST

START_TEST(a_buffer_that_does_not_fit_is_as_it_was) {
    srv_budget budget;
    srv_problem problem = {0};
    srv_share share = {.budget = &budget};
    srv_buffer buffer = {0};
    static const char bytes[3000];
    srv_budget_init(&budget, 5000);
    ck_assert(srv_buffer_append(&buffer, bytes, sizeof bytes, &share, &problem));
    ck_assert(!srv_buffer_append(&buffer, bytes, sizeof bytes, &share, &problem));
    ck_assert_int_eq(problem.id, SRV_NEEDS_TOO_MUCH_MEMORY);
    ck_assert_uint_eq(buffer.size, sizeof bytes);
    srv_buffer_done(&buffer, &share);
    srv_share_settle(&share);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
}
END_TEST

/* A number or group of them as text, and how many floats it is. */
static const struct {
    const char *before, *piece, *after;
    size_t floats;
    const srv_codecs *codecs;
} texts[] = {
    {"{\"inputs\":[[", "1,", "1]]}", 1, &srv_codecs_attention},
    {"{\"inputs\":[[", "-0.123456789,", "1]]}", 1, &srv_codecs_attention},
    {"{\"inputs\":[[", "0.10000000000000000555111512312578270211815834045410156250000000000000000,", "1]]}",
     1, &srv_codecs_attention},
    {"{\"inputs\":[[", "1 ,\n                                                                  ", "1]]}", 1,
     &srv_codecs_attention},
    {"{\"inputs\":[", "[0.5,0.25],", "[1,2]]}", 2, &srv_codecs_attention},
    {"{\"inputs\":[", "[[1,2],[3,4]],", "[[5,6]]]}", 4, &srv_codecs_attention},
    {"{\"inputs\":{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"", "AACAPwAAgD8AAIA/", "\"}}", 3,
     &srv_codecs_attention},
    {"{\"inputs\":{\"dtype\":\"f16\",\"shape\":[1,1],\"data\":\"", "ADwAPAA8", "\"}}", 3,
     &srv_codecs_attention},
    {"{\"inputs\":{\"dtype\":\"f64\",\"shape\":[1,1],\"data\":\"", "AAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/", "\"}}",
     3, &srv_codecs_attention},
    {"{\"inputs\":[{\"name\":\"inputs\",\"data\":[", "-0.12345678901234567,", "1]}]}", 1,
     &srv_codecs_inference},
    {"{\"inputs\":[{\"data\":[[", "[0.5,0.25],", "[1,2]]]}]}", 2, &srv_codecs_inference},
    {"{\"inputs\":[{\"data\":[", "1,", "1]}]}", 1, &srv_codecs_inference},
    {"{\"inputs\":[{\"data\":[", "true,", "1]}]}", 1, &srv_codecs_inference},
};

START_TEST(receiving_takes_the_floats_and_a_quarter) {
    enum { FLOATS = 2000000, PIECE = 32 << 10 };
    srv_budget budget;
    srv_problem problem = {0};
    srv_budget_init(&budget, SIZE_MAX);
    size_t length = strlen(texts[_i].piece), repeats = PIECE / length, most = 0, floats = 0;
    char *piece = malloc(repeats * length);
    for (size_t i = 0; i < repeats; i++)
        memcpy(piece + i * length, texts[_i].piece, length);
    srv_decoder *decoder = srv_decoder_new(texts[_i].codecs->rows, &budget, 0);
    ck_assert(feed_copy(decoder, texts[_i].before, strlen(texts[_i].before), &problem));
    for (; floats < FLOATS; floats += repeats * texts[_i].floats) {
        ck_assert(srv_decoder_feed(decoder, piece, repeats * length, &problem));
        if (decoder->share.used > most) most = decoder->share.used;
    }
    ck_assert(feed_copy(decoder, texts[_i].after, strlen(texts[_i].after), &problem));
    ck_assert_uint_ge(most, floats * sizeof(float));
    ck_assert_msg((double)most <= 1.3 * (double)(floats * sizeof(float)) + (1 << 20),
                  "%zu bytes for %zu floats", most, floats);
    ck_assert_uint_ge(srv_budget_taken(&budget), decoder->share.used);
    srv_decoder_free(decoder);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
    free(piece);
}
END_TEST

/* Lists of /v2 that are no box will be refused: what comes behind the first odd one takes nothing. */
START_TEST(uneven_lists_are_not_kept) {
    enum { ROUNDS = 300, PIECE_SIZE = 12000 };
    char piece[PIECE_SIZE];
    srv_budget budget;
    srv_problem problem = {0};
    srv_budget_init(&budget, SIZE_MAX);
    for (size_t i = 0; i < PIECE_SIZE; i += 12)
        memcpy(piece + i, "[1.5],[2,3],", 12);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_inference.rows, &budget, 0);
    ck_assert(feed_copy(decoder, "{\"inputs\":[{\"data\":[", 20, &problem));
    for (int i = 0; i < ROUNDS; i++)
        ck_assert(srv_decoder_feed(decoder, piece, PIECE_SIZE, &problem));
    ck_assert_uint_le(decoder->share.used, 64 << 10);
    srv_decoder_free(decoder);
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
}
END_TEST

/* f64 whose dtype comes behind it takes twice its floats until the body is over, and then as much as them. */
START_TEST(doubles_are_narrowed_at_the_end) {
    static const float wanted[] = {1, 2, -6};
    enum { GROUPS = 100000, MOST_BYTES = GROUPS * 80 };
    static const char group[] = "AAAAAAAA8D8AAAAAAAAAQAAAAAAAABjA"; /* 1, 2, -6 */
    char *body = malloc(MOST_BYTES), *at = body;
    size_t lists = _i == 0 ? 1 : 2;
    at += sprintf(at, "{\"model\":\"plain\",\"inputs\":%s", _i == 0 ? "" : "[");
    for (size_t n = 0; n < lists; n++) {
        at += sprintf(at, "%s{\"shape\":[%d,3],\"data\":\"", n == 0 ? "" : ",", GROUPS);
        for (size_t i = 0; i < GROUPS; i++, at += sizeof group - 1)
            memcpy(at, group, sizeof group - 1);
        at += sprintf(at, "\",\"dtype\":\"f64\"}");
    }
    sprintf(at, "%s}", _i == 0 ? "" : "]");
    const srv_source source = {0};
    srv_budget budget;
    srv_problem problem = {0};
    srv_ask *ask = NULL;
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &budget, 0);
    ck_assert(feed_copy(decoder, body, strlen(body), &problem));
    size_t floats = lists * GROUPS * 3;
    ck_assert_uint_ge(decoder->share.used, floats * sizeof(double));
    ck_assert_msg(srv_decoder_end(decoder, &source, &ask, &problem), "%s", problem.detail);
    ck_assert_msg(ask->problem.id == SRV_NO_PROBLEM, "%s", ask->problem.detail);
    ck_assert_uint_le(decoder->share.used, floats * sizeof(float) + (64 << 10));
    for (size_t i = 0; i < floats; i++)
        ck_assert(ask->request.inputs[i] == wanted[i % 3]);
    srv_budget_give(&budget, srv_decoder_close(decoder));
    srv_ask_free(ask);
    free(body);
}
END_TEST

/* Tokens that may have to be compared take memory for that, which is held with them. */
START_TEST(numbers_of_tokens_are_counted) {
    enum { TOKENS = 1000 };
    char tokens[8 * TOKENS], body[20 * TOKENS], *at = tokens, *rest = body;
    at += sprintf(at, "[\"0\"");
    rest += sprintf(rest, "{\"model\":\"plain\",\"inputs\":[[0]");
    for (int i = 1; i < TOKENS; i++) {
        at += sprintf(at, ",\"%d\"", i);
        rest += sprintf(rest, ",[0]");
    }
    sprintf(at, "]");
    sprintf(rest, "],\"tokens\":%s}", tokens);
    const srv_source source = {0};
    srv_budget budget;
    srv_problem problem = {0};
    srv_ask *ask = NULL;
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &budget, 0);
    ck_assert(feed_copy(decoder, body, strlen(body), &problem));
    ck_assert(srv_decoder_end(decoder, &source, &ask, &problem));
    ck_assert_int_eq(ask->problem.id, SRV_NO_PROBLEM);
    ck_assert_uint_ge(decoder->share.used,
                      srv_cost_of_tree(tokens, strlen(tokens)) + srv_ask_cost_of_numbers(TOKENS));
    ck_assert_uint_ge(srv_ask_cost_of_numbers(TOKENS), TOKENS * (2 * sizeof(char *) + sizeof(uint32_t)));
    srv_budget_give(&budget, srv_decoder_close(decoder));
    srv_ask_free(ask);
}
END_TEST

ATTND_SUITE(json_memory) {
    Suite *suite = suite_create("json_memory");
    TCase *tests = tcase_create("json_memory");
    tcase_add_test(tests, buffers_keep_their_bytes);
    tcase_add_test(tests, a_buffer_that_does_not_fit_is_as_it_was);
    tcase_add_loop_test(tests, receiving_takes_the_floats_and_a_quarter, 0, sizeof texts / sizeof *texts);
    tcase_add_test(tests, uneven_lists_are_not_kept);
    tcase_add_loop_test(tests, doubles_are_narrowed_at_the_end, 0, 2);
    tcase_add_test(tests, numbers_of_tokens_are_counted);
    suite_add_tcase(suite, tests);
    return suite;
}
