/* POST /v1/attention, refused: status, code and place for each field, and which refusal goes first. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

#define X "\"inputs\":[[1,0,0,0],[0,1,0,0]]"

static const struct {
    const char *body;
    long status;
    const char *code, *pointer;
} refusals[] = {
    /* Which model, which layer. */
    {"{\"model\":\"none\"," X "}", 404, "model_not_found", "/model"},
    {"{\"model\":7," X "}", 422, "wrong_type", "/model"},
    {"{\"layer\":1," X "}", 404, "layer_not_found", "/layer"},
    {"{\"layer\":-1," X "}", 404, "layer_not_found", "/layer"},
    {"{\"layer\":\"layers.7\"," X "}", 404, "layer_not_found", "/layer"},
    {"{\"layer\":true," X "}", 422, "wrong_type", "/layer"},
    {"{\"layer\":0.5," X "}", 422, "wrong_type", "/layer"},
    /* Fields. */
    {"{}", 422, "missing_field", "/inputs"},
    {"{\"inputs\":null}", 422, "missing_field", "/inputs"},
    {"{" X ",\"casual\":true}", 422, "unknown_field", "/casual"},
    {"{" X ",\"return\":{\"head\":[0]}}", 422, "unknown_field", "/return/head"},
    {"{" X ",\"a/b~c\":1}", 422, "unknown_field", "/a~1b~0c"},
    {"{" X ",\"sublayer\":true}", 422, "not_supported", "/sublayer"},
    {"{" X ",\"retain\":true}", 422, "not_supported", "/retain"},
    {"[1]", 422, "wrong_type", ""},
    {"7", 422, "wrong_type", ""},
    /* inputs */
    {"{\"inputs\":[]}", 422, "out_of_range", "/inputs"},
    {"{\"inputs\":[[]]}", 422, "out_of_range", "/inputs/0"},
    {"{\"inputs\":[[[1,0,0,0]],[]]}", 422, "out_of_range", "/inputs/1"},
    {"{\"inputs\":[1,2,3,4]}", 422, "shape_mismatch", "/inputs"},
    {"{\"inputs\":[[[[1,0,0,0]]]]}", 422, "shape_mismatch", "/inputs"},
    {"{\"inputs\":\"text\"}", 422, "wrong_type", "/inputs"},
    {"{\"inputs\":[[1,0,0]]}", 422, "shape_mismatch", "/inputs/0"},
    {"{\"inputs\":[[1,0,0,0],[0,1,0]]}", 422, "shape_mismatch", "/inputs/1"},
    {"{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[1,0,0,0,0]]]}", 422, "shape_mismatch", "/inputs/1/1"},
    {"{\"inputs\":[[1,0,0,\"0\"]]}", 422, "wrong_type", "/inputs/0/3"},
    {"{\"inputs\":[[1,0,null,0]]}", 422, "wrong_type", "/inputs/0/2"},
    {"{\"inputs\":[[1,0,0,0],[1,[0],0,0]]}", 422, "wrong_type", "/inputs/1/1"},
    {"{\"inputs\":[[1,0,0,4e38]]}", 422, "out_of_range", "/inputs/0/3"},
    /* context, values */
    {"{" X ",\"context\":[[1,0]]}", 422, "shape_mismatch", "/context/0"},
    {"{" X ",\"context\":[[[1,0,0,0]]]}", 422, "shape_mismatch", "/context"},
    {"{\"inputs\":[[[1,0,0,0]],[[1,0,0,0]]],\"context\":[[[1,0,0,0]]]}", 422, "shape_mismatch", "/context"},
    {"{" X ",\"context\":[[1,0,0,0]],\"values\":[[1,0,0,0],[1,0,0,0]]}", 422, "shape_mismatch", "/values"},
    {"{" X ",\"context\":[[1,0,0,0]],\"values\":[[1,0]]}", 422, "shape_mismatch", "/values/0"},
    {"{" X ",\"values\":[[1,0,0,0],[0,0,0,1]]}", 422, "conflict", "/values"},
    /* causal, window, scale */
    {"{" X ",\"causal\":1}", 422, "wrong_type", "/causal"},
    {"{" X ",\"causal\":\"left\"}", 422, "out_of_range", "/causal"},
    {"{" X ",\"context\":[[1,0,0,0]],\"causal\":true}", 422, "ambiguous_causal", "/causal"},
    {"{" X ",\"context\":[[1,0,0,0]],\"window\":1}", 422, "ambiguous_causal", "/causal"},
    {"{" X ",\"window\":-1}", 422, "out_of_range", "/window"},
    {"{" X ",\"window\":1.5}", 422, "wrong_type", "/window"},
    {"{" X ",\"window\":\"2\"}", 422, "wrong_type", "/window"},
    {"{" X ",\"scale\":\"1\"}", 422, "wrong_type", "/scale"},
    {"{" X ",\"scale\":1e39}", 422, "out_of_range", "/scale"},
    /* masks */
    {"{" X ",\"key_padding_mask\":[[false,true,false]]}", 422, "shape_mismatch", "/key_padding_mask/0"},
    {"{" X ",\"key_padding_mask\":[0,1]}", 422, "wrong_type", "/key_padding_mask/0"},
    {"{" X ",\"key_padding_mask\":true}", 422, "wrong_type", "/key_padding_mask"},
    {"{" X ",\"attention_mask\":[[1,0,1]]}", 422, "shape_mismatch", "/attention_mask/0"},
    {"{" X ",\"attention_mask\":[[1,0],[1,1],[1,1]]}", 422, "shape_mismatch", "/attention_mask"},
    {"{" X ",\"attention_mask\":[[[1,0]],[[1,0]],[[1,0]]]}", 422, "shape_mismatch", "/attention_mask"},
    {"{" X ",\"attention_mask\":[[1,0.5]]}", 422, "out_of_range", "/attention_mask/0/1"},
    {"{" X ",\"attention_mask\":[[[[1,1]]]]}", 422, "shape_mismatch", "/attention_mask"},
    {"{" X ",\"bias\":[0,0]}", 422, "shape_mismatch", "/bias"},
    {"{" X ",\"bias\":[[0,0,0]]}", 422, "shape_mismatch", "/bias/0"},
    {"{" X ",\"bias\":[[0,true]]}", 422, "wrong_type", "/bias/0/1"},
    {"{" X ",\"bias\":[[0,1e39]]}", 422, "out_of_range", "/bias/0/1"},
    /* return */
    {"{" X ",\"return\":[]}", 422, "wrong_type", "/return"},
    {"{" X ",\"return\":{\"attention\":1}}", 422, "wrong_type", "/return/attention"},
    {"{" X ",\"return\":{\"heads\":[]}}", 422, "out_of_range", "/return/heads"},
    {"{" X ",\"return\":{\"heads\":[2]}}", 422, "out_of_range", "/return/heads/0"},
    {"{" X ",\"return\":{\"heads\":[0,0]}}", 422, "out_of_range", "/return/heads/1"},
    {"{" X ",\"return\":{\"heads\":[-1]}}", 422, "out_of_range", "/return/heads/0"},
    {"{" X ",\"return\":{\"heads\":0}}", 422, "wrong_type", "/return/heads"},
    {"{" X ",\"return\":{\"queries\":[1,2]}}", 422, "out_of_range", "/return/queries/1"},
    {"{\"inputs\":[[[1,0,0,0],[0,1,0,0]],[[1,0,0,0]]],\"return\":{\"queries\":[1]}}", 422, "out_of_range",
     "/return/queries/0"},
    {"{" X ",\"return\":{\"precision\":0}}", 422, "out_of_range", "/return/precision"},
    {"{" X ",\"return\":{\"precision\":10}}", 422, "out_of_range", "/return/precision"},
    {"{" X ",\"return\":{\"outputs\":false,\"attention\":false}}", 422, "out_of_range", "/return"},
    /* tokens */
    {"{" X ",\"tokens\":[\"one\"]}", 422, "shape_mismatch", "/tokens"},
    {"{" X ",\"tokens\":[\"one\",2]}", 422, "wrong_type", "/tokens/1"},
    {"{" X ",\"context\":[[1,0,0,0]],\"context_tokens\":[\"a\",\"b\"]}", 422, "shape_mismatch",
     "/context_tokens"},
};

START_TEST(field_is_refused) {
    http_answer answer = http_post(api_daemon.url, "/v1/attention", refusals[_i].body);
    ck_assert_msg(answer.status == refusals[_i].status, "%s: %ld %s", refusals[_i].body, answer.status,
                  answer.body);
    json_t *document = http_json(&answer);
    const char *code = json_string_value(json_object_get(document, "code"));
    const char *pointer = json_string_value(json_object_get(document, "pointer"));
    ck_assert_msg(code && strcmp(code, refusals[_i].code) == 0, "%s: %s", refusals[_i].body, answer.body);
    ck_assert_msg(pointer && strcmp(pointer, refusals[_i].pointer) == 0, "%s: %s", refusals[_i].body,
                  answer.body);
    json_decref(document);
    api_check_problem(&answer, refusals[_i].status, refusals[_i].code);
    http_done(&answer);
}
END_TEST

static const struct {
    const char *body;
    int offset; /* at least this, and within the text */
} no_json[] = {
    {"", 0},
    {"{", 1},
    {"{\"inputs\":[[1,0,0,0]],}", 22},
    {"{\"inputs\":[[1,0,0,0]]} x", 23},
    {"{\"inputs\":[[1,0,0,0]],\"inputs\":[[1,0,0,0]]}", 23},
    {"{'inputs':[[1,0,0,0]]}", 1},
    {"{\"inputs\":[[NaN,0,0,0]]}", 12},
    {"{\"inputs\":[[Infinity,0,0,0]]}", 12},
    {"{\"inputs\":[[01,0,0,0]]}", 12},
    {"{\"inputs\":[[+1,0,0,0]]}", 12},
    {"{\"inputs\":[[.5,0,0,0]]}", 12},
    {"{\"inputs\":[[1.,0,0,0]]}", 12},
    {"{\"inputs\":[[1,0,0,0]],\"model\":\"\xff\"}", 31},
    {"{\"inputs\":[[1,0,0,0]],\"model\":\"\xed\xa0\x80\"}", 31},
    {"{\"inputs\":[[1,0,0,0]],\"model\":\"\\ud800\"}", 31},
    {"\xef\xbb\xbf{\"inputs\":[[1,0,0,0]]}", 0},
};

START_TEST(broken_text_has_an_offset) {
    const char *body = no_json[_i].body;
    http_answer answer = http_post(api_daemon.url, "/v1/attention", body);
    ck_assert_msg(answer.status == 400, "%s: %ld %s", body, answer.status, answer.body);
    api_check_problem(&answer, 400, "bad_json");
    json_t *document = http_json(&answer);
    const json_t *offset = json_object_get(document, "offset");
    ck_assert_msg(json_is_integer(offset) && json_integer_value(offset) >= no_json[_i].offset &&
                      json_integer_value(offset) <= (json_int_t)strlen(body),
                  "%s: %s", body, answer.body);
    json_decref(document);
    http_done(&answer);
}
END_TEST

START_TEST(layers_that_there_are_are_told) {
    static const struct {
        const char *body, *detail;
    } asked[] = {
        {"{\"layer\":3," X "}", "\"no layer 3 in model 'tiny'; its only layer is 0 ('layers.0')\""},
        {"{\"layer\":\"b\"," X "}", "\"no layer 'b' in model 'tiny'; its only layer is 0 ('layers.0')\""},
        {"{\"layer\":3,\"model\":\"demo\"," X "}",
         "\"no layer 3 in model 'demo'; its layers are 0 ('layers.0') to 1 ('layers.1')\""},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        json_t *document = api_post("/v1/attention", asked[i].body, 404);
        json_check_exact(document, "/detail", asked[i].detail);
        json_decref(document);
    }
}
END_TEST

START_TEST(gzip_without_its_header_is_told) {
    json_t *document = api_post("/v1/attention", "\x1f\x8b\x08\x01", 400);
    json_check_exact(document, "/detail",
                     "\"not JSON: invalid token near '?'; gzip, which begins with these bytes, is sent with "
                     "Content-Encoding: gzip\"");
    json_decref(document);
}
END_TEST

START_TEST(deep_nesting_is_refused) {
    enum { DEPTH = 30000 };
    char *body = malloc(2 * DEPTH + 64);
    int used = sprintf(body, "{\"inputs\":");
    memset(body + used, '[', DEPTH);
    memset(body + used + DEPTH, ']', DEPTH);
    strcpy(body + used + 2 * DEPTH, "}");
    http_answer answer = http_post(api_daemon.url, "/v1/attention", body);
    api_check_problem(&answer, 400, "bad_json");
    http_done(&answer);
    free(body);
}
END_TEST

START_TEST(detail_names_what_was_found_and_what_is_accepted) {
    static const struct {
        const char *body, *words[4];
    } details[] = {
        {"{\"inputs\":[[1,0,0,0],[0,1,0]]}", {"3", "4", "layer 0", "'tiny'"}},
        {"{\"model\":\"none\"," X "}", {"'none'", "tiny", "demo", "plain"}},
        {"{" X ",\"casual\":true}", {"casual", "causal"}},
        {"{" X ",\"heads\":[0]}", {"heads", "return.heads"}},
        {"{" X ",\"context\":[[1,0,0,0]],\"causal\":true}", {"top_left", "bottom_right"}},
    };
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        http_answer answer = http_post(api_daemon.url, "/v1/attention", details[i].body);
        json_t *document = http_json(&answer);
        const char *detail = json_string_value(json_at(document, "/detail"));
        for (size_t w = 0; w < 4 && details[i].words[w]; w++)
            ck_assert_msg(strstr(detail, details[i].words[w]) != NULL, "'%s' misses %s", detail,
                          details[i].words[w]);
        json_decref(document);
        http_done(&answer);
    }
}
END_TEST

/* Where several apply: text before model, model before fields, fields before what the result would be. */
START_TEST(the_first_in_order_wins) {
    static const struct {
        const char *body;
        long status;
        const char *code;
    } several[] = {
        {"{\"model\":\"none\",\"unknown\":1,\"inputs\":[[1]]", 400, "bad_json"},
        {"{\"unknown\":1,\"inputs\":[[1]],\"model\":\"none\"}", 404, "model_not_found"},
        {"{\"unknown\":1,\"inputs\":[[1]],\"layer\":9}", 404, "layer_not_found"},
        {"{\"unknown\":1,\"inputs\":[[1]]}", 422, "unknown_field"},
    };
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        http_answer answer = http_post(api_daemon.url, "/v1/attention", several[i].body);
        api_check_problem(&answer, several[i].status, several[i].code);
        http_done(&answer);
    }
    /* From the headers: the path before the media type, that before the length. */
    char *big = calloc(1, 70000);
    memset(big, ' ', 69999);
    const char *const xml[] = {"Content-Type: text/xml", NULL};
    http_answer answer = http_send("POST", api_daemon.url, "/nothing", xml, big, 69999);
    api_check_problem(&answer, 404, "not_found");
    http_done(&answer);
    answer = http_send("POST", api_daemon.url, "/v1/attention", xml, big, 69999);
    api_check_problem(&answer, 415, "unsupported_media_type");
    http_done(&answer);
    free(big);
}
END_TEST

START_TEST(media_type_is_415) {
    static const char *const types[] = {"Content-Type: text/xml", "Content-Type: application/octet-stream",
                                        "Content-Type: multipart/form-data; boundary=x",
                                        "Content-Type: application/jsonx"};
    http_answer answer =
        http_send("POST", api_daemon.url, "/v1/attention", (const char *const[]){types[_i], NULL}, "{}", 2);
    api_check_problem(&answer, 415, "unsupported_media_type");
    http_done(&answer);
}
END_TEST

START_TEST(body_limit_is_413) {
    /* 64 KiB is the limit: white space around a request fills it to the byte. */
    for (int beyond = 0; beyond < 2; beyond++) {
        size_t size = 65536 + (size_t)beyond;
        char *body = malloc(size + 1);
        memset(body, ' ', size);
        memcpy(body, "{" X "}", strlen("{" X "}"));
        body[size] = '\0';
        http_answer answer = http_post(api_daemon.url, "/v1/attention", body);
        if (beyond) {
            api_check_problem(&answer, 413, "body_too_large");
            ck_assert_msg(strstr(answer.body, "65536") && strstr(answer.body, "max_body"), "%s", answer.body);
        } else {
            ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
        }
        http_done(&answer);
        free(body);
    }
}
END_TEST

ATTND_SUITE(errors) {
    Suite *suite = suite_create("errors");
    TCase *tests = api_case(suite, "errors");
    tcase_add_loop_test(tests, field_is_refused, 0, (int)(sizeof refusals / sizeof *refusals));
    tcase_add_test(tests, layers_that_there_are_are_told);
    tcase_add_test(tests, gzip_without_its_header_is_told);
    tcase_add_loop_test(tests, broken_text_has_an_offset, 0, (int)(sizeof no_json / sizeof *no_json));
    tcase_add_test(tests, deep_nesting_is_refused);
    tcase_add_test(tests, detail_names_what_was_found_and_what_is_accepted);
    tcase_add_test(tests, the_first_in_order_wins);
    tcase_add_loop_test(tests, media_type_is_415, 0, 4);
    tcase_add_test(tests, body_limit_is_413);
    return suite;
}
