/* The decoder beside the oracle, which reads the whole body with Jansson: the same verdict, the same words, the same
 * bits. Random bodies, bodies made to hurt, each of them whole, cut at every byte, byte by byte, and with each byte
 * changed. */
#include "random_body.h"

#include "sanitized.h"
#include "suites.h"
#include "tests/oracle/oracle.h"
#include "tests/support/decoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct verdict {
    srv_ask *ask;
    srv_problem problem;
} verdict;

static void verdict_done(verdict *v) {
    srv_ask_free(v->ask);
}

static const srv_problem *told(const verdict *v) {
    return v->ask != NULL ? &v->ask->problem : &v->problem;
}

/* Fails the test where the two differ; frees `found`. */
static void compare(const char *body, size_t size, const verdict *right, verdict *found, const char *how) {
    /* Jansson passes over a NUL behind a number. */
    if (found->ask == NULL && strstr(found->problem.detail, "NUL character outside strings") != NULL &&
        memchr(body, '\0', size) != NULL)
        return;
    const char *difference = oracle_difference(found->ask, &found->problem, right->ask, &right->problem);
    if (difference != NULL) {
        fwrite(body, 1, size < 2000 ? size : 2000, stdout);
        printf("\n%s: %s at %s\n%s at %s\n", how, told(found)->detail, told(found)->where,
               told(right)->detail, told(right)->where);
        fflush(stdout);
        ck_abort_msg("%s: %s differs", how, difference);
    }
    verdict_done(found);
}

static verdict ask_oracle(const char *body, size_t size, const char *query) {
    verdict right = {0};
    oracle_decode(body, size, query, &right.ask, &right.problem);
    return right;
}

static void check_pieces(const char *body, size_t size, const char *query, const verdict *right,
                         size_t piece) {
    verdict found = {0};
    char how[64];
    snprintf(how, sizeof how, "in pieces of %zu", piece);
    decode_json_pieces(body, size, piece, query, &found.ask, &found.problem);
    compare(body, size, right, &found, how);
}

/* Whole, and in small pieces. */
static void check(const char *body, size_t size, const char *query) {
    verdict right = ask_oracle(body, size, query);
    static const size_t pieces[] = {1, 2, 3, 7, 61};
    check_pieces(body, size, query, &right, size + 1);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        check_pieces(body, size, query, &right, pieces[i]);
    verdict_done(&right);
}

static void check_cuts(const char *body, size_t size) {
    verdict right = ask_oracle(body, size, NULL);
    for (size_t cut = 0; cut <= size; cut++) {
        verdict found = {0};
        char how[64];
        snprintf(how, sizeof how, "cut behind byte %zu", cut);
        decode_json_cut(body, size, cut, &found.ask, &found.problem);
        compare(body, size, &right, &found, how);
    }
    verdict_done(&right);
}

/* What a body of `size` bytes says when it ends early, anywhere. */
static void check_prefixes(const char *body, size_t size) {
    for (size_t length = 0; length <= size; length++) {
        verdict right = ask_oracle(body, length, NULL);
        check_pieces(body, length, NULL, &right, length + 1);
        check_pieces(body, length, NULL, &right, 5);
        verdict_done(&right);
    }
}

static void check_changes(const char *body, size_t size) {
    static const char bytes[] = "[]{},:\"\\-+.0159eEtnx/= \n\x01\x80\xc3\xff";
    char *changed = malloc(size + 1);
    for (size_t at = 0; at < size; at++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            memcpy(changed, body, size);
            changed[at] = bytes[i];
            verdict right = ask_oracle(changed, size, NULL);
            check_pieces(changed, size, NULL, &right, i % 2 == 0 ? size : at + 1);
            verdict_done(&right);
        }
        /* Left out, and doubled. */
        memcpy(changed + at, body + at + 1, size - at - 1);
        check(changed, size - 1, NULL);
        memcpy(changed, body, at + 1);
        memcpy(changed + at + 1, body + at, size - at);
        check(changed, size + 1, NULL);
    }
    free(changed);
}

enum { ROUNDS = IS_SLOW ? 100 : 400, CUT_ROUNDS = IS_SLOW ? 4 : 40, SHORT = 4000 };

START_TEST(random_bodies) {
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        random_request random;
        random_body text;
        random_request_init(&random, seed);
        random_body_init(&text, &random);
        check(text.body, strlen(text.body), text.query);
        random_body_done(&text);
        random_request_done(&random);
    }
}
END_TEST

START_TEST(random_bodies_cut_at_every_byte) {
    int seen = 0;
    for (uint64_t seed = 1000; seen < CUT_ROUNDS; seed++) {
        random_request random;
        random_body text;
        random_request_init(&random, seed);
        random_body_init(&text, &random);
        size_t size = strlen(text.body);
        if (size < SHORT) {
            check_cuts(text.body, size);
            check_prefixes(text.body, size);
            seen++;
        }
        random_body_done(&text);
        random_request_done(&random);
    }
}
END_TEST

#define BODY(text) {text, sizeof(text) - 1}
#define TENSOR(text) BODY("{\"inputs\":" text "}")
#define DATA(text) TENSOR("{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"" text "\"}")

static const struct {
    const char *text;
    size_t size;
} bodies[] = {
    BODY("{\"model\":\"tiny\",\"layer\":0,\"inputs\":[[1,0,-0.5,1e2],[0,1,0,0]],\"causal\":true,\"window\":2,"
         "\"key_padding_mask\":[true,false],\"return\":{\"heads\":[0,1],\"precision\":3},"
         "\"tokens\":[\"The\",\"\\u00fc\xc3\xbc\"]}"),
    BODY(" { \"bias\" : [ [ 1 , -2.5 ] ,\n\t[ 3e-1 , 4 ] ] ,\r\n \"inputs\" : [ [ 1 , 0 ] , [ 2 , 3 ] ] } "),
    BODY("{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[0,1,0,0]]],\"context\":[[[1,2,3]],[[1,2,3]]],"
         "\"attention_mask\":[[[[1]],[[0]]],[[[true],[false]]]],\"causal\":\"top_left\"}"),
    BODY("{\"inputs\":{\"dtype\":\"f16\",\"shape\":[2,1,4],\"data\":\"ADwAAAC4AEAAPAAAALgAQA==\"},"
         "\"key_padding_mask\":[{\"dtype\":\"bool\",\"shape\":[1],\"data\":\"AA==\"},{\"shape\":[1],"
         "\"data\":\"AQ==\",\"dtype\":\"u8\"}]}"),
    BODY("{\"inputs\":[{\"data\":\"AACAPwAAAEA=\",\"dtype\":\"f32\",\"shape\":[1,2]},{\"dtype\":\"bf16\","
         "\"data\":\"gD8AQAAAgL8=\",\"shape\":[2,2]}]}"),
    BODY("{\"inputs\":[[1,2]],\"positions\":[[0,\"x\"],{\"a\":[1]}],\"context_positions\":{\"data\":\"!\"}}"),
    BODY("{\"inputs\":[[1,0],[0,1],[1,1]],\"lengths\":[1,2],\"key_padding_mask\":[true,false,false]}"),
    /* Objects, strings and lists where they do not belong, also among tensors. */
    TENSOR("[[1,{\"data\":\"AAAA\"}],[2,3]]"),
    TENSOR("[{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AAAAAA==\"},5]"),
    TENSOR("[{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AAAAAA==\"},[1,2],{}]"),
    TENSOR("[{},\"x\",{\"a\":{\"data\":\"x\"}},null]"),
    TENSOR("[[1,2],[3,[4,5,[6]]],\"x\"]"),
    TENSOR("[[1,2],\"x\",[3,4,5],{}]"),
    TENSOR("[[[1],[2]],[3],[[4,5]],[],4]"),
    TENSOR("[[[1],[2,3]],[[4]]]"),
    TENSOR("[[1],[2,3],[4,5,6]]"),
    TENSOR("[[1,1e39],[1,2,3]]"),
    TENSOR("[[1,2],[-1e39,null]]"),
    BODY("{\"inputs\":[[1,2],[3,4]],\"attention_mask\":[[1,0.5],[2]],\"bias\":[[1,1e39]]}"),
    BODY("{\"inputs\":[[1,2],[3,4]],\"attention_mask\":[[true,1.0],[0e5,-0]],\"bias\":[[[0,1],[2,3]]]}"),
    BODY("{\"inputs\":[[[1]],[[1],[2]]],\"attention_mask\":[[1],[1,0]],\"bias\":[[[1]],[[1,2],[3,4]]]}"),
    BODY("{\"inputs\":[[[1]],[[1],[2]]],\"attention_mask\":[[[1]],[[[1]]]],\"bias\":[[[1]],[[1,2]],[3]]}"),
    BODY("{\"inputs\":[[1]],\"attention_mask\":[[[[[1]]]]],\"bias\":[[[[[[1]]]]]]}"),
    /* Depth. */
    TENSOR("[[[[[[[1,[2]]]]],3]]]"),
    TENSOR("[[[]]]"),
    TENSOR("[]"),
    TENSOR("[[1],[]]"),
    /* Numbers that are none, and those that no double or float32 holds. */
    TENSOR("[[0,-0,0.0,1E+2,1e-400,4.9e-324,3.4028234663852886e38,3.4028235677973366e38]]"),
    TENSOR("[[1,01]]"),
    TENSOR("[[-]]"),
    TENSOR("[[1.]]"),
    TENSOR("[[.5]]"),
    TENSOR("[[+1]]"),
    TENSOR("[[1e]]"),
    TENSOR("[[1e+,2]]"),
    TENSOR("[[1.5.5]]"),
    TENSOR("[[1 2]]"),
    TENSOR("[[1e999,2]]"),
    TENSOR("[[-1e999]]"),
    TENSOR("[[0x10]]"),
    TENSOR("[[NaN,Infinity]]"),
    TENSOR("[[tru,nulll]]"),
    TENSOR("[[truefalse]]"),
    TENSOR("[[true1]]"),
    TENSOR("[[12345678901234567890123456789012345678901234567890e-49,0.1000000000000000055511151231257827]]"),
    TENSOR(
        "[[1797693134862315808000000000000000000000000000000000000000000000000000000000000000000000e220]]"),
    /* Syntax. */
    TENSOR("[[1,]]"),
    TENSOR("[[,1]]"),
    TENSOR("[[1,,2]]"),
    TENSOR("[[1]"),
    TENSOR("[[1}]"),
    TENSOR("[[1:2]]"),
    TENSOR("[[1] [2]]"),
    TENSOR("[\"a\",[1,,2]]"),
    TENSOR("[\"a\" 1]"),
    TENSOR("[\"a\",1 \"b\"]"),
    TENSOR("[\"a\",]"),
    TENSOR("[{\"a\":1,\"a\":2}]"),
    TENSOR("{\"data\":\"AAAA\",\"data\":\"AAAA\"}"),
    BODY("{\"inputs\":[[1]],\"inputs\":[[1]]}"),
    BODY("{\"inputs\":null,\"inputs\":[[1]]}"),
    BODY("{\"inputs\":[[1]],\"inputs\":{\"data\":\"AAAA\"}}"),
    BODY("{\"inputs\":[[1]]} x"),
    BODY("{\"inputs\":[[1]]}]"),
    BODY("{\"inputs\" [[1]]}"),
    BODY("{\"inputs\"::[[1]]}"),
    BODY("{inputs:[[1]]}"),
    BODY("{\"a\":tru,\"inputs\":[[1,,2]]}"),
    BODY("[\"inputs\",[[1]]]"),
    BODY("[[1,2]]"),
    BODY("\"inputs\""),
    BODY("{\"return\":{\"inputs\":[[1]]}}"),
    BODY("{\"a\":{\"inputs\":[[1,,2]]}}"),
    /* Names by other ways of writing. */
    BODY("{\"\\u0069nputs\":[[1,2]],\"bi\\u0061s\":[[1]]}"),
    BODY("{\"inputs\\u0000\":[[1,2]]}"),
    BODY("{\"inputs\0\":[[1,2]]}"),
    BODY("{\"input\":[[1,2]],\"inputss\":[[1]],\"\":[1]}"),
    BODY("{\"\\u0069nputs\":[[1]],\"inputs\":[[1]]}"),
    TENSOR("{\"d\\u0074ype\":\"f\\u00332\",\"shape\":[1,1],\"d\\u0061ta\":\"AACAPw==\"}"),
    /* Bytes that are no UTF-8, marks, other encodings. */
    BODY("\xef\xbb\xbf{\"inputs\":[[1]]}"),
    BODY("{\0\"\0i\0n\0p\0u\0t\0s\0\"\0"),
    BODY("{\"inputs\":[[1]],\"tokens\":[\"\xff\"]}"),
    BODY("{\"inputs\":[[1\xff]]}"),
    BODY("{\"inputs\":[[1\0]]}"),
    BODY("{\"inputs\":[[\"\xc3\"]]}"),
    BODY("{\"inputs\":[[1]],\"\xff\xfe\":1}"),
    /* base64, as it should be and as it should not. */
    DATA("AACAPw=="),
    DATA("AACAPw="),
    DATA("AACAPw"),
    DATA(""),
    DATA("===="),
    DATA("A==="),
    DATA("AA=A"),
    DATA("AA==AA=="),
    DATA("AAAAAB=="),
    DATA("AAAAAB==AA"),
    DATA("AAA=AAAA"),
    DATA("AAAAAA=\\u003d"),
    DATA("\\/+\\/+AA=="),
    DATA("AA\\u0041A\\u0041A=="),
    DATA("AA\\nAA=="),
    DATA("AA AAA=="),
    DATA("AA\nAA=="),
    DATA("AA\\uD83D\\uDE00=="),
    DATA("AA\\uD83DAA=="),
    DATA("AA\\uDE00AA=="),
    DATA("AA\\uD83D\\u0041=="),
    DATA("AA\\x41AA=="),
    DATA("AA\\u00g0AA=="),
    DATA("AA\xc3\xbc=="),
    DATA("AA\xc3\x28=="),
    DATA("AA\xff=="),
    DATA("AA\xed\xa0\x80"),
    DATA("AA\0AA=="),
    DATA("AADAfw=="),
    DATA("AACA/w=="),
    TENSOR("{\"dtype\":\"f64\",\"shape\":[1,2],\"data\":\"AAAAAAAA8D8AAAAAAADwQw==\"}"),
    TENSOR("{\"dtype\":\"f64\",\"shape\":[1,2],\"data\":\"AAAAAAAA8D////////vvfw==\"}"),
    TENSOR("{\"data\":\"AAAAAAAA8D8AAAAAAADwfw==\",\"dtype\":\"f64\",\"shape\":[1,2]}"),
    TENSOR("{\"dtype\":\"f64\",\"shape\":[1,2],\"data\":\"AAAAAAAA8D8AAAAAAADwfw==\"}"),
    TENSOR("{\"data\":\"ADwAAAC4AEA=\",\"dtype\":\"f16\",\"shape\":[2,2]}"),
    TENSOR("{\"dtype\":\"bool\",\"shape\":[1,1],\"data\":\"AQ==\"}"),
    TENSOR("{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":5}"),
    TENSOR("{\"dtype\":5,\"shape\":[1,1],\"data\":{\"data\":\"AAAA\"}}"),
    TENSOR("{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AACAPw==\",\"x\":[1]}"),
    TENSOR("[{\"dtype\":\"f16\",\"shape\":[1,1],\"data\":\"ADw=\"},{\"dtype\":\"f64\",\"shape\":[1,1],"
           "\"data\":\"AAAAAAAA8D8=\"},{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AACAPw==\"}]"),
    TENSOR("[{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AACAPwA=\"},{\"dtype\":\"f32\",\"shape\":[1,1],"
           "\"data\":\"AACAPw==\"}]"),
    BODY("{\"inputs\":[[1]],\"attention_mask\":{\"dtype\":\"u8\",\"shape\":[1],\"data\":\"Ag==\"}}"),
    BODY("{\"inputs\":[[1],[2]],\"bias\":{\"dtype\":\"f32\",\"shape\":[1,2],\"data\":\"AACA/wAAgD8=\"}}"),
};
enum { BODIES = sizeof bodies / sizeof *bodies };

START_TEST(hurtful_bodies) {
    check(bodies[_i].text, bodies[_i].size, NULL);
    check_cuts(bodies[_i].text, bodies[_i].size);
    check_prefixes(bodies[_i].text, bodies[_i].size);
}
END_TEST

START_TEST(changed_bodies) {
    check_changes(bodies[_i].text, bodies[_i].size);
}
END_TEST

/* `before`, then a piece so many times, then `after`. */
static void check_long(const char *before, const char *piece, size_t count, const char *after) {
    size_t length = strlen(piece), size = strlen(before) + count * length + strlen(after);
    char *body = malloc(size + 1), *at = body + strlen(before);
    memcpy(body, before, strlen(before));
    for (size_t i = 0; i < count; i++, at += length)
        memcpy(at, piece, length);
    memcpy(at, after, strlen(after) + 1);
    verdict right = ask_oracle(body, size, NULL);
    check_pieces(body, size, NULL, &right, size);
    check_pieces(body, size, NULL, &right, 1000);
    verdict_done(&right);
    free(body);
}

static const struct {
    const char *before, *piece, *after;
} long_bodies[] = {
    {"{\"inputs\":", "[", ""},
    {"{\"inputs\":[[1,", "[", ""},
    {"{\"inputs\":[[1,2],", "[3,4],", "[5,6]]}"},
    {"{\"inputs\":[[1,2],", "[3,4],", "[5,6,7]]}"},
    {"{\"inputs\":[[", "1,", "1]]}"},
    {"{\"inputs\":[[", "-0.123456789,", "1]]}"},
    {"{\"inputs\":[[", "0.12345678901234567, ", "null]]}"},
    {"{\"inputs\":[[1]],\"bias\":[", "[[1,0],[0,1]],", "[[1,1]]]}"},
    {"{\"inputs\":[[[1]],[[1],[2]]],\"attention_mask\":[", "[1],[1,0],", "[1]]}"},
    {"{\"inputs\":[[1", "0", "]]}"},
    {"{\"inputs\":[[0.", "0", "1]]}"},
    {"{\"inputs\":[[1.", "5", "]]}"},
    {"{\"inputs\":[[1e", "0", "1]]}"},
    {"{\"inputs\":[[1", " ", "]]}"},
    {"{\"inputs\":[[1]]}", " ", ""},
    {"{\"inputs\":[[1]]", " ", ",}"},
    {"{ \"model\"", "\n", ": 5, \"inputs\":[[1]]}"},
    {"{\"inputs\":{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"", "AACAPwAA", "\"}}"},
    {"{\"inputs\":{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AAAA=", "AACAPwAA", "\"}}"},
    {"{\"inputs\":{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"", "AACAPwA\\/", "\"}}"},
    {"{\"inputs\":[", "{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AACAPw==\"},", "{}]}"},
    {"{\"inputs\":[\"", "x", "\"]}"},
    {"{\"inputs\":[", "\"x\",", "5]}"},
    {"{\"inputs\":[[1]],\"tokens\":[", "\"x\",", "\"y\"]}"},
};

START_TEST(long_texts) {
    static const size_t counts[] = {1, 2, 20, 40, 1000, 2044, 2045, 2046, 2047, 2048, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check_long(long_bodies[_i].before, long_bodies[_i].piece, counts[i], long_bodies[_i].after);
}
END_TEST

ATTND_SUITE(json_oracle) {
    Suite *suite = suite_create("json_oracle");
    TCase *tests = tcase_create("json_oracle");
    tcase_add_test(tests, random_bodies);
    tcase_add_test(tests, random_bodies_cut_at_every_byte);
    tcase_add_loop_test(tests, hurtful_bodies, 0, BODIES);
    tcase_add_loop_test(tests, changed_bodies, 0, BODIES);
    tcase_add_loop_test(tests, long_texts, 0, sizeof long_bodies / sizeof *long_bodies);
    suite_add_tcase(suite, tests);
    return suite;
}
