/* Keys: the file and all that may be wrong with it, finding by the key's bytes, rights, new keys. */
#include "server/auth/keys.h"
#include "suites.h"

#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SHA-256 of "abc" (FIPS 180-4's example) and of "". */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static char *folder, *path;

static void make_folder(void) {
    folder = temporary_folder();
    path = temporary_path(folder, "keys.json");
}

static void remove_folder(void) {
    free(path);
    temporary_remove(folder);
}

static srv_keys *load(const char *text, srv_text *problems) {
    st_write_bytes(path, text, strlen(text));
    return srv_keys_load(path, problems);
}

static srv_keys *load_sound(const char *text) {
    srv_text problems = {0};
    srv_keys *keys = load(text, &problems);
    ck_assert_msg(keys != NULL, "%.*s", (int)problems.size, problems.data);
    ck_assert_uint_eq(problems.size, 0);
    return keys;
}

START_TEST(found_by_their_bytes) {
    srv_keys *keys =
        load_sound("{\"keys\":[{\"name\":\"first\",\"sha256\":\"" EMPTY "\",\"rights\":[\"metrics\"]},"
                   "{\"name\":\"a.B-9_\",\"sha256\":\"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB"
                   "410FF61F20015AD\",\"rights\":[\"read\",\"infer\"],\"rate\":0.5,\"burst\":2}]}");
    ck_assert_uint_eq(keys->count, 2);
    srv_key *key = srv_keys_find(keys, "abc", 3);
    ck_assert_ptr_nonnull(key);
    ck_assert_str_eq(key->name, "a.B-9_");
    ck_assert(srv_key_has(key, SRV_RIGHT_INFER) && srv_key_has(key, SRV_RIGHT_READ) &&
              srv_key_has(key, SRV_RIGHT_NONE) && !srv_key_has(key, SRV_RIGHT_METRICS));
    ck_assert_ptr_null(srv_keys_find(keys, "abcd", 4));
    ck_assert_ptr_null(srv_keys_find(keys, ABC, strlen(ABC)));
    key = srv_keys_find(keys, "", 0);
    ck_assert_str_eq(key->name, "first");
    ck_assert(srv_key_has(key, SRV_RIGHT_METRICS) && !srv_key_has(key, SRV_RIGHT_READ));
    srv_keys_free(keys);
}
END_TEST

START_TEST(rates_are_the_file_s) {
    srv_keys *keys =
        load_sound("{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[\"read\"],\"rate\":0.4},"
                   "{\"name\":\"b\",\"sha256\":\"" EMPTY "\",\"rights\":[\"read\"],\"rate\":3}]}");
    unsigned seconds;
    /* Without a burst: the rate, at least one. */
    ck_assert(srv_key_take(&keys->items[0], 1, &seconds));
    ck_assert(!srv_key_take(&keys->items[0], 1, &seconds));
    ck_assert_uint_eq(seconds, 3); /* 2.5, rounded up */
    for (int i = 0; i < 3; i++)
        ck_assert(srv_key_take(&keys->items[1], 1, &seconds));
    ck_assert(!srv_key_take(&keys->items[1], 1, &seconds));
    ck_assert_uint_eq(seconds, 1);
    srv_text page = {0};
    srv_keys_metrics(keys, &page);
    srv_text_append(&page, "", 1);
    ck_assert_ptr_nonnull(strstr(page.data, "attnd_key_requests_total{key=\"b\",outcome=\"passed\"} 3\n"));
    ck_assert_ptr_nonnull(strstr(page.data, "attnd_key_requests_total{key=\"b\",outcome=\"limited\"} 1\n"));
    srv_text_done(&page);
    srv_keys_free(keys);
}
END_TEST

#define KEY(members) "{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[\"read\"]" members "}]}"

/* Each a file and what is told of it, behind "file PATH". */
static const struct {
    const char *text, *told;
} wrong[] = {
    {"", ": no strict JSON at line 1, column 0: a fault of its syntax, or a doubled member\n"},
    {"{\"keys\":[secret]}",
     ": no strict JSON at line 1, column 15: a fault of its syntax, or a doubled member\n"},
    {"[]", ": found an empty list; an object {\"keys\": [...]} belongs here\n"},
    {"{}", ", keys: found nothing; a list of 1 to 4096 keys belongs here\n"},
    {"{\"keys\":[]}", ", keys: found an empty list; a list of 1 to 4096 keys belongs here\n"},
    {"{\"keys\":{}}", ", keys: found an object; a list of 1 to 4096 keys belongs here\n"},
    {"{\"keys\":[7]}", ", keys[0]: found a number; an object with name, sha256 and rights belongs here\n"},
    {KEY(",\"rate\":1e7"),
     ", keys[0].rate: found a greater number; a number from 0.0001 to 1000000 belongs here\n"},
    {KEY(",\"rate\":0"),
     ", keys[0].rate: found a smaller number; a number from 0.0001 to 1000000 belongs here\n"},
    {KEY(",\"rate\":\"1\""),
     ", keys[0].rate: found a string; a number from 0.0001 to 1000000 belongs here\n"},
    {KEY(",\"rate\":1,\"burst\":0.5"),
     ", keys[0].burst: found a smaller number; a number from 1 to 1000000 belongs here\n"},
    {KEY(",\"burst\":2"), ", keys[0].burst: without a rate it limits nothing\n"},
    {KEY(",\"key\":\"abc\""),
     ", keys[0]: unknown member 'key'; a key has name, sha256, rights, rate, burst\n"},
    {"{\"keys\":[{\"name\":\"a\\u0000b\",\"sha256\":\"" ABC "\",\"rights\":[\"read\"]}]}",
     ": no strict JSON at line 1, column 27: a fault of its syntax, or a doubled member\n"},
    {"{\"keys\":[{\"name\":\"a b\",\"sha256\":\"" ABC "\",\"rights\":[\"read\"]}]}",
     ", keys[0].name: found a string that is no name; 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-' belong "
     "here\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"attnd_secret\",\"rights\":[\"read\"]}]}",
     ", keys[0].sha256: found a string that is none; the SHA-256 of a key, 64 hexadecimal digits, belongs "
     "here; `attnd key NAME` makes "
     "both\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[\"read\",\"secret\"]}]}",
     ", keys[0].rights[1]: found a string that is no right; infer, read or metrics belongs here\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[7]}]}",
     ", keys[0].rights[0]: found a number; infer, read or metrics belongs here\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[\"\"]}]}",
     ", keys[0].rights[0]: found an empty string; infer, read or metrics belongs here\n"},
    {"{\"keys\":[{\"name\":7,\"sha256\":\"" ABC "\",\"rights\":[\"read\"]}]}",
     ", keys[0].name: found a number; 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-' belong here\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":\"read\"}]}",
     ", keys[0].rights: found a string; a list of infer, read, metrics belongs here\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\"}]}",
     ", keys[0].rights: found nothing; a list of infer, read, metrics belongs here\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[]}]}",
     ", keys[0].rights: found an empty list; a list of infer, read, metrics belongs here\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[\"read\"]},"
     "{\"name\":\"b\",\"sha256\":\"" ABC "\",\"rights\":[\"read\"]}]}",
     ", keys[1].sha256: the digest of keys[0] too\n"},
    {"{\"keys\":[{\"name\":\"a\",\"sha256\":\"" ABC "\",\"rights\":[\"read\"]},"
     "{\"name\":\"a\",\"sha256\":\"" EMPTY "\",\"rights\":[\"read\"]}]}",
     ", keys[1].name: the name of keys[0] too\n"},
};

START_TEST(wrong_files_are_told) {
    char wanted[512];
    srv_text problems = {0};
    ck_assert_ptr_null(load(wrong[_i].text, &problems));
    srv_text_append(&problems, "", 1);
    snprintf(wanted, sizeof wanted, "file %s%s", path, wrong[_i].told);
    ck_assert_str_eq(problems.data, wanted);
    ck_assert_ptr_null(strstr(problems.data, "secret"));
    srv_text_done(&problems);
}
END_TEST

START_TEST(more_keys_than_one_file_holds) {
    char text[2 * (SRV_KEYS_MOST + 1) + 16], *end = stpcpy(text, "{\"keys\":[0");
    for (int i = 0; i < SRV_KEYS_MOST; i++)
        end = stpcpy(end, ",0");
    memcpy(end, "]}", sizeof "]}");
    srv_text problems = {0};
    ck_assert_ptr_null(load(text, &problems));
    srv_text_append(&problems, "", 1);
    ck_assert_ptr_nonnull(
        strstr(problems.data, ", keys: found a list of more; a list of 1 to 4096 keys belongs "));
    srv_text_done(&problems);
}
END_TEST

START_TEST(all_at_once) {
    srv_text problems = {0};
    ck_assert_ptr_null(
        load("{\"keys\":[{},{\"name\":\"a\",\"sha256\":7,\"rights\":\"read\"}],\"more\":1}", &problems));
    size_t lines = 0;
    for (size_t i = 0; i < problems.size; i++)
        lines += problems.data[i] == '\n';
    ck_assert_uint_eq(lines, 6);
    srv_text_done(&problems);
    ck_assert_ptr_null(srv_keys_load("/nonexistent/keys", &problems));
    srv_text_append(&problems, "", 1);
    ck_assert_ptr_nonnull(strstr(problems.data, "file /nonexistent/keys: unable to open"));
    srv_text_done(&problems);
}
END_TEST

START_TEST(new_keys_open_their_entry) {
    char key[SRV_KEY_TEXT_SIZE], other[SRV_KEY_TEXT_SIZE], hex[SRV_KEY_HEX_SIZE], text[256];
    ck_assert(srv_key_new(other, hex));
    ck_assert(srv_key_new(key, hex));
    ck_assert_str_ne(key, other);
    ck_assert_uint_eq(strlen(key), 49);
    ck_assert_uint_eq(strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 49);
    snprintf(text, sizeof text, "{\"keys\":[{\"name\":\"n\",\"sha256\":\"%s\",\"rights\":[\"infer\"]}]}",
             hex);
    srv_keys *keys = load_sound(text);
    ck_assert_ptr_eq(srv_keys_find(keys, key, strlen(key)), &keys->items[0]);
    ck_assert_ptr_null(srv_keys_find(keys, other, strlen(other)));
    srv_keys_free(keys);
}
END_TEST

ATTND_SUITE(keys) {
    Suite *suite = suite_create("keys");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, found_by_their_bytes);
    tcase_add_test(tests, rates_are_the_file_s);
    tcase_add_loop_test(tests, wrong_files_are_told, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(tests, more_keys_than_one_file_holds);
    tcase_add_test(tests, all_at_once);
    tcase_add_test(tests, new_keys_open_their_entry);
    suite_add_tcase(suite, tests);
    return suite;
}
