/* The README's tables say what the program's tables say. Read from the repository's root. */
#include "config/cfg.h"
#include "server/cli/cli.h"
#include "server/problem.h"
#include "server/routes/routes.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *readme;

static void read_readme(void) {
    size_t size = 0;
    FILE *in = fopen("README.md", "r"), *out = open_memstream(&readme, &size);
    ck_assert_ptr_nonnull(in);
    for (int c; (c = fgetc(in)) != EOF;)
        fputc(c, out);
    fclose(in);
    ck_assert_int_eq(fclose(out), 0);
}

static void free_readme(void) {
    free(readme);
}

/* Every code that a client may see stands there with its status, in the order in which they win, and no other. */
START_TEST(error_codes) {
    static const struct {
        int status;
        const char *code;
    } codes[] = {
#define X(id, status, code) {status, code},
        SRV_PROBLEMS(X)
#undef X
    };
    const char *at = strstr(readme, "| status | code | when |\n|---|---|---|\n");
    ck_assert_ptr_nonnull(at);
    at = strstr(at, "|---|---|---|\n") + strlen("|---|---|---|\n");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char row[96];
        /* No problem at all, and what nobody is left to read. */
        if (codes[i].status == 200 || codes[i].status == 499) continue;
        snprintf(row, sizeof row, "| %d | `%s` | ", codes[i].status, codes[i].code);
        ck_assert_msg(strncmp(at, row, strlen(row)) == 0, "README.md: '%s' belongs where '%.60s' stands", row,
                      at);
        at = strchr(at, '\n') + 1;
    }
    ck_assert_msg(*at == '\n', "README.md: no such code: %.60s", at);
}
END_TEST

START_TEST(lists_are_told_as_in_the_help) {
    ck_assert_ptr_nonnull(strstr(readme, "\n" CFG_LISTS "\n"));
}
END_TEST

START_TEST(every_path_is_named) {
    for (size_t i = 0; i < srv_route_table.count; i++) {
        char name[96];
        snprintf(name, sizeof name, "`%s`", srv_route_table.rows[i].path);
        bool is_there = strstr(readme, name) != NULL;
        snprintf(name, sizeof name, "%s %s`", srv_route_table.rows[i].method, srv_route_table.rows[i].path);
        ck_assert_msg(is_there || strstr(readme, name), "README.md does not name %s",
                      srv_route_table.rows[i].path);
    }
}
END_TEST

START_TEST(every_command_is_named) {
    for (const srv_command *command = srv_commands; command->name; command++) {
        char name[64];
        snprintf(name, sizeof name, "attnd %s", command->name);
        ck_assert_msg(strstr(readme, name) != NULL, "README.md does not name '%s'", name);
    }
}
END_TEST

START_TEST(every_statistic_is_explained) {
    for (size_t i = 0; i < ATTN_STATISTICS_ALL; i++) {
        char row[64];
        snprintf(row, sizeof row, "\n| `%s` | ", attn_statistic_names[i]);
        ck_assert_msg(strstr(readme, row) != NULL, "README.md does not explain '%s'",
                      attn_statistic_names[i]);
    }
}
END_TEST

/* `make readme` puts it there. */
START_TEST(settings_table) {
    char *table = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&table, &size);
    ck_assert_ptr_nonnull(out);
    srv_help_markdown(out);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_msg(strstr(readme, table) != NULL,
                  "README.md: the settings are others now; make readme writes them:\n%s", table);
    free(table);
}
END_TEST

ATTND_SUITE(readme) {
    Suite *suite = suite_create("readme");
    TCase *cases = tcase_create("all");
    tcase_add_checked_fixture(cases, read_readme, free_readme);
    tcase_add_test(cases, error_codes);
    tcase_add_test(cases, lists_are_told_as_in_the_help);
    tcase_add_test(cases, every_path_is_named);
    tcase_add_test(cases, every_command_is_named);
    tcase_add_test(cases, every_statistic_is_explained);
    tcase_add_test(cases, settings_table);
    suite_add_tcase(suite, cases);
    return suite;
}
