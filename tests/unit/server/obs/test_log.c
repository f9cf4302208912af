/* The log's lines, as they come out of a pipe. */
#include "server/obs/log.h"
#include "suites.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one event writes, up to the buffer's end. */
static ssize_t written(bool json, srv_log_level level, const srv_field *fields, size_t count, char *out,
                       size_t size) {
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    srv_outlet outlet = SRV_OUTLET(ends[1]);
    const srv_log log = {.json = json, .level = SRV_LOG_INFO, .outlet = &outlet};
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

/* Every byte there is, alone and after others; a character that a full line would cut. */
START_TEST(any_content_is_json_and_leaves_the_terminal_alone) {
    for (int form = 0; form < 2; form++) {
        char text[3 * 255 + 1], line[8192];
        size_t size = 0;
        for (int c = 1; c < 256; c++) {
            text[size++] = (char)c;
            text[size++] = (char)(255 - c ? 255 - c : 1);
            text[size++] = 'x';
        }
        text[size] = '\0';
        const srv_field fields[] = {srv_field_string("a", text), srv_field_string("esc", "a\x1b[31m"),
                                    srv_field_string("c1", "\xc2\x9b"
                                                           "31m"),
                                    srv_field_string("ok", "\xc3\xa4")};
        written(form, SRV_LOG_INFO, fields, 4, line, sizeof line);
        for (const char *c = line; *c; c++)
            ck_assert_msg((unsigned char)*c >= ' ' || (*c == '\n' && c[1] == '\0'), "byte %d", *c);
        ck_assert_ptr_null(strstr(line, "\xc2\x9b"));
        ck_assert_ptr_nonnull(strstr(line, "\xc3\xa4"));
        if (!form) continue;
        json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_ptr_nonnull(event);
        ck_assert_str_eq(json_string_value(json_object_get(event, "esc")), "a?[31m");
        json_decref(event);
    }
    for (size_t before = 1900; before < 2100; before++) {
        char text[2200], line[4096];
        memset(text, 'x', before);
        strcpy(text + before, "\xe2\x82\xac\xe2\x82\xac\"\"");
        const srv_field field = srv_field_string("a", text);
        written(true, SRV_LOG_INFO, &field, 1, line, sizeof line);
        json_t *event = json_loads(line, 0, NULL);
        ck_assert_msg(event != NULL, "%zu", before);
        json_decref(event);
    }
}
END_TEST

START_TEST(what_clients_repeat_is_counted_instead) {
    enum { TIMES = 1000 };
    char lines[1 << 16];
    int ends[2];
    srv_repeats repeats;
    srv_repeats_init(&repeats);
    ck_assert_int_eq(pipe(ends), 0);
    srv_outlet outlet = SRV_OUTLET(ends[1]);
    const srv_log log = {.level = SRV_LOG_INFO, .outlet = &outlet, .repeats = &repeats};
    for (int i = 0; i < TIMES; i++)
        srv_log_event_limited(&log, SRV_LOG_INFO, "request", "bad_json", NULL, 0);
    srv_log_event_limited(&log, SRV_LOG_DEBUG, "request", "quiet", NULL, 0);
    srv_log_flush(&log);
    close(ends[1]);
    size_t size = 0, shown = 0, told = 0;
    for (ssize_t got; (got = read(ends[0], lines + size, sizeof lines - 1 - size)) > 0;)
        size += (size_t)got;
    lines[size] = '\0';
    for (char *rest = lines, *line; (line = strsep(&rest, "\n"));) {
        const char *suppressed = strstr(line, "warning suppressed of=request reason=bad_json count=");
        if (suppressed) told += strtoul(strrchr(line, '=') + 1, NULL, 10);
        shown += strstr(line, "info    request") != NULL;
    }
    /* However slow the machine: each is written or told. */
    ck_assert_uint_eq(shown + told, TIMES);
    ck_assert_uint_ge(shown, SRV_REPEATS_MOST);
    ck_assert_uint_gt(told, 0);
    close(ends[0]);
    srv_repeats_done(&repeats);
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
    tcase_add_test(cases, any_content_is_json_and_leaves_the_terminal_alone);
    tcase_add_test(cases, what_clients_repeat_is_counted_instead);
    tcase_add_test(cases, less_important_lines_are_left_out);
    suite_add_tcase(suite, cases);
    return suite;
}
