/* attnd run: what it draws and which files it writes. */
#include "api.h"

#include "tests/support/process.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAIR "{\"model\":\"plain\",\"inputs\":[[3,0],[0,3]],\"causal\":true}"

static char *folder;

static void make_folder(void) {
    folder = temporary_folder();
    char *path = temporary_path(folder, "pair.json");
    FILE *out = fopen(path, "w");
    ck_assert_int_ge(fputs(PAIR, out), 0);
    fclose(out);
    free(path);
}

static void remove_folder(void) {
    temporary_remove(folder);
}

static process_result run_on_file(const char *const options[], const char *output) {
    char *request = temporary_path(folder, "pair.json");
    const char *argv[10] = {process_attnd(), "run", request};
    size_t count = 3;
    for (; *options; options++)
        argv[count++] = *options;
    if (output) argv[count++] = output;
    process_result result = process_run(argv, NULL, NULL, 0);
    free(request);
    return result;
}

START_TEST(shows_what_http_answers) {
    process_result shown =
        run_on_file((const char *const[]){"--show", "--query", "columns=50&title=T", NULL}, NULL);
    const char *const headers[] = {"Accept: text/plain", NULL};
    http_answer answer =
        http_send("POST", api_daemon.url, "/v1/attention?columns=50&title=T", headers, PAIR, strlen(PAIR));
    ck_assert_int_eq(shown.code, 0);
    ck_assert_str_eq(shown.output, answer.body); /* no terminal: no colours */
    ck_assert_str_eq(shown.errors, "");
    process_result_done(&shown);
    http_done(&answer);
}
END_TEST

/* A file, and the bytes it begins with. */
static const struct {
    const char *name, *begin;
    size_t size;
} files[] = {
    {"map.png", "\x89PNG\r\n\x1a\n", 8}, {"MAP.PNG", "\x89PNG\r\n\x1a\n", 8},
    {"map.svg", "<svg xmlns=", 11},      {"map.csv", "sequence,head,", 14},
    {"map.txt", "plain, layer 0", 14},   {"map.json", "{\"model\":\"plain\"", 16},
    {"map.npy", "\x93NUMPY\x01", 7},     {"map.safetensors", "", 0},
};

START_TEST(endings_choose_the_form) {
    char *path = temporary_path(folder, files[_i].name), begin[16];
    process_result result = run_on_file((const char *const[]){"-o", NULL}, path);
    ck_assert_msg(result.code == 0, "%s", result.errors);
    ck_assert_str_eq(result.output, "");
    FILE *in = fopen(path, "rb");
    ck_assert_ptr_nonnull(in);
    size_t size = fread(begin, 1, sizeof begin, in);
    fclose(in);
    ck_assert_uint_ge(size, files[_i].size);
    ck_assert_mem_eq(begin, files[_i].begin, files[_i].size);
    process_result_done(&result);
    free(path);
}
END_TEST

/* An NPY file is a request as well: one array of inputs. */
START_TEST(requests_have_endings_too) {
    char *path = temporary_path(folder, "x.npy");
    static const char header[] =
        "\x93NUMPY\x01\0\x46\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }             \n";
    const float row[4] = {1, 0, 0, 0};
    FILE *out = fopen(path, "wb");
    fwrite(header, 1, 80, out);
    fwrite(row, 1, sizeof row, out);
    fclose(out);
    process_result result = process_run_attnd("run", path, "--query", "outputs=false", NULL);
    ck_assert_msg(result.code == 0, "%s", result.errors);
    ck_assert_ptr_nonnull(strstr(result.output, "\"attention\":[[[1]],[[1]]]"));
    process_result_done(&result);
    free(path);
}
END_TEST

static void check_refusal(const char *const options[], const char *output, int code, const char *complaint) {
    process_result result = run_on_file(options, output);
    ck_assert_int_eq(result.code, code);
    ck_assert_msg(strstr(result.errors, complaint) != NULL, "%s", result.errors);
    ck_assert_str_eq(result.output, "");
    process_result_done(&result);
}

START_TEST(refusals) {
    check_refusal((const char *const[]){"-o", NULL}, "map.bmp", 2,
                  "'map.bmp' ends in nothing that can be written; there are .json, .npy, .safetensors, .png, "
                  ".svg, .csv "
                  "and .txt");
    check_refusal((const char *const[]){"--show", "-o", NULL}, "map.png", 2,
                  "--show and -o exclude each other");
    check_refusal((const char *const[]){"-o", NULL}, NULL, 2, "-o takes the file to write");
    check_refusal((const char *const[]){"-o", "a.png", "-o", NULL}, "b.png", 2, "-o is given twice");
    check_refusal((const char *const[]){"--query", "heads=0", "--query", "queries=1", NULL}, NULL, 2,
                  "--query is given twice; '&' joins options");
    check_refusal((const char *const[]){"-o", NULL}, "/nowhere/map.png", 1, "/nowhere/map.png: No such file");
    char *path = temporary_path(folder, "never.png");
    check_refusal((const char *const[]){"--query", "cell=0", "-o", NULL}, path, 1, "\"parameter\":\"cell\"");
    ck_assert_int_ne(access(path, F_OK), 0);
    free(path);
}
END_TEST

ATTND_SUITE(run_forms) {
    Suite *suite = suite_create("run_forms");
    TCase *tests = api_case(suite, "run_forms");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, shows_what_http_answers);
    tcase_add_loop_test(tests, endings_choose_the_form, 0, sizeof files / sizeof *files);
    tcase_add_test(tests, requests_have_endings_too);
    tcase_add_test(tests, refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
