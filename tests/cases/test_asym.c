/* ASYM: weights without any symmetry, so that a transposition, an exchange of q, k and v, a wrong slice of
 * the packed bias or a wrong split into heads shows at once. */
#include "cases.h"

static void check(const char *model, bool causal, const char *outputs, const char *attention) {
    char body[160];
    snprintf(body, sizeof body, "{\"model\":\"%s\",\"inputs\":[[1,0],[0,1],[1,-1]],\"causal\":%s}", model,
             causal ? "true" : "false");
    json_t *answer = case_ask(body);
    json_check(answer, "/outputs", outputs);
    if (attention) json_check(answer, "/attention", attention);
    json_decref(answer);
}

START_TEST(asym_1) {
    check("asym1", false, "[[1.906602,1.002816],[2.081535,1.223084],[1.703344,0.212997]]",
          "[[[0.406602,0.186796,0.406602],[0.581535,0.131729,0.286736],[0.203344,0.384251,0.412405]]]");
}
END_TEST

START_TEST(asym_1_causal) {
    check("asym1", true, "[[2.5,1.75],[2.315315,1.011261],[1.703344,0.212997]]", NULL);
}
END_TEST

START_TEST(asym_2) {
    check("asym2", false, "[[1.547364,0.416667],[1.241906,0.060725],[2.403411,0.902234]]",
          "[[[0.428656,0.142687,0.428656],[0.471152,0.057696,0.471152],[0.224235,0.551530,0.224235]],"
          "[[0.333333,0.333333,0.333333],[0.422319,0.422319,0.155362],[0.211942,0.211942,0.576117]]]");
}
END_TEST

START_TEST(asym_2_causal) {
    check("asym2", true, "[[2.5,1.75],[1.609097,-0.25],[2.403411,0.902234]]", NULL);
}
END_TEST

ATTND_SUITE(cases_asym) {
    Suite *suite = suite_create("cases_asym");
    case_add(suite, "asym-1", asym_1, true);
    case_add(suite, "asym-1-causal", asym_1_causal, true);
    case_add(suite, "asym-2", asym_2, true);
    case_add(suite, "asym-2-causal", asym_2_causal, true);
    return suite;
}
