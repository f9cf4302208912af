/* Estimates are upper bounds: of the memory that Jansson takes, and of an answer's text. */
#include "server/codec/json.h"
#include "server/jobs/cost.h"
#include "suites.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t held, most;

/* As glibc counts: eight bytes of its own, rounded up to sixteen, 32 at least. */
static size_t block(void *memory) {
    return memory ? malloc_usable_size(memory) + 8 : 0;
}

static void *counting_malloc(size_t size) {
    void *memory = malloc(size);
    held += block(memory);
    if (held > most) most = held;
    return memory;
}

static void counting_free(void *memory) {
    held -= block(memory);
    free(memory);
}

/* The most that reading a text holds at a time. */
static size_t taken(const char *text, size_t size) {
    json_error_t error;
    held = most = 0;
    json_t *tree = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, &error);
    ck_assert_msg(tree != NULL, "%s", error.text);
    json_decref(tree);
    ck_assert_uint_eq(held, 0);
    return most;
}

/* `count` copies of a piece between brackets, separated by commas. */
static char *repeated(const char *piece, size_t count, size_t *size) {
    size_t length = strlen(piece);
    char *text = malloc(count * (length + 1) + 2), *at = text;
    *at++ = '[';
    for (size_t i = 0; i < count; i++) {
        if (i > 0) *at++ = ',';
        memcpy(at, piece, length);
        at += length;
    }
    *at++ = ']';
    *size = (size_t)(at - text);
    return text;
}

START_TEST(the_tree_is_not_underestimated) {
    static const char *const pieces[] = {
        "1", "0.123456789", "[]", "[1]", "{}", "\"\"", "\"token\"", "{\"a\":1}", "[[1,2,3,4,5,6,7,8,9]]"};
    json_set_alloc_funcs(counting_malloc, counting_free);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        size_t size;
        char *text = repeated(pieces[i], 5000, &size);
        size_t estimate = srv_cost_of_tree(text, size), real = taken(text, size);
        ck_assert_msg(real <= estimate, "%s: %zu bytes, estimated %zu", pieces[i], real, estimate);
        ck_assert_msg(estimate <= 16 * real, "%s: %zu bytes, estimated %zu", pieces[i], real, estimate);
        free(text);
    }
    json_set_alloc_funcs(malloc, free);
}
END_TEST

START_TEST(an_answer_is_not_underestimated) {
    const attn_request request = {.sequence_count = 3, .head_count = 2, .query_count = 4};
    srv_ask ask = {.request = request, .tokens = json_pack("[s, s]", "a", "\x01\x02")};
    attn_plan plan = {.request = request, .result_floats = 1000};
    size_t cost = srv_cost_of_answer(&ask, &plan);
    ck_assert_uint_ge(cost, 1000 * strlen("-1.17549435e-38,") + strlen("\"a\",\"\\u0001\\u0002\""));
    plan.request.top_k = 1;
    ck_assert_uint_gt(srv_cost_of_answer(&ask, &plan), cost);
    plan.result_floats = SIZE_MAX / 4;
    ck_assert_uint_eq(srv_cost_of_answer(&ask, &plan), SIZE_MAX);
    json_decref(ask.tokens);
}
END_TEST

ATTND_SUITE(cost) {
    Suite *suite = suite_create("cost");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, the_tree_is_not_underestimated);
    tcase_add_test(cases, an_answer_is_not_underestimated);
    suite_add_tcase(suite, cases);
    return suite;
}
