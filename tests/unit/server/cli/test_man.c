/* The man page: every command and setting stands in it, in ASCII, and no text becomes a request of roff's. */
#include "config/cfg.h"
#include "server/cli/cli.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

static char *page(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    srv_help_man(out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(everything_stands_in_it) {
    char *text = page(), wanted[80];
    cfg_description setting;
    size_t settings = 0;
    for (const srv_command *command = srv_commands; command->name; command++) {
        snprintf(wanted, sizeof wanted, "\n.SS %s\n", command->name);
        ck_assert_msg(strstr(text, wanted) != NULL, "no %s", command->name);
    }
    for (; cfg_describe(settings, &setting); settings++) {
        snprintf(wanted, sizeof wanted, "\n%s", setting.environment);
        ck_assert_msg(strstr(text, wanted) != NULL, "no %s", setting.environment);
    }
    ck_assert_uint_gt(settings, 10);
    ck_assert_ptr_nonnull(strstr(text, "\\-\\-max\\-body"));
    ck_assert_ptr_nonnull(strstr(text, "SETTING \\[u2026]"));
    free(text);
}
END_TEST

START_TEST(only_known_requests) {
    static const char known[] = " .TH .SH .SS .B .I .BI .RI .PP .TP .nf .fi .br ";
    char *text = page(), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char request[8] = "";
        for (const char *c = line; *c; c++)
            ck_assert_msg(*c >= ' ' && *c <= '~', "%s", line);
        ck_assert_int_ne(line[0], '\'');
        if (line[0] != '.') continue;
        snprintf(request, sizeof request, " %.*s ", (int)strcspn(line, " "), line);
        ck_assert_msg(strstr(known, request) != NULL, "%s", line);
    }
    free(text);
}
END_TEST

ATTND_SUITE(man) {
    Suite *suite = suite_create("man");
    TCase *cases = tcase_create("man");
    tcase_add_test(cases, everything_stands_in_it);
    tcase_add_test(cases, only_known_requests);
    suite_add_tcase(suite, cases);
    return suite;
}
