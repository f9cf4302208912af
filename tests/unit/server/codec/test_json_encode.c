/* Answers and examples, through the engine. The parameter-free layer with masks that leave one key gives
 * numbers that are known without computing: the row of that key. */
#include "sample_layers.h"
#include "server/codec/json.h"
#include "suites.h"
#include "tests/support/decoding.h"
#include "tests/support/written.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Answers a body with a layer of `model`; the text is NUL-terminated and malloc'ed. */
static char *answer(const char *body, size_t size, const attn_model *model) {
    srv_problem problem = {0};
    attn_error error = {0};
    attn_plan plan;
    attn_pool *pool = NULL;
    attn_run *run = NULL;
    srv_ask *ask = NULL;
    ck_assert_msg(decode_json(body, size, NULL, &ask, &problem), "%s", problem.detail);
    ck_assert_msg(srv_ask_bind(ask, model->layers, model->name, 0, &problem), "%s: %s", problem.where,
                  problem.detail);
    ck_assert_msg(attn_plan_make(&ask->request, 1, &plan, &error) == ATTN_OK, "%s", error.text);
    ck_assert_int_eq(attn_pool_new(1, &pool, &error), ATTN_OK);
    ck_assert_int_eq(attn_run_new(&plan, &run, &error), ATTN_OK);
    ck_assert_int_eq(attn_run_wait(run, pool), ATTN_OK);
    srv_parts *parts = srv_parts_new();
    const srv_outcome outcome = {ask, model->name, 0, run, NULL};
    ck_assert(srv_json_encode(&outcome, parts, &problem));
    char *text = written_parts(parts, &size);
    srv_parts_free(parts);
    attn_run_free(run);
    attn_pool_free(pool);
    srv_ask_free(ask);
    return text;
}

static const struct {
    const char *body, *answer;
} answers[] = {
    {"{\"inputs\":[[1,-0.5]]}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[1],\"keys\":[1],\"heads\":1,\"kv_"
     "heads\":1,"
     "\"d_out\":2},\"heads\":[0],\"warnings\":[],\"outputs\":[[1,-0.5]],\"attention\":[[[1]]]}"},
    /* Labels pass through; without maps and scores there is no choice of heads. */
    {"{\"inputs\":[[3,0],[0,0.1]],\"attention_mask\":[[1,0],[0,1]],\"return\":{\"attention\":false},"
     "\"tokens\":[\"a\\\"\\u0000\\n\",\"\\u00fc/\"]}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[2],\"keys\":[2],\"heads\":1,\"kv_"
     "heads\":1,"
     "\"d_out\":2},\"tokens\":[\"a\\\"\\u0000\\n\",\"\xc3\xbc/"
     "\"],\"warnings\":[],\"outputs\":[[3,0],[0,0.1]]}"},
    /* Masked scores are null; scale 1 leaves the products. */
    {"{\"inputs\":[[2,0],[0,3]],\"causal\":true,\"scale\":1,\"return\":{\"outputs\":false,\"attention\":"
     "false,"
     "\"scores\":true,\"queries\":[1,0]}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[2],\"keys\":[2],\"heads\":1,\"kv_"
     "heads\":1,"
     "\"d_out\":2},\"heads\":[0],\"queries\":[1,0],\"warnings\":[],\"scores\":[[[0,9],[4,null]]]}"},
    /* A ragged batch is a list of N at their own lengths; values have their own width; a row without keys is
       counted. */
    {"{\"inputs\":[[[1,0]],[[0,1],[1,1]]],\"context\":[[[1,0],[0,1]],[[1,1]]],\"values\":[[[7],[8]],[[9]]],"
     "\"attention_mask\":[[[0,1]],[[1],[0]]],\"tokens\":[[\"a\"],[\"b\",\"c\"]],"
     "\"context_tokens\":[[\"d\",\"e\"],[\"f\"]]}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":2,\"queries\":[1,2],\"keys\":[2,1],\"heads\":1,"
     "\"kv_heads\":1,\"d_out\":1},\"heads\":[0],\"tokens\":[[\"a\"],[\"b\",\"c\"]],\"context_tokens\":[["
     "\"d\",\"e\"],"
     "[\"f\"]],\"rows_without_keys\":1,\"warnings\":[],\"outputs\":[[[8]],[[9],[0]]],\"attention\":[[[[0,1]]]"
     ","
     "[[[1],[0]]]]}"},
    /* Projections of a batch are a list of N objects; precision counts digits. */
    {"{\"inputs\":[[[0.123456,2]],[[1,0]]],\"return\":{\"outputs\":false,\"attention\":false,\"projections\":"
     "true,"
     "\"precision\":2}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":2,\"queries\":[1,1],\"keys\":[1,1],\"heads\":1,"
     "\"kv_heads\":1,\"d_out\":2},\"warnings\":[],\"projections\":[{\"q\":[[[0.12,2]]],\"k\":[[[0.12,2]]],"
     "\"v\":[[[0.12,2]]]},{\"q\":[[[1,0]]],\"k\":[[[1,0]]],\"v\":[[[1,0]]]}]}"},
    /* base64 both ways, f16, the k largest weights, packed batches, −Infinity in a bias. */
    {"{\"inputs\":[[3,0],[0,0.5]],\"attention_mask\":{\"dtype\":\"u8\",\"shape\":[2,2],\"data\":\""
     "AQAAAQ==\"},\"scale\":1,\"return\":{\"encoding\":\"base64\",\"scores\":true}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[2],\"keys\":[2],\"heads"
     "\":1,\"kv_heads\":1,\"d_out\":2},\"heads\":[0],\"warnings\":[],\"outputs\":{\"dtype\":\"f32\""
     ",\"shape\":[2,2],\"data\":\"AABAQAAAAAAAAAAAAAAAPw==\"},\"attention\":{\"dtype\":\"f32\",\"s"
     "hape\":[1,2,2],\"data\":\"AACAPwAAAAAAAAAAAACAPw==\"},\"scores\":{\"dtype\":\"f32\",\"shape\""
     ":[1,2,2],\"data\":\"AAAQQQAAgP8AAID/AACAPg==\"}}"},
    {"{\"inputs\":[[3,0],[0,0.5]],\"attention_mask\":{\"dtype\":\"bool\",\"shape\":[2,2],\"data\":"
     "\"AQAAAQ==\"},\"scale\":1,\"return\":{\"encoding\":\"base64\",\"dtype\":\"f16\",\"scores\":t"
     "rue,\"top_k\":2}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[2],\"keys\":[2],\"heads"
     "\":1,\"kv_heads\":1,\"d_out\":2},\"heads\":[0],\"warnings\":[],\"outputs\":{\"dtype\":\"f16\""
     ",\"shape\":[2,2],\"data\":\"AEIAAAAAADg=\"},\"attention\":{\"index\":{\"dtype\":\"i32\",\"sh"
     "ape\":[1,2,2],\"data\":\"AAAAAP////8BAAAA/////w==\"},\"weight\":{\"dtype\":\"f16\",\"shape\""
     ":[1,2,2],\"data\":\"ADwAAAA8AAA=\"},\"score\":{\"dtype\":\"f16\",\"shape\":[1,2,2],\"data\":"
     "\"gEgA/AA0APw=\"},\"rest\":{\"dtype\":\"f16\",\"shape\":[1,2],\"data\":\"AAAAAA==\"}}}"},
    {"{\"inputs\":[[[3,0],[0,0.5]]],\"attention_mask\":[[[1,0],[0,1]]],\"scale\":1,\"return\":{\"o"
     "utputs\":false,\"scores\":true,\"top_k\":2}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[2],\"keys\":[2],\"heads"
     "\":1,\"kv_heads\":1,\"d_out\":2},\"heads\":[0],\"warnings\":[],\"attention\":[{\"index\":[[["
     "0,-1],[1,-1]]],\"weight\":[[[1,0],[1,0]]],\"score\":[[[9,null],[0.25,null]]],\"rest\":[[0,0]"
     "]}]}"},
    {"{\"inputs\":[[1,0],[0,1],[2,2]],\"lengths\":[1,2],\"key_padding_mask\":[false,true,false],\""
     "tokens\":[\"a\",\"b\",\"c\"],\"return\":{\"average_heads\":true}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":2,\"queries\":[1,2],\"keys\":[1,2],\"h"
     "eads\":1,\"kv_heads\":1,\"d_out\":2},\"heads\":[0],\"tokens\":[\"a\",\"b\",\"c\"],\"lengths\""
     ":[1,2],\"warnings\":[],\"outputs\":[[[1,0]],[[2,2],[2,2]]],\"attention\":[[[1]],[[0,1],[0,1]"
     "]]}"},
    {"{\"inputs\":[[1,0],[0,1]],\"lengths\":[1,1],\"context\":{\"dtype\":\"f32\",\"shape\":[3,2],\""
     "data\":\"AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/\"},\"context_lengths\":[1,2],\"values\":[[7],[8],["
     "9]],\"key_padding_mask\":{\"dtype\":\"u8\",\"shape\":[3],\"data\":\"AAAB\"},\"context_tokens"
     "\":[\"x\",\"y\",\"z\"],\"return\":{\"attention\":false}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":2,\"queries\":[1,1],\"keys\":[1,2],\"h"
     "eads\":1,\"kv_heads\":1,\"d_out\":1},\"context_tokens\":[\"x\",\"y\",\"z\"],\"lengths\":[1,1"
     "],\"warnings\":[],\"outputs\":[[[7]],[[8]]]}"},
    {"{\"inputs\":[[3,0],[0,0.5]],\"bias\":{\"dtype\":\"f16\",\"shape\":[2,2],\"data\":\"AAAA/AD8A"
     "AA=\"},\"return\":{\"attention\":false}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[2],\"keys\":[2],\"heads"
     "\":1,\"kv_heads\":1,\"d_out\":2},\"warnings\":[],\"outputs\":[[3,0],[0,0.5]]}"},
    {"{\"inputs\":[{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":\"AACAQA==\"},{\"dtype\":\"f16\",\""
     "shape\":[2,1],\"data\":\"AEUARg==\"}],\"bias\":[{\"dtype\":\"f32\",\"shape\":[1,1],\"data\":"
     "\"AAAAAA==\"},{\"dtype\":\"f64\",\"shape\":[1,2],\"data\":\"AAAAAAAA8P8AAAAAAAAAAA==\"}],\"r"
     "eturn\":{\"attention\":false,\"encoding\":\"base64\"}}",
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":2,\"queries\":[1,2],\"keys\":[1,2],\"h"
     "eads\":1,\"kv_heads\":1,\"d_out\":1},\"warnings\":[],\"outputs\":[{\"dtype\":\"f32\",\"shape"
     "\":[1,1],\"data\":\"AACAQA==\"},{\"dtype\":\"f32\",\"shape\":[2,1],\"data\":\"AADAQAAAwEA=\""
     "}]}"},
};

/* The line ends behind it. */
static void check_text(char *text, const char *right) {
    size_t size = strlen(text);
    ck_assert_uint_gt(size, 0);
    ck_assert_int_eq(text[size - 1], '\n');
    text[size - 1] = '\0';
    ck_assert_str_eq(text, right);
}

START_TEST(answer_texts) {
    attn_model *model = NULL;
    ck_assert_int_eq(attn_model_parameter_free("plain", &model, NULL), ATTN_OK);
    char *text = answer(answers[_i].body, strlen(answers[_i].body), model);
    check_text(text, answers[_i].answer);
    free(text);
    attn_model_free(model);
}
END_TEST

/* What binary16 cannot hold is refused by name, as a body's member or as a parameter. */
START_TEST(too_large_for_half) {
    static const char body[] = "{\"inputs\":[[65519,0],[0,65520]],\"attention_mask\":[[1,0],[0,1]],"
                               "\"return\":{\"attention\":false}}";
    static const char query[] = "dtype=f16&encoding=base64";
    attn_model *model = NULL;
    attn_pool *pool = NULL;
    attn_run *run = NULL;
    attn_plan plan;
    srv_problem problem = {0};
    srv_ask *ask = NULL;
    srv_parts *parts = srv_parts_new();
    ck_assert_int_eq(attn_model_parameter_free("plain", &model, NULL), ATTN_OK);
    ck_assert(decode_json(body, sizeof body - 1, query, &ask, &problem));
    ck_assert(srv_ask_bind(ask, model->layers, "plain", 0, &problem));
    ck_assert_int_eq(attn_plan_make(&ask->request, 1, &plan, NULL), ATTN_OK);
    ck_assert_int_eq(attn_pool_new(1, &pool, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_new(&plan, &run, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_wait(run, pool), ATTN_OK);
    const srv_outcome outcome = {ask, "plain", 0, run, NULL};
    ck_assert(srv_json_encode(&outcome, parts, &problem));
    ck_assert(srv_parts_close(parts));
    ck_assert(srv_parts_need_check(parts));
    ck_assert(!srv_parts_check(parts, 0));
    srv_parts_refuse(parts, &problem);
    srv_ask_point(ask, &problem);
    ck_assert_int_eq(problem.id, SRV_NOT_REPRESENTABLE);
    ck_assert_int_eq(problem.where_kind, SRV_WHERE_PARAMETER);
    ck_assert_str_eq(problem.where, "dtype");
    ck_assert_str_eq(problem.detail, "'outputs' holds 65520; f16 ends at 65504, f32 is expected");
    srv_parts_free(parts);
    attn_run_free(run);
    attn_pool_free(pool);
    srv_ask_free(ask);
    attn_model_free(model);
}
END_TEST

/* Body, and the answer to its plan with bytes 1000, answer 100, limit 999 or 1000. */
static const struct {
    const char *body;
    size_t limit;
    const char *answer;
} plans[] = {
    {"{\"inputs\":[[1,2],[3,4],[5,6]],\"plan\":true}", 1000,
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":1,\"queries\":[3],\"keys\":[3],\"heads\":1,"
     "\"kv_heads\":1,\"d_out\":2},\"heads\":[0],\"warnings\":[],\"plan\":{\"bytes\":1000,\"flops\":72,"
     "\"answer_bytes\":{\"application/json\":100,\"application/x-npy\":152,"
     "\"application/x-safetensors\":60},\"verdict\":\"fits\",\"limit\":1000,\"setting\":\"limits.memory\"}}"},
    {"{\"inputs\":[[1,2],[3,4],[5,6]],\"lengths\":[1,2],\"plan\":true,\"return\":{\"outputs\":false,"
     "\"top_k\":1,\"encoding\":\"base64\",\"dtype\":\"f16\"}}",
     999,
     "{\"model\":\"plain\",\"layer\":0,\"shape\":{\"batch\":2,\"queries\":[1,2],\"keys\":[1,2],\"heads\":1,"
     "\"kv_heads\":1,\"d_out\":2},\"heads\":[0],\"lengths\":[1,2],\"warnings\":[],\"plan\":{\"bytes\":1000,"
     "\"flops\":20,\"answer_bytes\":{\"application/json\":100,\"application/x-npy\":null,"
     "\"application/x-safetensors\":24},\"verdict\":\"too_large\",\"limit\":999,"
     "\"setting\":\"limits.memory\"}}"},
};

START_TEST(plan_texts) {
    attn_plan plan;
    srv_problem problem = {0};
    srv_parts *parts = srv_parts_new();
    size_t size;
    const char *body = plans[_i].body;
    srv_ask *ask = sample_request(body, strlen(body), "plain", &plan, &problem);
    ck_assert_msg(ask != NULL, "%s", problem.detail);
    ck_assert(ask->plan_only);
    srv_plan_figures figures = {.bytes = 1000, .answer = 100, .limit = plans[_i].limit};
    srv_json_plan(ask, "plain", 0, &plan, &figures, parts);
    char *text = written_parts(parts, &size);
    check_text(text, plans[_i].answer);
    free(text);
    srv_parts_free(parts);
    srv_ask_free(ask);
}
END_TEST

/* The hint for an inverted mask arrives, and several heads are chosen in their order. */
START_TEST(hint_and_heads) {
    static const char body[] = "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"attention_mask\":[[0,1],[0,0]],"
                               "\"return\":{\"outputs\":false,\"heads\":[1]}}";
    attn_model *model = NULL;
    attn_seed_spec spec = {.d_model = 4, .heads = 2, .layers = 1, .seed = 1};
    ck_assert_int_eq(attn_model_seeded("tiny", &spec, &model, NULL), ATTN_OK);
    char *text = answer(body, strlen(body), model);
    json_t *read = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(read);
    ck_assert_uint_eq(json_array_size(json_object_get(read, "warnings")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(read, "attention")), 1);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(read, "heads"), 0)), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(read, "rows_without_keys")), 2);
    json_decref(read);
    free(text);
    attn_model_free(model);
}
END_TEST

/* Widths for which examples must be right: seeded as models, and layers that need context or values. */
static const attn_seed_spec seeded[] = {
    {4, 2, 1, 1}, {1, 1, 1, 1}, {16, 4, 1, 1}, {17, 1, 1, 1}, {512, 8, 1, 1}};

START_TEST(examples_are_answered) {
    attn_model *model = NULL;
    srv_text example = {0};
    ck_assert_int_eq(attn_model_seeded("m", seeded + _i, &model, NULL), ATTN_OK);
    ck_assert(srv_json_example("m", 0, model->layers, &example));
    char *text = answer(example.data, example.size, model);
    free(text);
    srv_text_done(&example);
    attn_model_free(model);
}
END_TEST

static const char *const layers[] = {"tiny", "causal", "cross", "plain"};

START_TEST(examples_are_accepted) {
    srv_text example = {0};
    srv_problem problem = {0};
    attn_plan plan;
    ck_assert(srv_json_example(layers[_i], 0, sample_layer(layers[_i]), &example));
    srv_ask *ask = sample_request(example.data, example.size, layers[_i], &plan, &problem);
    ck_assert_msg(ask != NULL, "%s: %s", problem.where, problem.detail);
    ck_assert_str_eq(ask->model, layers[_i]);
    ck_assert_ptr_nonnull(ask->tokens);
    srv_ask_free(ask);
    srv_text_done(&example);
}
END_TEST

ATTND_SUITE(json_encode) {
    Suite *suite = suite_create("json_encode");
    TCase *tests = tcase_create("json_encode");
    tcase_add_loop_test(tests, answer_texts, 0, sizeof answers / sizeof *answers);
    tcase_add_test(tests, too_large_for_half);
    tcase_add_loop_test(tests, plan_texts, 0, sizeof plans / sizeof *plans);
    tcase_add_test(tests, hint_and_heads);
    tcase_add_loop_test(tests, examples_are_answered, 0, sizeof seeded / sizeof *seeded);
    tcase_add_loop_test(tests, examples_are_accepted, 0, sizeof layers / sizeof *layers);
    suite_add_tcase(suite, tests);
    return suite;
}
