/* How a request finds its row, and what is said where there is none. */
#include "server/http/router.h"
#include "suites.h"

static const srv_route rows[] = {
    {.method = "GET", .path = "/a"},
    {.method = "POST", .path = "/b"},
    {.method = "GET", .path = "/c/{name}"},
    {.method = "POST", .path = "/c/{name}"},
};
static const srv_routes routes = {.rows = rows, .count = sizeof rows / sizeof rows[0]};

static srv_match match;

static const srv_route *find(const char *method, const char *raw, srv_problem *problem) {
    srv_parameters parameters;
    srv_target target = srv_target_split(raw);
    srv_problem_clear(problem);
    return srv_route_find(&routes, method, &target, &match, &parameters, problem) ? match.route : NULL;
}

START_TEST(rows_are_found_by_path_and_method) {
    srv_problem problem;
    ck_assert_ptr_eq(find("GET", "/a?x", &problem), &rows[0]);
    ck_assert_ptr_eq(find("HEAD", "/a", &problem), &rows[0]);
    ck_assert_ptr_eq(find("POST", "/b", &problem), &rows[1]);
    ck_assert_ptr_eq(find("GET", "/c/x", &problem), &rows[2]);
    ck_assert_ptr_eq(find("POST", "/c/x", &problem), &rows[3]);
    ck_assert_int_eq(problem.id, SRV_NO_PROBLEM);
}
END_TEST

START_TEST(an_unknown_path_is_not_found) {
    srv_problem problem;
    ck_assert_ptr_null(find("GET", "/nope", &problem));
    ck_assert_int_eq(problem.id, SRV_NOT_FOUND);
    ck_assert_ptr_null(find("DELETE", "/nope", &problem));
    ck_assert_int_eq(problem.id, SRV_NOT_FOUND);
    ck_assert_ptr_null(find("OPTIONS", "/nope", &problem));
    ck_assert_int_eq(problem.id, SRV_NOT_FOUND);
    ck_assert_ptr_null(find("GET", "*", &problem));
    ck_assert_int_eq(problem.id, SRV_NOT_FOUND);
    ck_assert_ptr_null(find("GET", "", &problem));
    ck_assert_int_eq(problem.id, SRV_NOT_FOUND);
}
END_TEST

START_TEST(a_wrong_method_names_the_right_ones) {
    srv_problem problem;
    ck_assert_ptr_null(find("DELETE", "/a", &problem));
    ck_assert_int_eq(problem.id, SRV_METHOD_NOT_ALLOWED);
    ck_assert_str_eq(problem.allow, "GET, HEAD, OPTIONS");
    ck_assert_ptr_null(find("HEAD", "/b", &problem));
    ck_assert_int_eq(problem.id, SRV_METHOD_NOT_ALLOWED);
    ck_assert_str_eq(problem.allow, "POST, OPTIONS");
    ck_assert_ptr_null(find("get", "/a", &problem));
    ck_assert_int_eq(problem.id, SRV_METHOD_NOT_ALLOWED);
    ck_assert_ptr_null(find("CONNECT", "host:1", &problem));
    ck_assert_int_eq(problem.id, SRV_METHOD_NOT_ALLOWED);
    ck_assert_ptr_nonnull(problem.allow);
}
END_TEST

START_TEST(options_are_asked_of_known_paths_and_of_all) {
    srv_problem problem;
    ck_assert_ptr_eq(find("OPTIONS", "/a", &problem), &rows[0]);
    ck_assert(match.is_options);
    ck_assert_str_eq(match.allow, "GET, HEAD, OPTIONS");
    ck_assert_ptr_nonnull(find("OPTIONS", "/c/x", &problem));
    ck_assert_str_eq(match.allow, "GET, HEAD, POST, OPTIONS");
    ck_assert_ptr_null(find("OPTIONS", "*", &problem));
    ck_assert(match.is_options);
    ck_assert_int_eq(problem.id, SRV_NO_PROBLEM);
    ck_assert_ptr_nonnull(find("GET", "/a", &problem));
    ck_assert(!match.is_options);
}
END_TEST

ATTND_SUITE(router) {
    Suite *suite = suite_create("router");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, rows_are_found_by_path_and_method);
    tcase_add_test(cases, an_unknown_path_is_not_found);
    tcase_add_test(cases, a_wrong_method_names_the_right_ones);
    tcase_add_test(cases, options_are_asked_of_known_paths_and_of_all);
    suite_add_tcase(suite, cases);
    return suite;
}
