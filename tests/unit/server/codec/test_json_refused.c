/* tests/cases/json/refused.txt: bodies and the words with which they are refused. A body that is accepted, or
 * other words, fail. The file explains its own form. */
#include "sample_layers.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = REFUSED_BODIES;

static void refuse(const char *body, const char *query, const char *layer, char *out, size_t size) {
    srv_problem problem = {0};
    attn_plan plan;
    srv_ask *ask = sample_request_with(body, strlen(body), query, layer, &plan, &problem);
    srv_ask_free(ask);
    snprintf(out, size, "%d %s %s%s: %s", srv_problem_status(&problem), srv_problem_code(&problem),
             problem.where_kind == SRV_WHERE_PARAMETER ? "?" : "", problem.where, problem.detail);
}

START_TEST(refused_bodies) {
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    char *line = NULL, body[1024] = "", query[1024] = "", layer[32] = "tiny", found[1024];
    size_t capacity = 0, pairs = 0, wrong = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, file)) >= 0) {
        while (length > 0 && line[length - 1] == '\n')
            line[--length] = '\0';
        if (length == 0 || line[0] == '#') continue;
        if (line[0] == '@') {
            snprintf(layer, sizeof layer, "%s", line + 2);
            ck_assert_ptr_nonnull(sample_layer(layer));
        } else if (line[0] == '?') {
            snprintf(query, sizeof query, "%s", line + 1);
        } else if (line[0] != ' ') {
            ck_assert_msg(body[0] == '\0', "no answer beside %s", body);
            ck_assert_uint_lt((size_t)length, sizeof body);
            memcpy(body, line, (size_t)length + 1);
        } else {
            refuse(body, query, layer, found, sizeof found);
            if (strcmp(found, line + strspn(line, " ")) != 0) {
                wrong++;
                printf("%s%s%s%s\n    %s\n", *query ? "?" : "", query, *query ? "\n" : "", body, found);
            }
            pairs++;
            body[0] = query[0] = '\0';
        }
    }
    fflush(stdout); /* the failing check below ends the process without it */
    free(line);
    fclose(file);
    ck_assert_uint_gt(pairs, 100);
    ck_assert_msg(wrong == 0, "%zu of %zu refusals differ", wrong, pairs);
}
END_TEST

ATTND_SUITE(json_refused) {
    Suite *suite = suite_create("json_refused");
    TCase *tests = tcase_create("json_refused");
    tcase_add_test(tests, refused_bodies);
    suite_add_tcase(suite, tests);
    return suite;
}
