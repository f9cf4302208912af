/* POST /v1/attention: statistics of heads, as values and as members of the answer. */
#include "api.h"

#include <string.h>

/* Three equal vectors: every row is uniform over what it sees. */
#define EQUAL "{\"model\":\"plain\",\"inputs\":[[1],[1],[1]],\"causal\":true"

START_TEST(values) {
    json_t *answer = api_post("/v1/attention", EQUAL ",\"return\":{\"stats\":true}}", 200);
    json_check(answer, "/stats/normalized_entropy", "[1]");
    json_check(answer, "/stats/entropy", "[0.59725315]"); /* ln 6 / 3 */
    json_check(answer, "/stats/effective_keys", "[2]");
    json_check(answer, "/stats/sink_mass", "[0.61111111]"); /* (1 + ½ + ⅓) / 3 */
    json_check(answer, "/stats/sink_rate", "1");
    json_check(answer, "/stats/mean_distance", "[0.5]");
    json_check(answer, "/stats/previous_token", "[0.41666667]");
    json_check(answer, "/stats/next_token", "[null]");
    json_check(answer, "/stats/induction", "[null]");
    json_check(answer, "/stats/received_attention", "[[0.61111111,0.41666667,0.33333333]]");
    json_check(answer, "/stats/received_total", "[[1.8333333,0.83333333,0.33333333]]");
    json_check_exact(answer, "/stats/heavy_hitters", "[[0,1,2]]");
    json_check(answer, "/stats/score_max", "[1]");
    json_decref(answer);
}
END_TEST

START_TEST(tokens_are_compared) {
    json_t *answer = api_post("/v1/attention?stats=duplicate_token,induction&attention=false",
                              EQUAL ",\"tokens\":[\"x\",\"xx\",\"x\"]}", 200);
    /* The third token repeats the first, a third of a row; behind the first stands the second. */
    json_check(answer, "/stats", "{\"duplicate_token\":[0.11111111],\"induction\":[0.11111111]}");
    json_decref(answer);
}
END_TEST

START_TEST(of_the_chosen_heads_of_a_batch) {
    json_t *answer =
        api_post("/v1/attention?stats=confidence&heads=1&outputs=0&attention=0",
                 "{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[1,0,0,0]]],\"tokens\":[[\"a\"],[\"b\",\"c\"]]}", 200);
    json_check(answer, "/stats", "[{\"confidence\":[1]},{\"confidence\":[0.5]}]");
    json_check_exact(answer, "/heads", "[1]");
    json_check_exact(answer, "/warnings", "[]");
    ck_assert_ptr_null(json_object_get(answer, "attention"));
    json_decref(answer);
}
END_TEST

START_TEST(stand_between_warnings_and_outputs) {
    json_t *answer = api_post("/v1/attention?stats=1&encoding=base64&precision=2", EQUAL "}", 200);
    const char *before = "", *name;
    json_t *value;
    json_object_foreach(answer, name, value) {
        if (strcmp(name, "stats") == 0) ck_assert_str_eq(before, "warnings");
        if (strcmp(before, "stats") == 0) ck_assert_str_eq(name, "outputs");
        before = name;
    }
    json_check_exact(answer, "/stats/entropy", "[0.6]");
    json_decref(answer);
}
END_TEST

ATTND_SUITE(stats) {
    Suite *suite = suite_create("stats");
    TCase *tests = api_case(suite, "stats");
    tcase_add_test(tests, values);
    tcase_add_test(tests, tokens_are_compared);
    tcase_add_test(tests, of_the_chosen_heads_of_a_batch);
    tcase_add_test(tests, stand_between_warnings_and_outputs);
    return suite;
}
