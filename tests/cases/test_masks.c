/* Masks and softmax. */
#include "cases.h"

#include <string.h>

START_TEST(all_keys_padded) {
    json_t *answer = case_ask("{\"model\":\"id1_biased\",\"inputs\":[[[1,0],[0,1]],[[1,0],[0,1]]],"
                              "\"key_padding_mask\":[[true,true],[false,false]]}");
    json_check_exact(answer, "/attention/0", "[[[0,0],[0,0]]]");
    json_check_exact(answer, "/outputs/0", "[[0.5,-0.25],[0.5,-0.25]]");
    json_check(answer, "/attention/1", "[[[0.669762,0.330238],[0.330238,0.669762]]]");
    json_check(answer, "/outputs/1", "[[1.169762,0.080238],[0.830238,0.419762]]");
    json_check_exact(answer, "/rows_without_keys", "2");
    json_decref(answer);
}
END_TEST

START_TEST(left_padding_causal) {
    json_t *answer = case_ask("{\"model\":\"id1\",\"inputs\":[[1,0],[0,1],[1,1]],"
                              "\"key_padding_mask\":[[true,false,false]],\"causal\":true}");
    json_check(answer, "/attention", "[[[0,0,0],[0,1,0],[0,0.330238,0.669762]]]");
    json_check_exact(answer, "/attention/0/0", "[0,0,0]");
    json_check(answer, "/outputs", "[[0,0],[0,1],[0.669762,1]]");
    json_decref(answer);
}
END_TEST

START_TEST(causal_cross) {
#define CROSS                                                                                                \
    "{\"model\":\"sel\",\"inputs\":[[0,0],[0,0]],\"context\":[[0,1],[0,2],[0,3],[0,4],[0,5]],\"causal\":"
    json_t *problem = case_refused(CROSS "true}", 422, "ambiguous_causal");
    const char *detail = json_string_value(json_at(problem, "/detail"));
    ck_assert_msg(strstr(detail, "top_left") && strstr(detail, "bottom_right"), "%s", detail);
    json_decref(problem);

    json_t *answer = case_ask(CROSS "\"top_left\"}");
    json_check(answer, "/outputs", "[[1,0],[1.5,0]]");
    json_decref(answer);
    answer = case_ask(CROSS "\"bottom_right\"}");
    json_check(answer, "/outputs", "[[2.5,0],[3,0]]");
    json_decref(answer);
}
END_TEST

START_TEST(causal_long_queries) {
    json_t *answer = case_ask("{\"model\":\"sel\",\"inputs\":[[0,0],[0,0],[0,0],[0,0],[0,0]],"
                              "\"context\":[[0,1],[0,2]],\"causal\":\"bottom_right\"}");
    json_check(answer, "/outputs", "[[0,0],[0,0],[0,0],[1,0],[1.5,0]]");
    json_check_exact(answer, "/rows_without_keys", "6");
    json_decref(answer);
}
END_TEST

START_TEST(mask_polarity) {
    json_t *answer =
        case_ask("{\"model\":\"id1\",\"inputs\":[[1,0],[0,1]],\"attention_mask\":[[1,0],[1,1]]}");
    json_check(answer, "/outputs", "[[1,0],[0.330238,0.669762]]");
    json_decref(answer);
}
END_TEST

START_TEST(mask_as_numbers) {
    json_t *problem = case_refused("{\"model\":\"sel\",\"inputs\":[[0,0]],\"context\":[[0,1],[0,9]],"
                                   "\"key_padding_mask\":[[0,1]]}",
                                   422, "wrong_type");
    const char *pointer = json_string_value(json_at(problem, "/pointer"));
    ck_assert_msg(strncmp(pointer, "/key_padding_mask", 17) == 0, "%s", pointer);
    json_decref(problem);
}
END_TEST

START_TEST(masked_overflow) {
    json_t *answer = case_ask("{\"model\":\"sel\",\"inputs\":[[1e30,0]],\"context\":[[1e30,7],[0,5]],"
                              "\"key_padding_mask\":[true,false]}");
    json_check_exact(answer, "/outputs", "[[5,0]]");
    json_check_exact(answer, "/attention/0", "[[0,1]]");
    json_decref(answer);
}
END_TEST

START_TEST(finite_minus_infinity) {
    json_t *answer = case_ask("{\"model\":\"sel\",\"inputs\":[[-20000,0]],\"context\":[[1,1],[0,100]],"
                              "\"key_padding_mask\":[false,true]}");
    json_check_exact(answer, "/outputs", "[[1,0]]");
    json_decref(answer);
}
END_TEST

START_TEST(window_own_key) {
    json_t *answer =
        case_ask("{\"model\":\"sel\",\"inputs\":[[0,1],[0,2],[0,3],[0,4]],\"causal\":true,\"window\":2}");
    json_check(answer, "/outputs", "[[1,0],[1.5,0],[2.5,0],[3.5,0]]");
    json_decref(answer);
}
END_TEST

START_TEST(causal_and_padding) {
    json_t *answer =
        case_ask("{\"model\":\"sel\",\"inputs\":[[0,1],[0,2],[0,3],[0,4],[0,5],[0,6],[0,7]],"
                 "\"key_padding_mask\":[true,false,false,true,true,false,true],\"causal\":true}");
    json_check(answer, "/outputs", "[[0,0],[2,0],[2.5,0],[2.5,0],[2.5,0],[3.666667,0],[3.666667,0]]");
    json_decref(answer);
}
END_TEST

START_TEST(result_not_finite) {
    /* case_refused reads the body as strict JSON. */
    json_decref(case_refused("{\"model\":\"sel10\",\"inputs\":[[1,3e38],[1,3e38]]}", 422, "not_finite"));
    /* One sequence that overflows spoils the whole answer, never a part of it. */
    json_decref(case_refused("{\"model\":\"sel10\",\"inputs\":[[[1,1]],[[1,3e38]]]}", 422, "not_finite"));
}
END_TEST

ATTND_SUITE(cases_masks) {
    Suite *suite = suite_create("cases_masks");
    case_add(suite, "all-keys-padded", all_keys_padded, true);
    case_add(suite, "left-padding-causal", left_padding_causal, true);
    case_add(suite, "causal-cross", causal_cross, true);
    case_add(suite, "causal-long-queries", causal_long_queries, true);
    case_add(suite, "mask-polarity", mask_polarity, true);
    case_add(suite, "mask-as-numbers", mask_as_numbers, true);
    case_add(suite, "masked-overflow", masked_overflow, true);
    case_add(suite, "finite-minus-infinity", finite_minus_infinity, true);
    case_add(suite, "window-own-key", window_own_key, true);
    case_add(suite, "causal-and-padding", causal_and_padding, true);
    case_add(suite, "result-not-finite", result_not_finite, true);
    return suite;
}
