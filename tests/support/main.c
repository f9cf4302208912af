/* The main of every test program: runs all suites linked into it and exits 1 if any check failed or none ran.
 * `program NAME` runs the suite of that name only. CK_FORK=no keeps everything in one process for a debugger.
 * A test case may take ten minutes: only what hangs reaches them, on a busy machine and with sanitizers too. */
#include "suites.h"

#include "engine/tensor/vectors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SUITES = 256 };
static Suite *(*makers[MAX_SUITES])(void);
static int maker_count;
static int (*final_report)(SRunner *runner);

void suites_add(Suite *(*make)(void)) {
    if (maker_count == MAX_SUITES) {
        fputs("more suites than MAX_SUITES\n", stderr);
        abort();
    }
    makers[maker_count++] = make;
}

void suites_report_with(int (*report)(SRunner *runner)) {
    final_report = report;
}

/* ATTND_TESTED_VECTORS names the width of vector code that this program and the daemons it starts run with, as the
 * setting engine.vectors does. */
static bool use_tested_vectors(void) {
    static const char *const names[] = {"plain", "avx2", "avx512"};
    const char *wanted = getenv("ATTND_TESTED_VECTORS");
    attn_error error = {0};
    for (size_t i = 0; wanted && i < sizeof names / sizeof *names; i++) {
        if (strcmp(wanted, names[i]) == 0 && attn_vectors_use((attn_vectors)i, &error) == ATTN_OK)
            return true;
    }
    if (wanted) fprintf(stderr, "ATTND_TESTED_VECTORS=%s cannot be used here %s\n", wanted, error.text);
    return !wanted;
}

int main(int argc, char **argv) {
    if (!use_tested_vectors()) return 1;
    setenv("CK_DEFAULT_TIMEOUT", "600", 0);
    SRunner *runner = srunner_create(NULL);
    for (int i = 0; i < maker_count; i++)
        srunner_add_suite(runner, makers[i]());
    srunner_run(runner, argc > 1 ? argv[1] : NULL, NULL, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), run = srunner_ntests_run(runner);
    int refused = final_report && argc == 1 ? final_report(runner) : 0;
    srunner_free(runner);
    if (run == 0) fputs("no test ran\n", stderr);
    return failed == 0 && run > 0 && refused == 0 ? 0 : 1;
}
