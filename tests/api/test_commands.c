/* The subcommands: run gives the bytes of HTTP, every example is answered, help knows them all. */
#include "api.h"

#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>

static process_result run_with_input(const char *const argv[], const char *input) {
    return process_run(argv, NULL, input, strlen(input));
}

static const char *const requests[] = {
    "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"causal\":true}",
    "{\"inputs\":[[[1,0.1,0,-3.5]],[[0.25,1,1e-3,0],[1,2,3,4]]],\"return\":{\"scores\":true,\"projections\":"
    "true}}",
    "{\"model\":\"plain\",\"inputs\":[[1,2,3],[4,5,6],[7,8,9]],\"return\":{\"precision\":4},\"tokens\":["
    "\"a\",\"\\u00e4\",\"\"]}",
    "{\"inputs\":[[1,0,0,0]],\"context\":[[1,1,0,0],[0,0,1,1]],\"key_padding_mask\":[true,true]}",
};

START_TEST(run_gives_the_bytes_of_http) {
    http_answer answer = http_post(api_daemon.url, "/v1/attention", requests[_i]);
    ck_assert_msg(answer.status == 200, "%ld: %s", answer.status, answer.body);
    process_result piped =
        run_with_input((const char *const[]){process_attnd(), "run", "-", NULL}, requests[_i]);
    ck_assert_msg(piped.code == 0, "%d: %s", piped.code, piped.errors);
    ck_assert_str_eq(piped.errors, "");
    ck_assert_uint_eq(piped.output_size, answer.size);
    ck_assert_mem_eq(piped.output, answer.body, answer.size);

    char *folder = temporary_folder(), *path = temporary_path(folder, "request.json");
    st_write_bytes(path, requests[_i], strlen(requests[_i]));
    process_result from_file = process_run_attnd("run", "--workers", "1", path, NULL);
    ck_assert_int_eq(from_file.code, 0);
    ck_assert_str_eq(from_file.output, piped.output);
    process_result_done(&from_file);
    process_result_done(&piped);
    free(path);
    temporary_remove(folder);
    http_done(&answer);
}
END_TEST

START_TEST(run_refuses_like_http) {
    process_result refused =
        run_with_input((const char *const[]){process_attnd(), "run", "-", NULL}, "{\"inputs\":[[1,0,0]]}");
    ck_assert_int_eq(refused.code, 1);
    ck_assert_str_eq(refused.output, "");
    json_t *document = json_loads(refused.errors, 0, NULL);
    ck_assert_msg(document != NULL, "%s", refused.errors);
    json_check_exact(document, "/code", "\"shape_mismatch\"");
    json_check_exact(document, "/pointer", "\"/inputs/0\"");
    json_decref(document);
    process_result_done(&refused);

    refused = process_run_attnd("run", "/nonexistent/request.json", NULL);
    ck_assert_int_eq(refused.code, 1);
    ck_assert_msg(strstr(refused.errors, "/nonexistent/request.json"), "%s", refused.errors);
    process_result_done(&refused);
    refused = process_run_attnd("run", NULL);
    ck_assert_int_eq(refused.code, 2);
    process_result_done(&refused);
}
END_TEST

START_TEST(example_is_answered) {
    static const char *const models[] = {"tiny", "demo", "plain"};
    process_result example = process_run_attnd("example", models[_i], NULL);
    ck_assert_msg(example.code == 0, "%s", example.errors);
    process_result answer =
        run_with_input((const char *const[]){process_attnd(), "run", "-", NULL}, example.output);
    ck_assert_msg(answer.code == 0, "%s\n%s", example.output, answer.errors);
    json_t *document = json_loadb(answer.output, answer.output_size, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(document);
    ck_assert_str_eq(json_string_value(json_at(document, "/model")), models[_i]);
    json_at(document, "/outputs/0/0");
    json_at(document, "/attention/0/0/0");
    json_decref(document);

    char path[64];
    snprintf(path, sizeof path, "/v1/models/%s/example", models[_i]);
    http_answer served = http_get(api_daemon.url, path);
    ck_assert_int_eq(served.status, 200);
    json_t *one = json_loads(example.output, 0, NULL), *other = http_json(&served);
    ck_assert(json_equal(one, other));
    json_decref(one);
    json_decref(other);
    http_done(&served);
    process_result_done(&answer);
    process_result_done(&example);
}
END_TEST

/* Lines fit a terminal of 80 columns; every character is one wide here. */
static void check_width(const char *text) {
    size_t columns = 0;
    const char *line = text;
    for (const char *at = text; *at; at++) {
        if (((unsigned char)*at & 0xC0) != 0x80) columns++;
        if (*at != '\n') continue;
        ck_assert_msg(columns <= 80 + 1, "%zu columns: %.120s", columns - 1, line);
        ck_assert_msg(at == text || at[-1] != ' ', "a line ends in a space: %.120s", line);
        columns = 0;
        line = at + 1;
    }
}

START_TEST(help_and_version) {
    static const char *const commands[] = {"serve", "run",     "config",  "check", "health", "inspect",
                                           "init",  "example", "version", "help",  "key",    "bench"};
    process_result all = process_run_attnd("help", NULL);
    ck_assert_int_eq(all.code, 0);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        ck_assert_msg(strstr(all.output, commands[i]) != NULL, "%s: %s", commands[i], all.output);
        process_result one = process_run_attnd(commands[i], "--help", NULL);
        ck_assert_msg(one.code == 0 && one.output[0] && !one.errors[0], "%s --help: %d %s", commands[i],
                      one.code, one.errors);
        check_width(one.output);
        process_result_done(&one);
    }
    check_width(all.output);
    process_result_done(&all);
    all = process_run_attnd("serve", "--help", NULL);
    ck_assert_ptr_nonnull(strstr(all.output, "--max-body"));
    ck_assert_ptr_nonnull(strstr(all.output, "ATTND_MAX_BODY"));
    process_result_done(&all);
    all = process_run_attnd("version", NULL);
    ck_assert_int_eq(all.code, 0);
    ck_assert_ptr_nonnull(strstr(all.output, "libmicrohttpd"));
    process_result_done(&all);
    all = process_run_attnd("sevre", NULL);
    ck_assert_int_eq(all.code, 2);
    ck_assert_msg(strstr(all.errors, "serve") != NULL, "%s", all.errors);
    process_result_done(&all);
}
END_TEST

/* Prints to a device that is always full. */
START_TEST(unwritten_output_is_a_failure) {
    static const char *const commands[] = {"help",         "version",      "config",
                                           "example tiny", "serve --help", "example tiny | \"$0\" run -"};
    char line[128];
    snprintf(line, sizeof line, "\"$0\" %s > /dev/full", commands[_i]);
    const char *const shell[] = {"/bin/sh", "-c", line, process_attnd(), NULL};
    process_result result = process_run(shell, NULL, NULL, 0);
    ck_assert_msg(result.code == 1, "%s: %d", commands[_i], result.code);
    ck_assert_msg(strstr(result.errors, ": standard output cannot be written\n") != NULL, "%s: %s",
                  commands[_i], result.errors);
    process_result_done(&result);
}
END_TEST

ATTND_SUITE(commands) {
    Suite *suite = suite_create("commands");
    TCase *tests = api_case(suite, "commands");
    tcase_add_loop_test(tests, run_gives_the_bytes_of_http, 0, (int)(sizeof requests / sizeof *requests));
    tcase_add_test(tests, run_refuses_like_http);
    tcase_add_loop_test(tests, example_is_answered, 0, 3);
    tcase_add_test(tests, help_and_version);
    tcase_add_loop_test(tests, unwritten_output_is_a_failure, 0, 6);
    return suite;
}
