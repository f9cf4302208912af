/* Files that are no safetensors, or no files, or change while being read. */
#include "engine/weights/safetensors.h"
#include "safetensors_writer.h"
#include "suites.h"
#include "temporary.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder, *path;

static void set_up(void) {
    folder = temporary_folder();
    path = temporary_path(folder, "m.safetensors");
}

static void tear_down(void) {
    free(path);
    temporary_remove(folder);
}

static void refuse(const char *file, attn_code expected, const char *text) {
    attn_safetensors *opened = NULL;
    attn_error error;
    attn_error_clear(&error);
    ck_assert_int_eq(attn_safetensors_open(file, &opened, &error), expected);
    ck_assert_msg(strstr(error.text, text) != NULL, "'%s' is not in '%s'", text, error.text);
    ck_assert_str_eq(error.where, file);
    ck_assert_ptr_null(opened);
}

static void refuse_bytes(const void *bytes, size_t size, const char *text) {
    st_write_bytes(path, bytes, size);
    refuse(path, ATTN_BAD_FILE, text);
}

static attn_safetensors *open_sound(void) {
    attn_safetensors *file = NULL;
    attn_error error;
    attn_error_clear(&error);
    ck_assert_msg(attn_safetensors_open(path, &file, &error) == ATTN_OK, "%s", error.text);
    return file;
}

START_TEST(not_files) {
    refuse("/nonexistent/file", ATTN_IO, "cannot be opened: No such file");
    refuse("/dev/zero", ATTN_IO, "is a device, pipe or socket; a regular file is accepted");
    refuse(folder, ATTN_IO, "is a directory; a regular file is accepted");
    char *pipe_path = temporary_path(folder, "pipe");
    ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
    refuse(pipe_path, ATTN_IO, "is a device, pipe or socket"); /* and returns, though nobody writes */
    free(pipe_path);
}
END_TEST

START_TEST(other_formats) {
    static const char lfs[] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    refuse_bytes(lfs, sizeof lfs - 1,
                 "is a Git LFS pointer, not the file itself; 'git lfs pull' fetches the file");
    refuse_bytes("PK\x03\x04 and more", 13, "is a zip archive");
    refuse_bytes("GGUF and more", 13, "is a GGUF file");
    refuse_bytes("{\"json\": \"only, nothing else\"}", 30,
                 "up to 16777216 are accepted: is it a safetensors file?");
}
END_TEST

START_TEST(lengths) {
    refuse_bytes("", 0, "has 0 bytes");
    refuse_bytes("\x02\0\0\0\0\0\0\0{", 9, "has 9 bytes");
    refuse_bytes("\x03\0\0\0\0\0\0\0{}", 10,
                 "header length is 3 bytes and 2 follow; the file may be truncated");
    refuse_bytes("\x01\0\0\x01\0\0\0\0{}", 10, "header length is 16777217 bytes; up to 16777216");
    refuse_bytes("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, "header length is 18446744073709551615 bytes");
    refuse_bytes("\0\0\0\0\0\0\0\0{}", 10, "does not begin with '{'");
    st_write_bytes(path, "\x02\0\0\0\0\0\0\0{}", 10);
    attn_safetensors_close(open_sound());
}
END_TEST

START_TEST(truncated_data) {
    st_write(path, "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "1234567", 7);
    refuse(path, ATTN_BAD_FILE, "tensor 'a': data_offsets [0,8] reach beyond the file's 7 bytes of data");
}
END_TEST

/* The header's odd length and the three bytes put the floats at an odd place of the file. */
START_TEST(unaligned_data) {
    unsigned char data[15] = {9, 9, 9};
    const float values[3] = {1.5f, -2.25f, 1e-40f};
    memcpy(data + 3, values, sizeof values);
    st_write(path,
             "{\"f\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[3,15]},"
             "\"odd\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}",
             data, sizeof data);
    attn_safetensors *file = open_sound();
    float out[3];
    ck_assert_int_eq(attn_safetensors_read(file, &file->header.tensors[1], 0, 3, out, NULL), ATTN_OK);
    ck_assert_int_eq(memcmp(out, values, sizeof values), 0);
    ck_assert_int_eq(attn_safetensors_read(file, &file->header.tensors[1], 1, 1, out, NULL), ATTN_OK);
    ck_assert_int_eq(memcmp(out, values + 1, sizeof(float)), 0);
    attn_safetensors_close(file);
}
END_TEST

/* More than one chunk, so that chunk borders are crossed. */
START_TEST(large_tensors_are_read_in_chunks) {
    enum { COUNT = 150001 };
    float *values = malloc(COUNT * sizeof *values), *out = malloc(COUNT * sizeof *out);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (float)i / 3;
    st_builder *builder = st_new();
    st_add(builder, "f64", "F64", (size_t[]){COUNT, ST_END}, values);
    st_finish(builder, path);
    attn_safetensors *file = open_sound();
    ck_assert_int_eq(attn_safetensors_read(file, &file->header.tensors[0], 0, COUNT, out, NULL), ATTN_OK);
    ck_assert_int_eq(memcmp(out, values, COUNT * sizeof *out), 0);
    attn_safetensors_close(file);
    free(values);
    free(out);
}
END_TEST

START_TEST(a_file_that_shrinks_is_an_error) {
    const float values[4] = {1, 2, 3, 4};
    st_builder *builder = st_new();
    st_add(builder, "a", "F32", (size_t[]){4, ST_END}, values);
    st_finish(builder, path);
    attn_safetensors *file = open_sound();
    ck_assert_int_eq(truncate(path, (off_t)file->data_at + 6), 0);
    float out[4];
    attn_error error;
    attn_error_clear(&error);
    ck_assert_int_eq(attn_safetensors_read(file, &file->header.tensors[0], 0, 4, out, &error), ATTN_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "while being read"));
    attn_safetensors_close(file);
}
END_TEST

ATTND_SUITE(safetensors) {
    Suite *suite = suite_create("safetensors");
    TCase *cases = tcase_create("files");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, not_files);
    tcase_add_test(cases, other_formats);
    tcase_add_test(cases, lengths);
    tcase_add_test(cases, truncated_data);
    tcase_add_test(cases, unaligned_data);
    tcase_add_test(cases, large_tensors_are_read_in_chunks);
    tcase_add_test(cases, a_file_that_shrinks_is_an_error);
    suite_add_tcase(suite, cases);
    return suite;
}
