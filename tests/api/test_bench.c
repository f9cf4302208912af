/* attnd bench: a whole quick run. Every row is there and every number is finite and positive; none is judged. */
#include "tests/support/json_check.h"
#include "tests/support/process.h"
#include "tests/support/sanitized.h"
#include "tests/support/suites.h"
#include "tests/support/temporary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers are finite and more than 0, wherever they stand. Returns how many there are. */
static size_t check_numbers(const json_t *value, const char *name) {
    size_t count = 0, i;
    const char *member;
    json_t *inside;
    if (json_is_number(value)) {
        double number = json_number_value(value);
        ck_assert_msg(isfinite(number) && number > 0, "%s is %g", name, number);
        return 1;
    }
    json_array_foreach(value, i, inside) count += check_numbers(inside, name);
    json_object_foreach((json_t *)(uintptr_t)value, member, inside) count += check_numbers(inside, member);
    return count;
}

static void check_rows(const json_t *document, const char *pointer, size_t least) {
    const json_t *rows = json_at(document, pointer);
    ck_assert_msg(json_array_size(rows) >= least, "%s has %zu rows", pointer, json_array_size(rows));
    for (size_t i = 0; i < json_array_size(rows); i++)
        ck_assert_uint_ge(check_numbers(json_array_get(rows, i), pointer), 4);
}

START_TEST(every_row_is_measured) {
    static const char *const shapes[] = {
        "1x16 D384 H12, maps", "1x128 D768 H12, maps",    "8x128 D768 H12, maps", "4x512 D768 H12, maps",
        "1x1024 D768 H12",     "1x1024 D768 H12, causal", "1x4096 D768 H12",      "1x4096 D768 H12, causal",
    };
    char *folder = temporary_folder(), *path = temporary_path(folder, "bench.json");
    process_result result = process_run_attnd("bench", "--quick", "--json", path, NULL);
    ck_assert_msg(result.code == 0 && result.errors[0] == '\0', "%d: %s", result.code, result.errors);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(document);
    ck_assert_uint_gt(json_string_length(json_at(document, "/version/blas/core")), 0);
    check_rows(document, "/measured/rows", 8);
    for (size_t i = 0; i < 8; i++) {
        const char *shape =
            json_string_value(json_at(json_array_get(json_at(document, "/measured/rows"), i), "/shape"));
        ck_assert_str_eq(shape, shapes[i]);
        ck_assert_ptr_nonnull(strstr(result.output, shape));
    }
    check_rows(document, "/measured/few_queries", 4);
    check_rows(document, "/measured/scaling/length", 3);
    check_rows(document, "/measured/scaling/batch", 3);
    check_rows(document, "/measured/scaling/heads", 3);
    check_rows(document, "/measured/scaling/width", 3);
    check_rows(document, "/measured/scaling/workers", 1);
    ck_assert_uint_eq(check_numbers(json_at(document, "/measured/limit"), "limit"), 1);
    ck_assert_uint_eq(check_numbers(json_at(document, "/measured/memory"), "memory"), 2);
    ck_assert_uint_eq(check_numbers(json_at(document, "/measured/callers"), "callers"), 3);
    json_decref(document);
    process_result_done(&result);
    free(path);
    temporary_remove(folder);
}
END_TEST

START_TEST(what_is_wrong_with_its_flags_is_told) {
    static const struct {
        const char *flag, *value, *complaint;
    } cases[] = {
        {"--json", NULL, "attnd bench: --json takes a file\n"},
        {"--peer-asks", "/dev/null", "attnd bench: --peer-asks and --peer-answers go together\n"},
        {"--slow", NULL, "attnd bench: flag --slow: unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        process_result result = process_run_attnd("bench", cases[i].flag, cases[i].value, NULL);
        ck_assert_int_eq(result.code, 2);
        ck_assert_msg(strncmp(result.errors, cases[i].complaint, strlen(cases[i].complaint)) == 0, "%s",
                      result.errors);
        process_result_done(&result);
    }
    process_result result =
        process_run_attnd("bench", "--peer-asks", "/dev/null", "--peer-answers", "/dev/null", NULL);
    ck_assert_int_eq(result.code, 1);
    ck_assert_str_eq(result.errors, "attnd bench: no peer at /dev/null and /dev/null\n");
    process_result_done(&result);
}
END_TEST

ATTND_SUITE(bench) {
    Suite *suite = suite_create("bench");
    TCase *tests = tcase_create("bench");
    /* Minutes of nothing but products under a sanitizer or without optimisation; the same code runs in other suites. */
#ifdef __OPTIMIZE__
    if (!IS_SANITIZED) tcase_add_test(tests, every_row_is_measured);
#else
    (void)every_row_is_measured;
#endif
    tcase_add_test(tests, what_is_wrong_with_its_flags_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}
