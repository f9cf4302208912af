/* Bodies as NumPy and safetensors write them, against the same requests in JSON; and which numbers stay where they
 * lie. */
#include "golden_body.h"
#include "sample_layers.h"

#include "server/codec/ask_storage.h"
#include "server/codec/json_memory.h"
#include "server/codec/named_tensors.h"
#include "suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of the vectors of tests/golden/bodies.py, as JSON. */

static void put_row(char *out, int first) {
    char text[128];
    double v[4];
    for (int d = 0; d < 4; d++)
        v[d] = 7 * (first + d) % 24 / 8.0 - 1;
    snprintf(text, sizeof text, "[%g,%g,%g,%g]", v[0], v[1], v[2], v[3]);
    strcat(out, text);
}

static void put_rows(char *out, int first, int rows) {
    strcat(out, "[");
    for (int i = 0; i < rows; i++) {
        if (i > 0) strcat(out, ",");
        put_row(out, first + 4 * i);
    }
    strcat(out, "]");
}

/* "inputs":… for a shape: the whole batch, its first sequence, its first three and next two rows as two sequences, or
 * those packed. */
typedef enum shape { BATCH, SINGLE, RAGGED, PACKED } shape;

static void put_inputs(char *out, shape of) {
    strcat(out, "\"inputs\":");
    if (of == SINGLE) {
        put_rows(out, 0, 3);
    } else if (of == PACKED) {
        put_rows(out, 0, 5);
    } else {
        strcat(out, "[");
        put_rows(out, 0, 3);
        strcat(out, ",");
        put_rows(out, 12, of == RAGGED ? 2 : 3);
        strcat(out, "]");
    }
}

static const struct {
    const char *name, *query;
    shape of;
    const char *more; /* of the JSON body */
    bool in_place;
} bodies[] = {
    {"f4.npy", "", BATCH, "", true},
    {"f2.npy", "", BATCH, "", false},
    {"f8.npy", "causal=true&heads=1", BATCH, ",\"causal\":true,\"return\":{\"heads\":[1]}", false},
    {"big_f4.npy", "", BATCH, "", false},
    {"big_f2.npy", "", BATCH, "", false},
    {"fortran_f4.npy", "", BATCH, "", false},
    {"fortran_big_f8.npy", "", BATCH, "", false},
    {"version2.npy", "", BATCH, "", true},
    {"version3.npy", "", BATCH, "", true},
    {"single.npy", "", SINGLE, "", true},
    {"single.npy", "lengths=1,2", SINGLE, ",\"lengths\":[1,2]", true},
    {"single_fortran.npy", "tokens=a,b,c", SINGLE, ",\"tokens\":[\"a\",\"b\",\"c\"]", false},
    {"f32.safetensors", "", BATCH, "", true},
    {"f16.safetensors", "", BATCH, "", false},
    {"bf16.safetensors", "scale=0.5", BATCH, ",\"scale\":0.5", false},
    {"f64.safetensors", "", BATCH, "", false},
    {"unaligned.safetensors", "", BATCH, "", false},
    {"mask_bool.safetensors", "", BATCH, ",\"attention_mask\":[[1,1,0],[1,0,0]]", true},
    {"mask_u8.safetensors", "", BATCH, ",\"attention_mask\":[[1,1,0],[1,0,0]]", true},
    {"mask_i32.safetensors", "", BATCH, ",\"attention_mask\":[[1,1,0],[1,0,0]]", true},
    {"mask_i64.safetensors", "", BATCH, ",\"attention_mask\":[[1,1,0],[1,0,0]]", true},
    {"options.safetensors", "", BATCH,
     ",\"causal\":true,\"return\":{\"heads\":[1,0],\"precision\":3},\"tokens\":[[\"a\",\"b\",\"c\"],[\"d\","
     "\"e\","
     "\"f\"]]",
     true},
    {"ragged.safetensors", "", RAGGED, ",\"attention_mask\":[[1,1,0],[0,1]]", true},
    {"packed.safetensors", "", PACKED, ",\"lengths\":[3,2]", true},
    {"packed.safetensors", "window=1", PACKED, ",\"lengths\":[3,2],\"window\":1", true},
};

static size_t map_size(const attn_sequence *sequence) {
    return sequence->queries * sequence->keys;
}

/* One sequence's mask, all heads and queries, as the engine looks it up. */
static void compare_masks(const attn_mask *mine, const attn_mask *right, const attn_sequence *sequence,
                          const char *name) {
    ck_assert_msg((mine->allow == NULL) == (right->allow == NULL), "%s", name);
    for (size_t at = 0; right->allow != NULL && at < 2 * map_size(sequence); at++) {
        size_t h = at / map_size(sequence), i = at / sequence->keys % sequence->queries,
               j = at % sequence->keys;
        ck_assert_msg(mine->allow[h * mine->head_stride + i * mine->query_stride + j] ==
                          right->allow[h * right->head_stride + i * right->query_stride + j],
                      "%s: head %zu, query %zu, key %zu", name, h, i, j);
    }
}

static void compare(const srv_ask *mine, const srv_ask *right, const char *name) {
    const attn_request *m = &mine->request, *r = &right->request;
    size_t numbers = 0;
    ck_assert_msg(mine->single == right->single && mine->packed == right->packed, "%s", name);
    ck_assert_msg(m->causal == r->causal && m->window == r->window && m->want == r->want, "%s", name);
    ck_assert_msg(m->scale_given == r->scale_given && mine->precision == right->precision, "%s", name);
    ck_assert_msg(json_equal(mine->tokens, right->tokens) || right->tokens == NULL, "%s", name);
    ck_assert_uint_eq(m->head_count, r->head_count);
    for (size_t i = 0; i < r->head_count; i++)
        ck_assert_uint_eq(m->heads[i], r->heads[i]);
    ck_assert_uint_eq(m->sequence_count, r->sequence_count);
    for (size_t i = 0; i < r->sequence_count; i++) {
        ck_assert_uint_eq(m->sequences[i].queries, r->sequences[i].queries);
        compare_masks(&m->sequences[i].mask, &r->sequences[i].mask, r->sequences + i, name);
        numbers += r->sequences[i].queries * r->d_model;
    }
    ck_assert_uint_eq(m->d_model, r->d_model);
    ck_assert_msg(memcmp(m->inputs, r->inputs, numbers * sizeof *r->inputs) == 0, "%s", name);
}

START_TEST(they_say_what_the_json_says) {
    const char *name = bodies[_i].name;
    char json[1024] = "{";
    attn_plan plan;
    srv_problem problem = {0};
    put_inputs(json, bodies[_i].of);
    strcat(json, bodies[_i].more);
    strcat(json, "}");
    srv_ask *right = sample_request(json, strlen(json), "tiny", &plan, &problem);
    ck_assert_msg(right != NULL, "%s: %s", json, problem.detail);
    golden_body body = golden_body_read(name);
    srv_ask *mine =
        sample_request_as(body.type, body.bytes, body.size, bodies[_i].query, "tiny", &plan, &problem);
    ck_assert_msg(mine != NULL, "%s: %s %s", name, problem.where, problem.detail);
    compare(mine, right, name);
    const char *inputs = (const char *)mine->request.inputs;
    const srv_buffer *kept = mine->storage->kept; /* the body */
    ck_assert_msg((inputs > kept->data && inputs < kept->data + kept->size) == bodies[_i].in_place, "%s",
                  name);
    srv_ask_free(mine);
    srv_ask_free(right);
    free(body.bytes);
}
END_TEST

START_TEST(minus_infinity_in_a_bias_masks) {
    attn_plan plan;
    srv_problem problem = {0};
    golden_body body = golden_body_read("bias.safetensors");
    srv_ask *ask = sample_request_as(body.type, body.bytes, body.size, "", "tiny", &plan, &problem);
    ck_assert_msg(ask != NULL, "%s", problem.detail);
    const attn_bias *bias = &ask->request.sequences[1].bias;
    ck_assert(bias->head_stride == 0 && bias->query_stride == 0);
    ck_assert(bias->values[0] == 0 && bias->values[1] == 0 && bias->values[2] == -__builtin_inff());
    srv_ask_free(ask);
    free(body.bytes);
}
END_TEST

/* Cut at each byte and with each bit flipped: an ask or a problem, and of a cut body always the latter; asan
 * watches. */
START_TEST(damaged_bodies_do_no_harm) {
    golden_body body = golden_body_read(bodies[_i].name);
    attn_plan plan;
    for (size_t size = 0; size < body.size; size++) {
        char *cut = malloc(size > 0 ? size : 1);
        memcpy(cut, body.bytes, size);
        srv_problem problem = {0};
        ck_assert_ptr_null(sample_request_as(body.type, cut, size, "", "tiny", &plan, &problem));
        ck_assert_int_eq(problem.id, SRV_BAD_BODY);
        ck_assert_int_eq(problem.where_kind, SRV_WHERE_OFFSET);
        ck_assert_uint_le(strtoul(problem.where, NULL, 10), size);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * body.size; bit++) {
        body.bytes[bit / 8] = (char)(body.bytes[bit / 8] ^ 1 << bit % 8);
        srv_problem problem = {0};
        srv_ask *ask = sample_request_as(body.type, body.bytes, body.size, "", "tiny", &plan, &problem);
        int status = srv_problem_status(&problem);
        ck_assert_msg(ask != NULL || status == 400 || status == 404 || status == 422, "%d %s", status,
                      problem.detail);
        srv_ask_free(ask);
        body.bytes[bit / 8] = (char)(body.bytes[bit / 8] ^ 1 << bit % 8);
    }
    free(body.bytes);
}
END_TEST

/* What whole numbers are held to take is no less than their lists do, however thin these are. */
START_TEST(lists_of_whole_numbers_cost_what_they_take) {
    static const size_t shapes[][4] = {{600, 0},       {1, 600, 0},    {600, 1, 0},
                                       {600, 1, 1, 1}, {1, 1, 1, 600}, {20, 30, 0}};
    static const char zeros[600 * sizeof(int32_t)];
    attn_file_tensor tensor = {.name = "positions", .dtype = ATTN_I32, .count = 600, .end = sizeof zeros};
    srv_problem problem = {0};
    while (tensor.rank < 4 && shapes[_i][tensor.rank] > 0) {
        tensor.shape[tensor.rank] = shapes[_i][tensor.rank];
        tensor.rank++;
    }
    size_t cost = srv_named_cost(&tensor, 1, zeros);
    srv_named named = {.tensors = &tensor, .count = 1, .data = zeros};
    srv_json_memory_begin(cost);
    json_t *root = json_object();
    srv_named_sort(&named, root, &problem);
    ck_assert_msg(srv_json_memory_end(), "%zu bytes are too few", cost);
    ck_assert_int_eq(problem.id, SRV_NO_PROBLEM);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "positions")), shapes[_i][0]);
    srv_named_done(&named);
    json_decref(root);
}
END_TEST

ATTND_SUITE(binary_bodies) {
    enum { BODIES = sizeof bodies / sizeof *bodies };
    Suite *suite = suite_create("binary_bodies");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, they_say_what_the_json_says, 0, BODIES);
    tcase_add_test(cases, minus_infinity_in_a_bias_masks);
    tcase_add_loop_test(cases, damaged_bodies_do_no_harm, 0, BODIES);
    tcase_add_loop_test(cases, lists_of_whole_numbers_cost_what_they_take, 0, 6);
    suite_add_tcase(suite, cases);
    return suite;
}
