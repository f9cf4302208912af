/* What a good body becomes: numbers, lengths, strides of every form of mask, selections, hints. */
#include "sample_layers.h"
#include "suites.h"
#include "tests/support/decoding.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static attn_plan plan;

/* The ask of a body that must be good. */
static srv_ask *good(const char *body, const char *layer) {
    srv_problem problem = {0};
    srv_ask *ask = sample_request(body, strlen(body), layer, &plan, &problem);
    ck_assert_msg(ask != NULL, "%s: %s at %s", body, problem.detail, problem.where);
    return ask;
}

START_TEST(defaults) {
    srv_ask *ask = good("{\"inputs\":[[1,2,3,4]]}", "tiny");
    ck_assert_ptr_null(ask->model);
    ck_assert_ptr_null(ask->layer_name);
    ck_assert_uint_eq(ask->layer_index, 0);
    ck_assert(ask->single);
    ck_assert_uint_eq(ask->request.want, ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS);
    ck_assert_int_eq(ask->request.causal, ATTN_CAUSAL_LAYER);
    ck_assert(!ask->request.window_given && !ask->request.scale_given);
    ck_assert_int_eq(ask->precision, 0);
    ck_assert_uint_eq(ask->warning_count, 0);
    ck_assert_ptr_eq(ask->request.layer, sample_layer("tiny"));
    srv_ask_free(ask);
    /* null is absent everywhere. */
    ask =
        good("{\"model\":null,\"layer\":null,\"inputs\":[[1,2,3,4]],\"context\":null,\"values\":null,"
             "\"causal\":null,"
             "\"window\":null,\"key_padding_mask\":null,\"attention_mask\":null,\"bias\":null,\"scale\":null,"
             "\"return\":{\"outputs\":null,\"heads\":null,\"precision\":null,\"top_k\":null},\"tokens\":null,"
             "\"context_tokens\":null,\"lengths\":null,\"plan\":null}",
             "tiny");
    ck_assert_uint_eq(ask->request.want, ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS);
    ck_assert_ptr_null(ask->request.context);
    srv_ask_free(ask);
    ask = good("{\"inputs\":[[1,2,3,4]],\"return\":null}", "tiny");
    srv_ask_free(ask);
}
END_TEST

START_TEST(numbers) {
    static const float want[] = {1,    16777216, 1.7e19f, 100, 0.01f, 3.4028235e38f, -3.4028235e38f,
                                 0.1f, 0,        -2,      0,   5e-45f};
    srv_ask *ask = good("{\"inputs\":[[1,16777217,17000000000000000000,1E+2,1e-2,3.4028235e38,-3.4028235e38,"
                        "0.1,1e-400,-2.0,1e-50,5e-45]]}",
                        "plain");
    ck_assert_uint_eq(ask->request.d_model, sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert_msg(ask->request.inputs[i] == want[i], "number %zu is %a, not %a", i,
                      (double)ask->request.inputs[i], (double)want[i]);
    srv_ask_free(ask);
}
END_TEST

START_TEST(names_and_options) {
    srv_ask *ask =
        good("{\"inputs\":[[1,2,3,4],[5,6,7,8]],\"model\":\"m\",\"layer\":\"decoder.3.cross\","
             "\"causal\":\"bottom_right\",\"window\":3,\"scale\":-0.5,\"return\":{\"outputs\":false,"
             "\"scores\":true,\"projections\":true,\"heads\":[1,0],\"queries\":[1],\"precision\":4}}",
             "tiny");
    ck_assert_str_eq(ask->model, "m");
    ck_assert_str_eq(ask->layer_name, "decoder.3.cross");
    ck_assert_int_eq(ask->request.causal, ATTN_CAUSAL_BOTTOM_RIGHT);
    ck_assert(ask->request.window_given && ask->request.window == 3);
    ck_assert(ask->request.scale_given && ask->request.scale == -0.5f);
    ck_assert_uint_eq(ask->request.want, ATTN_WANT_MAPS | ATTN_WANT_SCORES | ATTN_WANT_PROJECTIONS);
    ck_assert_uint_eq(ask->request.head_count, 2);
    ck_assert_uint_eq(ask->request.heads[0], 1);
    ck_assert_uint_eq(ask->request.query_count, 1);
    ck_assert_uint_eq(ask->request.queries[0], 1);
    ck_assert_int_eq(ask->precision, 4);
    srv_ask_free(ask);
    ask = good("{\"inputs\":[[1,2,3,4]],\"layer\":7,\"causal\":false,\"window\":0,\"scale\":0}", "causal");
    ck_assert_uint_eq(ask->layer_index, 7);
    ck_assert_int_eq(ask->request.causal, ATTN_CAUSAL_OFF);
    ck_assert(ask->request.window_given && ask->request.window == 0);
    ck_assert(ask->request.scale_given && ask->request.scale == 0);
    srv_ask_free(ask);
    ask = good("{\"inputs\":[[1,2,3,4]],\"causal\":true}", "tiny");
    ck_assert_int_eq(ask->request.causal, ATTN_CAUSAL_SQUARE);
    srv_ask_free(ask);
}
END_TEST

/* The same options from the query; what the query does not say the body does. */
START_TEST(options_in_the_query) {
    static const char body[] = "{\"inputs\":[[1,2,3,4],[5,6,7,8]],\"causal\":null,\"timeout_ms\":250,"
                               "\"return\":{\"average_heads\":true,\"scores\":null,\"queries\":[1]}}";
    static const char query[] = "model=m%2d1&layer=decoder.3.cross&causal=bottom_right&window=3&scale=-5e-1&"
                                "outputs=0&projections=true&heads=1,0&top_k=2&precision=4&encoding=base64&"
                                "dtype=f16&tokens=a%2cb,c+d&plan=1&scores=false";
    srv_problem problem = {0};
    srv_ask *ask = sample_request_with(body, strlen(body), query, "tiny", &plan, &problem);
    ck_assert_msg(ask != NULL, "%s: %s", problem.where, problem.detail);
    ck_assert_str_eq(ask->model, "m-1");
    ck_assert_str_eq(ask->layer_name, "decoder.3.cross");
    ck_assert_int_eq(ask->request.causal, ATTN_CAUSAL_BOTTOM_RIGHT);
    ck_assert(ask->request.window_given && ask->request.window == 3);
    ck_assert(ask->request.scale_given && ask->request.scale == -0.5f);
    ck_assert_uint_eq(ask->request.want, ATTN_WANT_MAPS | ATTN_WANT_PROJECTIONS);
    ck_assert_uint_eq(ask->request.head_count, 2);
    ck_assert_uint_eq(ask->request.heads[0], 1);
    ck_assert_uint_eq(ask->request.queries[0], 1);
    ck_assert_uint_eq(ask->request.top_k, 2);
    ck_assert(ask->request.average_heads && ask->base64 && ask->half && ask->plan_only);
    ck_assert_int_eq(ask->precision, 4);
    ck_assert_uint_eq(ask->timeout_ms, 250);
    ck_assert_str_eq(json_string_value(json_array_get(ask->tokens, 0)), "a,b");
    ck_assert_str_eq(json_string_value(json_array_get(ask->tokens, 1)), "c d");
    srv_ask_free(ask);
    ask = sample_request_with(body, strlen(body), "layer=1&causal=1&lengths=1,1", "tiny", &plan, &problem);
    ck_assert_msg(ask == NULL, "queries 1 of two sequences of one");
    ck_assert_str_eq(problem.where, "/return/queries/0");
}
END_TEST

START_TEST(ragged_batch) {
    srv_ask *ask =
        good("{\"inputs\":[[[1,2,3,4],[5,6,7,8]],[[9,10,11,12]]],"
             "\"context\":[[[1,2,3]],[[4,5,6],[7,8,9]]],\"values\":[[[1,2]],[[3,4],[5,6]]],"
             "\"tokens\":[[\"a\",\"b\\u0000c\"],[\"\"]],\"context_tokens\":[[\"x\"],[\"y\",\"z\"]]}",
             "cross");
    ck_assert(!ask->single);
    ck_assert_uint_eq(ask->request.sequence_count, 2);
    ck_assert_uint_eq(ask->request.sequences[0].queries, 2);
    ck_assert_uint_eq(ask->request.sequences[0].keys, 1);
    ck_assert_uint_eq(ask->request.sequences[1].queries, 1);
    ck_assert_uint_eq(ask->request.sequences[1].keys, 2);
    ck_assert_uint_eq(ask->request.d_key, 3);
    ck_assert_uint_eq(ask->request.d_value, 2);
    for (size_t i = 0; i < 12; i++)
        ck_assert(ask->request.inputs[i] == (float)(i + 1));
    for (size_t i = 0; i < 9; i++)
        ck_assert(ask->request.context[i] == (float)(i + 1));
    for (size_t i = 0; i < 6; i++)
        ck_assert(ask->request.values[i] == (float)(i + 1));
    ck_assert_uint_eq(json_array_size(ask->tokens), 2);
    ck_assert_uint_eq(json_string_length(json_array_get(json_array_get(ask->tokens, 0), 1)), 3);
    ck_assert_uint_eq(json_array_size(json_array_get(ask->context_tokens, 1)), 2);
    srv_ask_free(ask);
}
END_TEST

/* Whether query i of head h of a sequence may see key j, by strides, as '0' or '1', for h, i, j in turn. */
static void mask_text(const attn_sequence *sequence, char *out) {
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 0; i < sequence->queries; i++)
            for (size_t j = 0; j < sequence->keys; j++) {
                const attn_mask *mask = &sequence->mask;
                *out++ = mask->allow[h * mask->head_stride + i * mask->query_stride + j] ? '1' : '0';
            }
    *out = '\0';
}

#define ONE "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"attention_mask\":"
#define EVEN "{\"inputs\":[[[1,0,0,0],[0,1,0,0]],[[1,0,0,0],[0,1,0,0]]],\"attention_mask\":"
#define RAGGED "{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[0,1,0,0]]],\"attention_mask\":"

/* Body, and per sequence heads · queries · keys. */
static const struct {
    const char *body, *first, *second;
} masks[] = {
    {ONE "[1,0]}", "10101010", NULL},
    {ONE "[true,false]}", "10101010", NULL},
    {ONE "[[0,1]]}", "01010101", NULL},
    {ONE "[[1,0],[1,1]]}", "10111011", NULL},
    {ONE "[[[1,0]],[[0,1]]]}", "10100101", NULL},
    {ONE "[[[1,0],[0,1]]]}", "10011001", NULL},
    {ONE "[[[1,0],[0,1]],[[1,1],[0,0]]]}", "10011100", NULL},
    /* rank 2 of a batch is N×S, even where N = L */
    {EVEN "[[1,0],[0,1]]}", "10101010", "01010101"},
    {EVEN "[[[1,0],[1,1]]]}", "10111011", "10111011"},
    {EVEN "[[[1,0],[1,1]],[[0,1],[0,0]]]}", "10111011", "01000100"},
    {EVEN "[[[1,0]],[[0,1]]]}", "10101010", "01010101"},
    {EVEN "[[[[1,0]],[[0,1]]]]}", "10100101", "10100101"},
    {EVEN "[[[[1,0]]],[[[0,1]]]]}", "10101010", "01010101"},
    {EVEN "[[[[1,0],[0,1]],[[1,1],[0,0]]]]}", "10011100", "10011100"},
    {RAGGED "[[1],[0,1]]}", "11", "01010101"},
    {RAGGED "[[[0]],[[0,1],[1,1]]]}", "00", "01110111"},
    {RAGGED "[[[0]],[[0,1]]]}", "00", "01010101"},
    {RAGGED "[[[[0]],[[1]]],[[[0,1],[1,1]]]]}", "01", "01110111"},
};

START_TEST(mask_forms) {
    char text[64];
    srv_ask *ask = good(masks[_i].body, "tiny");
    mask_text(ask->request.sequences, text);
    ck_assert_str_eq(text, masks[_i].first);
    if (masks[_i].second != NULL) {
        mask_text(ask->request.sequences + 1, text);
        ck_assert_str_eq(text, masks[_i].second);
    }
    ck_assert_ptr_null(ask->request.sequences[0].padding);
    srv_ask_free(ask);
}
END_TEST

START_TEST(padding_forms) {
    srv_ask *ask = good("{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"key_padding_mask\":[true,false]}", "tiny");
    ck_assert_int_eq(memcmp(ask->request.sequences[0].padding, "\1\0", 2), 0);
    ck_assert_ptr_null(ask->request.sequences[0].mask.allow);
    srv_ask_free(ask);
    ask = good(
        "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"key_padding_mask\":[[false,true]],\"attention_mask\":[[1,0]]}",
        "tiny");
    ck_assert_int_eq(memcmp(ask->request.sequences[0].padding, "\0\1", 2), 0);
    ck_assert_ptr_nonnull(ask->request.sequences[0].mask.allow);
    srv_ask_free(ask);
    ask = good("{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[0,1,0,0]]],\"key_padding_mask\":[[true],[false,true]]}",
               "tiny");
    ck_assert_int_eq(ask->request.sequences[0].padding[0], 1);
    ck_assert_int_eq(memcmp(ask->request.sequences[1].padding, "\0\1", 2), 0);
    srv_ask_free(ask);
}
END_TEST

static float bias_at(const attn_sequence *sequence, size_t h, size_t i, size_t j) {
    return sequence->bias.values[h * sequence->bias.head_stride + i * sequence->bias.query_stride + j];
}

START_TEST(bias_forms) {
    srv_ask *ask = good("{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"bias\":[[1,2],[3,-4.5]]}", "tiny");
    ck_assert(bias_at(ask->request.sequences, 0, 1, 1) == -4.5f &&
              bias_at(ask->request.sequences, 1, 1, 0) == 3);
    srv_ask_free(ask);
    ask = good("{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"bias\":[[[1,2]],[[3,4]]]}", "tiny");
    ck_assert(bias_at(ask->request.sequences, 0, 1, 1) == 2 && bias_at(ask->request.sequences, 1, 1, 0) == 3);
    srv_ask_free(ask);
    ask = good("{\"inputs\":[[[1,0,0,0]],[[1,0,0,0]]],\"bias\":[[[[1]],[[2]]]]}", "tiny");
    ck_assert(bias_at(ask->request.sequences + 1, 0, 0, 0) == 1 &&
              bias_at(ask->request.sequences + 1, 1, 0, 0) == 2);
    srv_ask_free(ask);
    ask = good("{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[0,1,0,0]]],\"bias\":[[[1]],[[2,3],[4,5]]]}", "tiny");
    ck_assert(bias_at(ask->request.sequences, 1, 0, 0) == 1 &&
              bias_at(ask->request.sequences + 1, 1, 1, 0) == 4);
    srv_ask_free(ask);
}
END_TEST

static const struct {
    const char *body;
    size_t hints;
} hinted[] = {
    {ONE "[[0,1],[0,0]]}", 1},
    {ONE "[[1,0],[1,1]]}", 0},
    {ONE "[[1,1],[0,1]]}", 0},
    {ONE "[[0,0],[0,0]]}", 1},
    {ONE "[[[0,0],[0,0]],[[0,0],[1,0]]]}", 0},
    {ONE "[0,1]}", 0},
    {EVEN "[[[0,1],[0,0]]]}", 1},
    {RAGGED "[[[0]],[[1,1]]]}", 1},
    {RAGGED "[[[1]],[[0,1],[0,0]]]}", 1},
    {ONE "[0,0],\"window\":2,\"return\":{\"precision\":3,\"encoding\":\"base64\"}}", 3},
    {ONE "[1,1],\"window\":1,\"return\":{\"precision\":3}}", 0},
    {ONE "[1,1],\"window\":0,\"return\":{\"encoding\":\"base64\"}}", 0},
    {ONE "[1,1],\"return\":{\"attention\":false,\"average_heads\":true}}", 1},
    {ONE "[1,1],\"return\":{\"attention\":false,\"heads\":[0]}}", 1},
    {ONE "[1,1],\"return\":{\"attention\":false,\"queries\":[0]}}", 1},
    {ONE "[1,1],\"return\":{\"attention\":false,\"scores\":true,\"queries\":[0]}}", 0},
};

START_TEST(hints) {
    srv_ask *ask = good(hinted[_i].body, "tiny");
    ck_assert_uint_eq(ask->warning_count, hinted[_i].hints);
    srv_ask_free(ask);
}
END_TEST

/* What is wrong with the rest of a body does not hide which model it is for: a 404 goes first. */
START_TEST(names_survive_problems) {
    static const char body[] = "{\"bogus\":1,\"inputs\":[],\"layer\":\"x\",\"model\":\"other\"}";
    srv_ask *ask = NULL;
    srv_problem problem = {0};
    ck_assert(decode_json(body, strlen(body), NULL, &ask, &problem));
    ck_assert_int_eq(problem.id, SRV_NO_PROBLEM);
    ck_assert_str_eq(ask->model, "other");
    ck_assert_str_eq(ask->layer_name, "x");
    ck_assert(!srv_ask_bind(ask, sample_layer("tiny"), "tiny", 0, &problem));
    ck_assert_int_eq(problem.id, SRV_UNKNOWN_FIELD);
    srv_ask_free(ask);
}
END_TEST

/* With a budget of so many bytes, all of which are back when the ask is gone. */
static srv_ask *decode_within(const char *body, size_t size, size_t memory, srv_problem *problem) {
    srv_budget budget;
    srv_ask *ask = NULL;
    const srv_source source = {0};
    srv_budget_init(&budget, memory);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &budget, 0);
    if (feed_copy(decoder, body, size, problem)) srv_decoder_end(decoder, &source, &ask, problem);
    srv_budget_give(&budget, srv_decoder_close(decoder));
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
    return ask;
}

/* A body that takes more than there is is told so, wherever that shows. */
START_TEST(too_little_memory) {
    static const char body[] =
        "{\"inputs\":[[1,0,-0.5,1e2],[0,1,0,0.12345678901234567890123456789012345678]],"
        "\"tokens\":[\"The\",\"a long label, longer than any first buffer is\"]}";
    size_t enough = 0;
    for (size_t memory = 0; enough == 0; memory += 8) {
        srv_problem problem = {0};
        srv_ask *ask = decode_within(body, sizeof body - 1, memory, &problem);
        if (ask != NULL && ask->problem.id == SRV_NO_PROBLEM) {
            ck_assert(ask->request.inputs[7] == 0.12345679f);
            ck_assert_uint_eq(json_string_length(json_array_get(ask->tokens, 1)), 45);
            enough = memory;
        } else {
            ck_assert_int_eq(ask == NULL ? problem.id : ask->problem.id, SRV_NEEDS_TOO_MUCH_MEMORY);
        }
        srv_ask_free(ask);
    }
    ck_assert_uint_gt(enough, 100);
}
END_TEST

/* Bodies that take the most memory for their bytes are read within the estimate. */
static const struct {
    const char *before, *piece, *after;
} heavy[] = {
    {"{}", "", ""},
    {"[]", " ", ""},
    {"{\"inputs\":[", "[],", "[1]]}"},
    {"{\"inputs\":[[", "1,", "1]]}"},
    {"{\"inputs\":[", "[1],", "[1]]}"},
    {"{\"inputs\":[", "{},", "[1]]}"},
    {"{\"inputs\":[", "{\"\":1},", "1]}"},
    {"{\"inputs\":[", "\"\",", "1]}"},
    {"{\"inputs\":[", "null,", "1]}"},
    {"{\"inputs\":\"", "x", "\"}"},
    {"{\"inputs\":\"", "\\n", "\"}"},
    {"{\"inputs\":\"", "\\u0001", "\"}"},
    {"{\"inputs\":[", "\"abcdefgh\",", "1]}"},
    {"{\"inputs\":[", "[[[[1]]]],", "1]}"},
};

START_TEST(estimates_hold) {
    enum { PIECES = 3000 };
    size_t piece = strlen(heavy[_i].piece), before = strlen(heavy[_i].before);
    for (size_t pieces = 1; pieces < PIECES; pieces += pieces / 8 + 1) {
        size_t size = before + pieces * piece + strlen(heavy[_i].after);
        char *body = malloc(size + 1), *at = body + before;
        memcpy(body, heavy[_i].before, before);
        for (size_t i = 0; i < pieces; i++, at += piece)
            memcpy(at, heavy[_i].piece, piece);
        strcpy(at, heavy[_i].after);
        srv_problem problem = {0};
        srv_ask *ask = decode_within(body, size, SIZE_MAX, &problem);
        ck_assert_msg(problem.id != SRV_MEMORY_TAKEN, "%zu times %s: %s", pieces, heavy[_i].piece,
                      problem.detail);
        srv_ask_free(ask);
        free(body);
    }
}
END_TEST

/* Many members, each with a name of its own. */
START_TEST(estimates_hold_for_members) {
    enum { SIZE = 200000 };
    char *body = malloc(SIZE);
    for (int members = 1; members < 5000; members += members / 8 + 1) {
        size_t size = 0;
        for (int i = 0; i < members; i++)
            size += (size_t)snprintf(body + size, SIZE - size, "%c\"%x\":1", i == 0 ? '{' : ',', (unsigned)i);
        body[size++] = '}';
        srv_problem problem = {0};
        srv_ask *ask = decode_within(body, size, SIZE_MAX, &problem);
        ck_assert_msg(ask != NULL, "%d members: %s", members, problem.detail);
        srv_ask_free(ask);
    }
    free(body);
}
END_TEST

ATTND_SUITE(json_decode) {
    Suite *suite = suite_create("json_decode");
    TCase *tests = tcase_create("json_decode");
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, numbers);
    tcase_add_test(tests, names_and_options);
    tcase_add_test(tests, options_in_the_query);
    tcase_add_test(tests, ragged_batch);
    tcase_add_loop_test(tests, mask_forms, 0, sizeof masks / sizeof *masks);
    tcase_add_test(tests, padding_forms);
    tcase_add_test(tests, bias_forms);
    tcase_add_loop_test(tests, hints, 0, sizeof hinted / sizeof *hinted);
    tcase_add_test(tests, names_survive_problems);
    tcase_add_test(tests, too_little_memory);
    tcase_add_loop_test(tests, estimates_hold, 0, sizeof heavy / sizeof *heavy);
    tcase_add_test(tests, estimates_hold_for_members);
    suite_add_tcase(suite, tests);
    return suite;
}
