/* Queries taken apart: a line of "name:value|value;" for the sound parameters, and the first problem. */
#include "server/codec/query.h"

#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *query, *parts, *where; /* NULL: no problem */
} queries[] = {
    {"", "", NULL},
    {"&&", "", NULL},
    {"layer=3", "layer:3;", NULL},
    {"a=1&b=2&", "a:1;b:2;", NULL},
    {"heads=0,3,1", "heads:0|3|1;", NULL},
    /* raw commas split, encoded ones do not */
    {"a=x%2cy,z", "a:x,y|z;", NULL},
    {"a=,", "a:|;", NULL},
    {"plan", "plan:;", NULL},
    {"a=b=c", "a:b=c;", NULL},
    {"a+b=c+d%2Be", "a b:c d+e;", NULL},
    {"%6dodel=%c3%BC%E2%82%ac", "model:\xc3\xbc\xe2\x82\xac;", NULL},
    {"a=%26%3D%25", "a:&=%;", NULL},
    {"a#b=c?d", "a#b:c?d;", NULL},
    /* wrong ones are left out, the first is told */
    {"a=1&b=%&c=2&d=%4", "a:1;c:2;", "b"},
    {"a=%g0", "", "a"},
    {"a=%0", "", "a"},
    {"a=%00", "", "a"},
    {"a=1,%00", "", "a"},
    {"%0=1&b=1", "b:1;", "%0"},
    {"a=1&a=2", "a:1;", "a"},
    {"a=1&%61=2", "a:1;", "a"},
    {"a=1&a", "a:1;", "a"},
    {"a=%80", "", "a"},
    {"a=%ed%a0%80", "", "a"},
};

START_TEST(taken_apart) {
    char parts[256] = "";
    size_t used = 0, size = strlen(queries[_i].query);
    srv_problem problem = {0};
    srv_query query;
    /* Its own memory, without an end: reading behind it is seen. */
    char *text = malloc(size + 1);
    memcpy(text, queries[_i].query, size);
    char *exact = realloc(text, size == 0 ? 1 : size);
    bool sound = srv_query_split(exact, size, &query, &problem);
    for (size_t i = 0; i < query.count; i++) {
        const srv_parameter *parameter = &query.parameters[i];
        used += (size_t)snprintf(parts + used, sizeof parts - used, "%s:", parameter->name);
        for (size_t j = 0; j < parameter->count; j++)
            used += (size_t)snprintf(parts + used, sizeof parts - used, "%s%s", parameter->values[j],
                                     j + 1 < parameter->count ? "|" : ";");
    }
    ck_assert_str_eq(parts, queries[_i].parts);
    ck_assert(sound == (queries[_i].where == NULL));
    if (!sound) {
        ck_assert_str_eq(problem.where, queries[_i].where);
        ck_assert_int_eq(problem.where_kind, SRV_WHERE_PARAMETER);
        ck_assert_int_eq(srv_problem_status(&problem), 422);
    }
    srv_query_done(&query);
    free(exact);
}
END_TEST

START_TEST(no_query) {
    srv_query query;
    srv_problem problem = {0};
    ck_assert(srv_query_split(NULL, 0, &query, &problem));
    ck_assert_uint_eq(query.count, 0);
    srv_query_done(&query);
}
END_TEST

/* As many parameters as there may be, and one more. */
START_TEST(many_parameters) {
    char text[1024];
    size_t size = 0;
    srv_query query;
    srv_problem problem = {0};
    for (int i = 0; i < 64; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%sp%d=", i > 0 ? "&" : "", i);
    ck_assert(srv_query_split(text, size, &query, &problem));
    ck_assert_uint_eq(query.count, 64);
    ck_assert_str_eq(query.parameters[63].name, "p63");
    srv_query_done(&query);
    size += (size_t)snprintf(text + size, sizeof text - size, "&q");
    ck_assert(!srv_query_split(text, size, &query, &problem));
    ck_assert_uint_eq(query.count, 0);
    srv_query_done(&query);
}
END_TEST

ATTND_SUITE(query) {
    Suite *suite = suite_create("query");
    TCase *tests = tcase_create("query");
    tcase_add_loop_test(tests, taken_apart, 0, sizeof queries / sizeof *queries);
    tcase_add_test(tests, no_query);
    tcase_add_test(tests, many_parameters);
    suite_add_tcase(suite, tests);
    return suite;
}
