/* Parts: what the blocks hold together is what a plain writer of whole tensors gives, wherever they are cut. */
#include "server/codec/base64.h"
#include "suites.h"
#include "tests/support/written.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 40 };

static uint32_t next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes */
    return *state >> 8;
}

/* A tensor of 1 to 4 axes; some are the heads of a wider matrix, so that their rows lie apart. */
static srv_part random_tensor(uint32_t *state, srv_form form) {
    srv_part tensor = {.form = form, .member = "some", .precision = (int)(next(state) % 4)};
    attn_view *view = &tensor.view;
    view->rank = 1 + next(state) % 4;
    size_t count = 1, apart = next(state) % 2;
    for (size_t axis = view->rank; axis-- > 0;) {
        view->shape[axis] = 1 + next(state) % (axis + 1 == view->rank ? 90 : 9);
        view->stride[axis] = count;
        count *= view->shape[axis] + (axis + 1 == view->rank ? apart : 0);
    }
    float *data = malloc(count * sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = ldexpf((float)next(state) / 7, -(int)(next(state) % 40));
    if (form == SRV_FORM_LISTS) data[next(state) % count] = -INFINITY;
    view->data = data;
    tensor.half = form != SRV_FORM_LISTS && next(state) % 2;
    for (size_t i = 0; i < count && tensor.half; i++)
        data[i] = fmodf(data[i], 65000);
    return tensor;
}

static void put_number(FILE *out, const srv_part *tensor, float number) {
    char text[SRV_FLOAT_ROOM];
    unsigned char half[2];
    if (tensor->form == SRV_FORM_LISTS && isfinite(number)) {
        fwrite(text, 1, srv_float_write(number, tensor->precision, text), out);
    } else if (tensor->form == SRV_FORM_LISTS) {
        fputs("null", out);
    } else if (tensor->half) {
        ck_assert_uint_eq(attn_dtype_from_f32(ATTN_F16, &number, 1, half), 1);
        fwrite(half, 1, sizeof half, out);
    } else {
        fwrite(&number, 1, sizeof number, out);
    }
}

/* The last `rank` axes from `at` on, one inside the other. */
static void put_axes(FILE *out, const srv_part *tensor, size_t rank, const float *at) {
    const attn_view *view = &tensor->view;
    if (rank == 0) {
        put_number(out, tensor, *at);
        return;
    }
    bool is_list = tensor->form == SRV_FORM_LISTS;
    size_t axis = view->rank - rank;
    if (is_list) fputc('[', out);
    for (size_t i = 0; i < view->shape[axis]; i++) {
        if (is_list && i > 0) fputc(',', out);
        put_axes(out, tensor, rank - 1, at + i * view->stride[axis]);
    }
    if (is_list) fputc(']', out);
}

static void put_whole(FILE *out, const srv_part *tensor) {
    if (tensor->form == SRV_FORM_LISTS) {
        put_axes(out, tensor, tensor->view.rank, tensor->view.data);
        return;
    }
    char *bytes = NULL;
    size_t size = 0;
    FILE *packed = open_memstream(&bytes, &size);
    put_axes(packed, tensor, tensor->view.rank, tensor->view.data);
    ck_assert_int_eq(fclose(packed), 0);
    char *text = malloc((size + 2) / 3 * 4);
    if (tensor->form == SRV_FORM_BYTES)
        fwrite(bytes, 1, size, out);
    else
        fwrite(text, 1, srv_base64_write((const unsigned char *)bytes, size, text), out);
    free(text);
    free(bytes);
}

static void put_text(srv_text *parts, FILE *out, uint32_t *state) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    for (size_t left = next(state) % 2 ? next(state) % 40 : 0; left > 0; left--) {
        const char *letter = &letters[next(state) % 26];
        srv_text_append(parts, letter, 1);
        fputc(*letter, out);
    }
}

/* Forms of the tensors, by turns; one whose size is not known makes that of the whole unknown. */
static const struct {
    srv_form forms[3];
    bool is_known;
} mixtures[] = {{{SRV_FORM_LISTS, SRV_FORM_LISTS, SRV_FORM_LISTS}, false},
                {{SRV_FORM_BASE64, SRV_FORM_BASE64, SRV_FORM_BASE64}, true},
                {{SRV_FORM_BYTES, SRV_FORM_BYTES, SRV_FORM_BASE64}, true},
                {{SRV_FORM_LISTS, SRV_FORM_BYTES, SRV_FORM_BASE64}, false}};

START_TEST(blocks_make_the_whole) {
    uint32_t state = (uint32_t)_i + 1;
    srv_part tensors[TENSORS];
    srv_parts *parts = srv_parts_new();
    char *want = NULL;
    size_t want_size = 0, size;
    FILE *out = open_memstream(&want, &want_size);
    for (size_t i = 0; i < TENSORS; i++) {
        put_text(srv_parts_text(parts), out, &state);
        tensors[i] = random_tensor(&state, mixtures[_i].forms[i % 3]);
        srv_parts_add(parts, &tensors[i]);
        put_whole(out, &tensors[i]);
    }
    put_text(srv_parts_text(parts), out, &state);
    ck_assert_int_eq(fclose(out), 0);
    char *text = written_parts(parts, &size);
    ck_assert_uint_eq(size, want_size);
    ck_assert_int_eq(memcmp(text, want, size), 0);
    ck_assert_uint_gt(srv_parts_blocks(parts), 2);
    ck_assert_uint_eq(srv_parts_size(parts), mixtures[_i].is_known ? size : SIZE_MAX);
    ck_assert_uint_le(srv_parts_bytes(parts), srv_parts_cost(TENSORS, 40 * TENSORS, 26 * size));
    free(text);
    free(want);
    srv_parts_free(parts);
    for (size_t i = 0; i < TENSORS; i++)
        free((float *)(uintptr_t)tensors[i].view.data);
}
END_TEST

/* Long literal text, such as labels, is cut like everything else. */
START_TEST(text_alone) {
    enum { SIZE = 3 * SRV_BLOCK_BYTES + 1 };
    srv_parts *parts = srv_parts_new();
    for (size_t i = 0; i < SIZE; i++)
        srv_text_append(srv_parts_text(parts), i % 2 ? "x" : "y", 1);
    size_t size;
    char *text = written_parts(parts, &size);
    ck_assert_uint_eq(srv_parts_blocks(parts), 4);
    ck_assert_uint_eq(size, SIZE);
    ck_assert_uint_eq(srv_parts_size(parts), SIZE);
    ck_assert(strspn(text, "yx") == SIZE && text[SIZE - 1] == 'y');
    free(text);
    srv_parts_free(parts);
}
END_TEST

START_TEST(nothing_at_all_is_a_block) {
    srv_parts *parts = srv_parts_new();
    size_t size;
    char *text = written_parts(parts, &size);
    ck_assert_uint_eq(srv_parts_blocks(parts), 1);
    ck_assert_uint_eq(size, 0);
    free(text);
    srv_parts_free(parts);
}
END_TEST

START_TEST(packed_numbers_are_not_copied) {
    float numbers[6] = {1, 2, 3, 4, 5, 6};
    const int32_t integers[] = {-1, 7};
    srv_part packed = {.view = {numbers, 2, {2, 3}, {3, 1}}, .form = SRV_FORM_BYTES},
             apart = {.view = {numbers, 2, {2, 2}, {3, 1}}, .form = SRV_FORM_BYTES},
             indices = {.view = {numbers, 1, {2}, {1}}, .integers = integers, .form = SRV_FORM_BYTES};
    srv_parts *parts = srv_parts_new();
    srv_text_append_string(srv_parts_text(parts), "head");
    srv_parts_add(parts, &packed);
    srv_parts_add(parts, &apart);
    srv_parts_add(parts, &indices);
    ck_assert(srv_parts_close(parts));
    ck_assert(srv_parts_use_memory(parts));
    ck_assert_uint_eq(srv_parts_blocks(parts), 4);
    ck_assert_uint_eq(srv_parts_size(parts), 4 + 24 + 16 + 8);
    ck_assert_uint_eq(srv_parts_written(parts), 4 + 16);
    size_t size = 0;
    ck_assert_ptr_null(srv_parts_memory(parts, 0, &size));
    ck_assert_ptr_eq(srv_parts_memory(parts, 1, &size), (const char *)numbers);
    ck_assert_uint_eq(size, sizeof numbers);
    ck_assert_ptr_null(srv_parts_memory(parts, 2, &size));
    ck_assert_ptr_eq(srv_parts_memory(parts, 3, &size), (const char *)integers);
    ck_assert_uint_eq(size, sizeof integers);
    float room[4 + SRV_PART_SLACK];
    ck_assert_uint_eq(srv_parts_write(parts, 2, (char *)room), 16);
    ck_assert(room[0] == 1 && room[1] == 2 && room[2] == 4 && room[3] == 5);
    srv_parts_free(parts);
}
END_TEST

START_TEST(what_half_cannot_hold_is_found_in_its_block) {
    enum { COUNT = 300000 };
    float *numbers = calloc(COUNT, sizeof *numbers);
    srv_part tensor = {.view = {numbers, 2, {COUNT / 10, 10}, {10, 1}},
                       .form = SRV_FORM_BASE64,
                       .half = true,
                       .member = "scores"};
    srv_parts *parts = srv_parts_new();
    srv_problem problem = {0};
    srv_text_append_string(srv_parts_text(parts), "{");
    srv_parts_add(parts, &tensor);
    ck_assert(srv_parts_close(parts));
    ck_assert(srv_parts_need_check(parts));
    size_t blocks = srv_parts_blocks(parts), last = blocks - 1, unsound = 0;
    ck_assert_uint_gt(blocks, 3);
    numbers[0] = -INFINITY; /* a masked score */
    for (size_t block = 0; block < blocks; block++)
        ck_assert(srv_parts_check(parts, block));
    numbers[COUNT - 1] = -65520;
    for (size_t block = 0; block < blocks; block++)
        unsound += !srv_parts_check(parts, block);
    ck_assert_uint_eq(unsound, 1);
    ck_assert(!srv_parts_check(parts, last));
    srv_parts_refuse(parts, &problem);
    ck_assert_int_eq(problem.id, SRV_NOT_REPRESENTABLE);
    ck_assert_str_eq(problem.where, "/return/dtype");
    ck_assert_str_eq(problem.detail, "'scores' holds -65520; f16 ends at 65504, f32 is expected");
    srv_parts_free(parts);
    free(numbers);
}
END_TEST

ATTND_SUITE(parts) {
    Suite *suite = suite_create("parts");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, blocks_make_the_whole, 0, sizeof mixtures / sizeof *mixtures);
    tcase_add_test(cases, text_alone);
    tcase_add_test(cases, nothing_at_all_is_a_block);
    tcase_add_test(cases, packed_numbers_are_not_copied);
    tcase_add_test(cases, what_half_cannot_hold_is_found_in_its_block);
    suite_add_tcase(suite, cases);
    return suite;
}
