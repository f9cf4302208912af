/* The list of cases, and what all of them need. */
#include "cases.h"

#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>

/* slug, and what an open case waits for; NULL: it must pass. What a real container engine is needed for is the
 * image test's. */
static const struct {
    const char *slug, *waits_for;
} all_cases[] = {
    {"asym-1", NULL},
    {"asym-1-causal", NULL},
    {"asym-2", NULL},
    {"asym-2-causal", NULL},
    {"all-keys-padded", NULL},
    {"left-padding-causal", NULL},
    {"causal-cross", NULL},
    {"causal-long-queries", NULL},
    {"mask-polarity", NULL},
    {"mask-as-numbers", NULL},
    {"masked-overflow", NULL},
    {"finite-minus-infinity", NULL},
    {"window-own-key", NULL},
    {"causal-and-padding", NULL},
    {"result-not-finite", NULL},
    {"gpt2-layout", "GPT-2's names and [in, out] layout"},
    {"fused-qkv", "GPT-NeoX's names and its q, k, v of each head side by side"},
    {"grouped-heads", "Llama's names and grouped key/value heads"},
    {"rope-half", "Llama's names and rotary positions"},
    {"shape-wraps", NULL},
    {"shared-bytes", NULL},
    {"unaligned-data", NULL},
    {"f16-subnormals", NULL},
    {"lfs-pointer", NULL},
    {"float32-range", NULL},
    {"number-forms", NULL},
    {"decimal-comma", NULL},
    {"over-limit", NULL},
    {"chunked", NULL},
    {"gzip-bomb", NULL},
    {"preflight", NULL},
    {"docker-stop", "`make image-test`, which holds it"},
};
enum { CASE_COUNT = sizeof all_cases / sizeof *all_cases };
_Static_assert(CASE_COUNT == 32, "there are 32 cases");

typedef enum outcome { MISSING, FAILED, PASSED } outcome;

/* A case's test is alone in the TCase that bears its slug. */
static outcome outcome_of(TestResult **results, int count, const char *slug) {
    for (int i = 0; i < count; i++) {
        if (strcmp(tr_tcname(results[i]), slug) == 0)
            return tr_rtype(results[i]) == CK_PASS ? PASSED : FAILED;
    }
    return MISSING;
}

static int report(SRunner *runner) {
    TestResult **results = srunner_results(runner);
    int count = srunner_ntests_run(runner), passed = 0, open = 0, wrong = 0;
    char names[512] = "";
    for (int i = 0; i < CASE_COUNT; i++) {
        outcome found = outcome_of(results, count, all_cases[i].slug);
        if (all_cases[i].waits_for) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", open++ ? ", " : "", all_cases[i].slug);
            printf("open: %s waits for %s\n", all_cases[i].slug, all_cases[i].waits_for);
        }
        if (all_cases[i].waits_for ? found != MISSING : found != PASSED) {
            const char *state = found == MISSING  ? "has no test"
                                : found == FAILED ? "fails"
                                                  : "passes but is named open";
            printf("case %s %s\n", all_cases[i].slug, state);
            wrong++;
        }
        passed += found == PASSED;
    }
    free(results);
    printf("cases: %d of %d pass, %d open (%s)\n", passed, CASE_COUNT, open, names);
    return wrong;
}

__attribute__((constructor)) static void report_at_end(void) {
    suites_report_with(report);
}

test_daemon case_daemon;
static char *folder;

/* NAME=FOLDER/NAME.safetensors, for --model; the path begins behind the '='. */
static char *model_argument(const char *name) {
    char *argument = NULL;
    ck_assert_int_gt(asprintf(&argument, "%s=%s/%s.safetensors", name, folder, name), 0);
    return argument;
}

static const char *path_of(const char *argument) {
    return strchr(argument, '=') + 1;
}

static void serve(void) {
    enum { MODELS = 7 };
    static const char *const names[MODELS] = {"id1", "id1_biased", "id2", "sel", "sel10", "asym1", "asym2"};
    const char *arguments[2 * MODELS + 1] = {0};
    folder = temporary_folder();
    for (size_t i = 0; i < MODELS; i++) {
        arguments[2 * i] = "--model";
        arguments[2 * i + 1] = model_argument(names[i]);
    }
    fixture_identity(path_of(arguments[1]), 1, NULL);
    fixture_identity(path_of(arguments[3]), 1, (const float[]){0.5f, -0.25f});
    fixture_identity(path_of(arguments[5]), 2, NULL);
    fixture_select(path_of(arguments[7]), 1);
    fixture_select(path_of(arguments[9]), 10);
    fixture_asymmetric(path_of(arguments[11]), 1);
    fixture_asymmetric(path_of(arguments[13]), 2);
    daemon_start(&case_daemon, arguments, NULL);
    for (size_t i = 0; i < MODELS; i++)
        free((char *)arguments[2 * i + 1]);
}

static void stop(void) {
    daemon_stop(&case_daemon);
    temporary_remove(folder);
}

void case_add(Suite *suite, const char *slug, const TTest *test, bool serves) {
    TCase *one = tcase_create(slug);
    if (serves) tcase_add_checked_fixture(one, serve, stop);
    tcase_add_test(one, test);
    suite_add_tcase(suite, one);
}

json_t *case_ask(const char *body) {
    http_answer answer = http_post(case_daemon.url, "/v1/attention", body);
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    json_t *document = http_json(&answer);
    http_done(&answer);
    return document;
}

json_t *case_refused(const char *body, long status, const char *code) {
    http_answer answer = http_post(case_daemon.url, "/v1/attention", body);
    json_t *document = http_json(&answer);
    ck_assert_msg(answer.status == status, "%ld: %s", answer.status, answer.body);
    http_done(&answer);
    ck_assert_str_eq(json_string_value(json_at(document, "/code")), code);
    return document;
}
