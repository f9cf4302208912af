/* The log's lines, as they come out of a pipe. */
#include "server/obs/log.h"
#include "suites.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* What one event writes, up to the buffer's end. */
static ssize_t written(bool json, srv_log_level level, const srv_field *fields, size_t count, char *out,
                       size_t size) {
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const srv_log log = {.json = json, .level = SRV_LOG_INFO, .descriptor = ends[1]};
    srv_log_event(&log, level, "thing", fields, count);
    close(ends[1]);
    ssize_t got = read(ends[0], out, size - 1);
    close(ends[0]);
    if (got >= 0) out[got] = '\0';
    return got;
}

START_TEST(text_quotes_what_needs_it) {
    const srv_field fields[] = {srv_field_string("a", "plain"), srv_field_string("b", "two \"words\"\n"),
                                srv_field_string("none", NULL), srv_field_count("n", 42),
                                srv_field_ms("t", 1.5)};
    char line[4096];
    written(false, SRV_LOG_INFO, fields, 5, line, sizeof line);
    ck_assert_ptr_nonnull(strstr(line, "Z info    thing a=plain b=\"two \\\"words\\\"?\" n=42 t=1.500\n"));
}
END_TEST

START_TEST(json_is_json) {
    char big[5000], line[8192];
    memset(big, '"', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    const srv_field fields[] = {srv_field_string("a", "x\\y\x01"), srv_field_count("n", 42),
                                srv_field_ms("t", 0.25), srv_field_string("big", big),
                                srv_field_string("late", "left out where full")};
    written(true, SRV_LOG_WARNING, fields, 5, line, sizeof line);
    ck_assert_int_eq(line[strlen(line) - 1], '\n');
    json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(event);
    ck_assert_str_eq(json_string_value(json_object_get(event, "level")), "warning");
    ck_assert_str_eq(json_string_value(json_object_get(event, "event")), "thing");
    ck_assert_str_eq(json_string_value(json_object_get(event, "a")), "x\\y?");
    ck_assert_int_eq(json_integer_value(json_object_get(event, "n")), 42);
    ck_assert_double_eq(json_real_value(json_object_get(event, "t")), 0.25);
    ck_assert_int_eq(json_string_value(json_object_get(event, "big"))[0], '"');
    json_decref(event);
}
END_TEST

START_TEST(less_important_lines_are_left_out) {
    char line[256];
    ck_assert_int_eq(written(false, SRV_LOG_DEBUG, NULL, 0, line, sizeof line), 0);
    ck_assert_int_gt(written(false, SRV_LOG_ERROR, NULL, 0, line, sizeof line), 0);
}
END_TEST

ATTND_SUITE(log) {
    Suite *suite = suite_create("log");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, text_quotes_what_needs_it);
    tcase_add_test(cases, json_is_json);
    tcase_add_test(cases, less_important_lines_are_left_out);
    suite_add_tcase(suite, cases);
    return suite;
}
