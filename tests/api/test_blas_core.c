/* OpenBLAS on a processor that it does not know: the daemon notices, starts itself again once with the right
 * kernels, and says so; a user's own choice stays. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

static bool applies(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return true;
#endif
    puts("blas_core: does not apply here: no x86-64 processor with AVX2");
    return false;
}

static size_t count(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* Starts the daemon under the shim; its /version, and how often it was started. */
static json_t *version_under_shim(const char *user_choice, size_t *starts) {
    char *shim = NULL;
    test_daemon daemon;
    ck_assert_int_gt(asprintf(&shim, "LD_PRELOAD=%s/old_blas.so", getenv("ATTND_SHIMS")), 0);
    daemon_start(&daemon, NULL,
                 (const char *const[]){shim, "ASAN_OPTIONS=verify_asan_link_order=0", user_choice, NULL});
    http_answer answer = http_get(daemon.url, "/version");
    ck_assert_int_eq(answer.status, 200);
    json_t *document = http_json(&answer);
    http_done(&answer);
    char *errors = process_errors(&daemon.process);
    *starts = count(errors, "shim: started");
    /* The log tells it too. */
    ck_assert_msg(strstr(errors, json_string_value(json_at(document, "/blas/core"))) != NULL, "%s", errors);
    free(errors);
    daemon_stop(&daemon);
    free(shim);
    return document;
}

START_TEST(old_kernels_are_noticed) {
    if (!applies()) return;
    size_t starts;
    json_t *document = version_under_shim(NULL, &starts);
    const char *core = json_string_value(json_at(document, "/blas/core"));
    ck_assert_str_ne(core, "Prescott");
    json_check_exact(document, "/blas/instead_of", "\"Prescott\"");
    json_check_exact(document, "/blas/origin", "\"chosen by attnd\"");
    json_check_exact(document, "/blas/self_test", "\"passed\"");
    ck_assert_uint_eq(starts, 2);
    json_decref(document);
}
END_TEST

START_TEST(users_choice_stays) {
    if (!applies()) return;
    size_t starts;
    json_t *document = version_under_shim("OPENBLAS_CORETYPE=Prescott", &starts);
    json_check_exact(document, "/blas/core", "\"Prescott\"");
    const char *origin = json_string_value(json_at(document, "/blas/origin"));
    ck_assert_msg(strstr(origin, "user") != NULL, "%s", origin);
    ck_assert_uint_eq(starts, 1);
    json_decref(document);
}
END_TEST

ATTND_SUITE(blas_core) {
    Suite *suite = suite_create("blas_core");
    TCase *tests = tcase_create("blas_core");
    tcase_add_test(tests, old_kernels_are_noticed);
    tcase_add_test(tests, users_choice_stays);
    suite_add_tcase(suite, tests);
    return suite;
}
