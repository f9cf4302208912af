/* attnd init and attnd inspect: exit codes, complaints, and what is listed. */
#include "capture.h"
#include "engine/engine.h"
#include "safetensors_writer.h"
#include "server/cli/cli.h"
#include "suites.h"
#include "temporary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *folder, *path;
static captured said;

static void set_up(void) {
    folder = temporary_folder();
    path = temporary_path(folder, "model.safetensors");
}

static void tear_down(void) {
    free(path);
    temporary_remove(folder);
}

/* Runs a command with the words up to NULL; what it prints is in `said`. */
static int run(int (*command)(int, char **), const char *const *words) {
    char *argv[16] = {NULL};
    int argc = 0;
    for (; words[argc] != NULL; argc++)
        argv[argc] = strdup(words[argc]);
    captured_free(&said);
    capture_begin();
    int code = command(argc, argv);
    said = capture_end();
    for (int i = 0; words[i] != NULL; i++)
        free(argv[i]);
    return code;
}

#define RUN(command, ...) run(srv_cli_##command, (const char *const[]){#command, __VA_ARGS__, NULL})
#define SAYS(text, part) ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in '%s'", part, text)

START_TEST(init_writes_what_seeded_makes) {
    ck_assert_int_eq(RUN(init, "--d-model", "12", "--heads=3", "--layers", "2", "--seed", "7", "-o", path),
                     0);
    SAYS(said.out, "layers 2, d_model 12, heads 3, seed 7\n");
    ck_assert_str_eq(said.err, "");
    attn_model *model = NULL, *made = NULL;
    const attn_model_source source = {.name = "m", .path = path};
    ck_assert_int_eq(attn_model_load(&source, &model, NULL), ATTN_OK);
    ck_assert_int_eq(attn_model_seeded("m", &(attn_seed_spec){12, 3, 2, 7}, &made, NULL), ATTN_OK);
    ck_assert_int_eq(memcmp(model->layers[1].wo, made->layers[1].wo, 144 * sizeof(float)), 0);
    attn_model_free(model);
    attn_model_free(made);
}
END_TEST

START_TEST(init_keeps_a_file) {
    st_write_bytes(path, "mine", 4);
    ck_assert_int_eq(RUN(init, "-o", path, "--d-model", "2", "--heads", "1"), 1);
    SAYS(said.err, "' is already there; --force replaces it\n");
    ck_assert_int_eq(RUN(init, "-o", path, "--d-model", "2", "--heads", "1", "--force"), 0);
    ck_assert_int_eq(RUN(init, "-o", "/nonexistent/x"), 1);
    SAYS(said.err, "attnd init: cannot create '/nonexistent/x': No such file");
}
END_TEST

START_TEST(init_refuses) {
    static const struct {
        const char *words[4], *text;
    } cases[] = {
        {{"--seed", "1"}, "attnd init: no file to write; name it by -o FILE\n"},
        {{"-o", "x", "--heads", "7"},
         "heads is 7; a number of at least 1 that divides d_model 512 is accepted\n"},
        {{"-o", "x", "--heads", "0"}, "--heads is '0'; a whole number from 1 to 65536 is accepted\n"},
        {{"-o", "x", "--d-model", "1e3"}, "--d-model is '1e3'; a whole number from 1 to 65536 is accepted\n"},
        {{"-o", "x", "--layers", "-1"}, "--layers is '-1'; a whole number from 1 to 1024 is accepted\n"},
        {{"-o", "x", "--seed", "18446744073709551616"},
         "--seed is '18446744073709551616'; a whole number from 0 to "},
        {{"-o", "x", "--colour"},
         "unknown option '--colour'; --d-model, --heads, --layers, --seed, -o FILE and "},
        {{"-o", "x", "-z"}, "unknown option '-z'; "},
        {{"-o"}, "option '-o' needs a value\n"},
        {{"-o", "x", "y"}, "'y' stands alone; the file to write is named by -o FILE\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const *w = cases[i].words;
        ck_assert_int_eq(RUN(init, w[0], w[1], w[2], w[3]), 2);
        SAYS(said.err, cases[i].text);
        ck_assert_str_eq(said.out, "");
        ck_assert_int_ne(access("x", F_OK), 0);
    }
}
END_TEST

static void write_model(const char *extra_name) {
    const float zeros[32] = {0};
    st_builder *builder = st_new();
    st_add(builder, "h.0.W_q.weight", "F16", (size_t[]){4, 4, ST_END}, zeros);
    st_add(builder, "h.0.W_k.weight", "F16", (size_t[]){2, 4, ST_END}, zeros);
    st_add(builder, "h.0.W_v.weight", "F16", (size_t[]){3, 4, ST_END}, zeros);
    st_add(builder, "h.0.W_v.bias", "F16", (size_t[]){3, ST_END}, zeros);
    st_add_bytes(builder, extra_name, "I64", (size_t[]){1, 1, ST_END}, "12345678", 8);
    st_finish(builder, path);
}

START_TEST(inspect_shows_the_model) {
    write_model("position_ids");
    ck_assert_int_eq(RUN(inspect, folder, "--heads", "2"), 0);
    SAYS(said.out,
         "family   W_q/W_k/W_v/W_o\ndtype    F16\nmemory   156 bytes\nlayers   1\ntensors  5, 1 not used\n");
    SAYS(said.out,
         "\nlayers.0                  4        4        4        6      2      1      2      3  v  no output "
         "projection\n");
    SAYS(said.out, "\nh.0.W_q.weight  F16       [4,4]           layers.0 query weight\n");
    SAYS(said.out, "\nh.0.W_v.bias    F16       [3]             layers.0 value bias\n");
    SAYS(said.out, "\nposition_ids    I64       [1,1]           not used\n");
    ck_assert_str_eq(said.err, "");
}
END_TEST

START_TEST(inspect_lists_what_makes_no_model) {
    write_model("a\\u001b[2J\\u009bz"); /* escapes of JSON: the name holds control characters */
    ck_assert_int_eq(RUN(inspect, path), 1);
    SAYS(said.out, "\nh.0.W_v.weight  F16       [3,4]\n");
    SAYS(said.out, "\na?[2J?z         I64       [1,1]\n");
    SAYS(said.err, "attnd inspect: ");
    SAYS(said.err, "the head count of layers.0 (4 query outputs in 'h.0.W_q.weight') is unknown; it is taken "
                   "from --heads, num_heads in");
    ck_assert_int_eq(RUN(inspect, path, "--heads", "3"), 1);
    SAYS(said.err, "3 heads do not divide the 4 query outputs");
}
END_TEST

START_TEST(inspect_refuses) {
    ck_assert_int_eq(RUN(inspect, "/nonexistent/file"), 1);
    SAYS(said.err, "attnd inspect: /nonexistent/file: cannot be opened: No such file");
    ck_assert_str_eq(said.out, "");
    ck_assert_int_eq(RUN(inspect, NULL), 2);
    SAYS(said.err, "attnd inspect: takes one weights file, or a folder that holds model.safetensors\n");
    ck_assert_int_eq(RUN(inspect, path, path), 2);
    ck_assert_int_eq(RUN(inspect, path, "--heads", "x"), 2);
    SAYS(said.err, "--heads is 'x'; a whole number from 1 to 65536 is accepted\n");
    ck_assert_int_eq(RUN(inspect, path, "--head-count", "2"), 2);
    SAYS(said.err, "unknown option '--head-count'; --heads H is accepted\n");
}
END_TEST

START_TEST(both_stand_in_the_table) {
    ck_assert_ptr_eq(srv_command_find("init")->run, srv_cli_init);
    ck_assert_ptr_eq(srv_command_find("inspect")->run, srv_cli_inspect);
}
END_TEST

ATTND_SUITE(init_and_inspect) {
    Suite *suite = suite_create("init_and_inspect");
    TCase *cases = tcase_create("commands");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, init_writes_what_seeded_makes);
    tcase_add_test(cases, init_keeps_a_file);
    tcase_add_test(cases, init_refuses);
    tcase_add_test(cases, inspect_shows_the_model);
    tcase_add_test(cases, inspect_lists_what_makes_no_model);
    tcase_add_test(cases, inspect_refuses);
    tcase_add_test(cases, both_stand_in_the_table);
    suite_add_tcase(suite, cases);
    return suite;
}
