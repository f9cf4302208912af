/* Every allocation in turn is made to fail, while a model or a file of keys is loaded and while a request is
 * answered: no wrong answer comes of it, nothing is left over, and the next request is answered. And a forward pass
 * makes none at all once there is memory of one before.
 *
 * The linker leads the calls of this program's own objects here (--wrap); those inside libraries are not seen.
 * Jansson's are spared: 2.14 asserts that a token's buffer has grown, so a failure there ends the process. */
#include "server/auth/keys.h"
#include "suites.h"
#include "tests/support/golden_body.h"
#include "tests/support/packed.h"
#include "tests/support/service.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY = 4 << 20, MOST_ALLOCATIONS = 5000 };

/* Allocations until the one that fails; negative: none does. */
static atomic_long left = -1;
static atomic_long calls;

static bool fails(void) {
    atomic_fetch_add(&calls, 1);
    return atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;
}

#define WRAP(type, name, parameters, arguments)                                                              \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters {                                                                          \
        return fails() ? NULL : __real_##name arguments;                                                     \
    }
WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t size), (text, size))

START_TEST(loading) {
    char path[MEMORY_FILE_PATH];
    int file = memory_file(path);
    service_write_cross(path);
    bool opened = false;
    for (long at = 0; !opened && at < MOST_ALLOCATIONS; at++) {
        service one;
        attn_error error = {0};
        atomic_store(&left, at);
        opened = service_open(&one, path, MEMORY, &error);
        bool reached = atomic_exchange(&left, -1) < 0;
        bool done = opened && !reached;
        if (opened) {
            service_close(&one);
        } else {
            ck_assert_msg(error.code == ATTN_NO_MEMORY, "allocation %ld: %s", at, error.text);
        }
        opened = done; /* what nothing hangs on, such as the place for digests, may fail unseen */
    }
    ck_assert(opened);
    close(file);
}
END_TEST

/* A sound file of keys and one with faults: loaded whole, or not at all and told, as far as there is memory to tell. */
START_TEST(loading_keys) {
    static const char *const files[] = {
        "{\"keys\":[{\"name\":\"a\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","
        "\"rights\":[\"read\"],\"rate\":1}]}",
        "{\"keys\":[{\"name\":\"a b\",\"sha256\":\"x\",\"rights\":[]}]}"};
    char path[MEMORY_FILE_PATH];
    int file = memory_file(path);
    ck_assert_int_eq(write(file, files[_i], strlen(files[_i])), (ssize_t)strlen(files[_i]));
    bool passed = false;
    for (long at = 0; !passed && at < MOST_ALLOCATIONS; at++) {
        srv_text problems = {0};
        atomic_store(&left, at);
        srv_keys *keys = srv_keys_load(path, &problems);
        passed = atomic_exchange(&left, -1) >= 0;
        ck_assert(_i == 0 || keys == NULL);
        ck_assert((keys != NULL) != (problems.size > 0 || problems.failed));
        ck_assert(!passed || (keys != NULL) == (_i == 0));
        srv_keys_free(keys);
        srv_text_done(&problems);
    }
    ck_assert(passed);
    close(file);
}
END_TEST

static const char *const requests[][2] = {
    {"{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"context\":[[1,2,3],[4,5,6]],\"values\":[[1,2],[3,4]],\"causal\":"
     "true,"
     "\"attention_mask\":[[1,0],[1,1]],\"bias\":[[0.5,1],[2,3]],\"tokens\":[\"a\",\"b\"],"
     "\"return\":{\"scores\":true,\"heads\":[1],\"queries\":[0]}}",
     ""},
    {"{\"model\":\"file\",\"layer\":0,\"inputs\":[[[1,0,0,0]]],\"context\":{\"dtype\":\"f32\",\"shape\":[1,1,"
     "3],"
     "\"data\":\"AACAPwAAgD8AAIA/\"},\"values\":[[[1,2]]],\"key_padding_mask\":[[false]]}",
     "top_k=1&encoding=base64&scale=0.5&average_heads=true"},
    {"{\"inputs\":[[1,0,0]]}", "window=1"},
};

/* The same answer, the same refusal, or that there is no memory. */
static void judge(const service_answer *answer, const service_answer *right, long at) {
    if (answer->problem.id == SRV_MEMORY_TAKEN) return;
    ck_assert_msg(answer->problem.id == right->problem.id, "allocation %ld: %s", at, answer->problem.detail);
    ck_assert_msg(strcmp(answer->problem.detail, right->problem.detail) == 0, "allocation %ld: %s", at,
                  answer->problem.detail);
    ck_assert_uint_eq(answer->size, right->size);
    if (right->size > 0) ck_assert_mem_eq(answer->body, right->body, right->size);
}

/* Each allocation of one request in turn; after each the request is answered as ever. */
static void torture(service *one, const service_forms *forms, const char *body, size_t size,
                    const char *query) {
    service_answer right, answer;
    ck_assert(service_ask_in(one, forms, body, size, query, strlen(query), &right));
    json_set_alloc_funcs(__real_malloc, free);
    bool passed = false;
    for (long at = 0; !passed && at < MOST_ALLOCATIONS; at++) {
        atomic_store(&left, at);
        bool started = service_ask_in(one, forms, body, size, query, strlen(query), &answer);
        passed = atomic_exchange(&left, -1) >= 0;
        if (started) {
            judge(&answer, &right, at);
            free(answer.body);
        }
        ck_assert_uint_eq(srv_budget_taken(&one->budget), 0);
        ck_assert(service_ask_in(one, forms, body, size, query, strlen(query), &answer));
        ck_assert_msg(answer.problem.id == right.problem.id, "after %ld: %s", at, answer.problem.detail);
        free(answer.body);
    }
    ck_assert(passed);
    free(right.body);
}

START_TEST(answering) {
    char path[MEMORY_FILE_PATH];
    int file = memory_file(path);
    service_write_cross(path);
    service one;
    attn_error error = {0};
    ck_assert(service_open(&one, path, MEMORY, &error));
    const char *body = requests[_i][0];
    torture(&one, &(service_forms){0}, body, strlen(body), requests[_i][1]);
    service_close(&one);
    close(file);
}
END_TEST

static const struct {
    const char *name, *query, *gives;
    srv_coding coding;
} bytes[] = {
    {"f4.npy", "tensor=attention", "application/x-npy", SRV_CODING_IDENTITY},
    {"fortran_big_f8.npy", "dtype=f16", "application/x-safetensors", SRV_CODING_GZIP},
    {"ragged.safetensors", "top_k=1&scores=1", "application/x-safetensors", SRV_CODING_DEFLATE},
    {"options.safetensors", "projections=1", "application/x-safetensors", SRV_CODING_IDENTITY},
    {"packed.safetensors", "outputs=0", "application/x-npy", SRV_CODING_IDENTITY}, /* a conflict */
};

START_TEST(answering_in_bytes) {
    service one;
    attn_error error = {0};
    ck_assert(service_open(&one, NULL, MEMORY, &error));
    golden_body body = golden_body_read(bytes[_i].name);
    const service_forms forms = {.takes = body.type, .gives = bytes[_i].gives, .coding = bytes[_i].coding};
    bool is_packed = forms.coding != SRV_CODING_IDENTITY;
    size_t size = body.size;
    char *sent =
        is_packed ? packed(forms.coding == SRV_CODING_GZIP ? "gzip" : "deflate", body.bytes, body.size, &size)
                  : NULL;
    torture(&one, &forms, is_packed ? sent : body.bytes, size, bytes[_i].query);
    free(sent);
    free(body.bytes);
    service_close(&one);
}
END_TEST

static const struct {
    const char *json;
    size_t size; /* of the bytes behind it */
} inferences[] = {
    {"{\"id\":\"x\",\"inputs\":[{\"name\":\"inputs\",\"shape\":[1,2,4],\"datatype\":\"FP32\",\"data\":[1,0,0,"
     "0,0,1,0,0]}],"
     "\"parameters\":{\"causal\":true,\"timeout\":60000000}}",
     0},
    {"{\"inputs\":[{\"name\":\"attention_mask\",\"shape\":[1,1],\"datatype\":\"INT16\",\"parameters\":{"
     "\"binary_data_size\":2}},"
     "{\"name\":\"inputs\",\"shape\":[1,1,4],\"datatype\":\"FP16\",\"parameters\":{\"binary_data_size\":8}}],"
     "\"outputs\":[{\"name\":\"attention\",\"parameters\":{\"binary_data\":true}},{\"name\":\"outputs\"}]}",
     10},
    {"{\"inputs\":[{\"name\":\"inputs\",\"shape\":[1,1,4],\"datatype\":\"FP32\",\"data\":[[[1,0]]]}]}", 0},
};

START_TEST(answering_inferences) {
    service one;
    attn_error error = {0};
    ck_assert(service_open(&one, NULL, MEMORY, &error));
    size_t text = strlen(inferences[_i].json), size = text + inferences[_i].size;
    char *body = calloc(1, size + 1);
    memcpy(body, inferences[_i].json, text);
    if (inferences[_i].size > 0) body[text] = 1;
    const srv_addressed addressed = {.model = "tiny", .has_maps = true, .width = 4};
    const service_forms forms = {.addressed = &addressed, .head = inferences[_i].size > 0 ? text : SIZE_MAX};
    torture(&one, &forms, body, size, "");
    free(body);
    service_close(&one);
}
END_TEST

/* Two heads of width 4; long requests and short ones, with and without maps, with masked keys, over many keys. */
typedef struct pass {
    size_t length, keys;
    unsigned want;
    bool causal;
} pass;

static const pass passes[] = {
    {700, 1400, ATTN_WANT_OUTPUTS, false},
    {700, 700, ATTN_WANT_OUTPUTS, true},
    {300, 300, ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS, true},
    {3, 3, ATTN_WANT_OUTPUTS, false},
    {3, 1400, ATTN_WANT_OUTPUTS, false},
    {3, 3, ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS | ATTN_WANT_SCORES | ATTN_WANT_PROJECTIONS, true},
};
enum { PASSES = sizeof passes / sizeof passes[0], WIDTH = 8, LONGEST = 1400 };

/* Nothing is checked inside: the test library allocates too. */
static bool run_pass(const pass *p, const attn_layer *layer, const float *inputs, attn_pool *pool) {
    const attn_sequence sequence = {.queries = p->length, .keys = p->keys};
    const attn_request request = {.layer = layer,
                                  .sequences = &sequence,
                                  .sequence_count = 1,
                                  .inputs = inputs,
                                  .context = inputs,
                                  .d_model = WIDTH,
                                  .d_key = WIDTH,
                                  .causal = p->causal ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_OFF,
                                  .want = p->want};
    attn_plan plan;
    attn_run *run = NULL;
    bool fine = attn_plan_make(&request, attn_pool_workers(pool), &plan, NULL) == ATTN_OK &&
                attn_run_new(&plan, &run, NULL) == ATTN_OK && attn_run_wait(run, pool) == ATTN_OK;
    attn_run_free(run);
    return fine;
}

START_TEST(a_forward_pass_allocates_nothing_after_the_first) {
    static float weights[WIDTH * WIDTH], inputs[LONGEST * WIDTH];
    for (size_t i = 0; i < LONGEST * WIDTH; i++)
        inputs[i] = weights[i % (WIDTH * WIDTH)] = (float)(i % 7) / 8;
    const attn_layer layer = {.d_model = WIDTH,
                              .d_key = WIDTH,
                              .d_value = WIDTH,
                              .d_out = WIDTH,
                              .heads = 2,
                              .kv_heads = 2,
                              .head_dim = 4,
                              .value_dim = 4,
                              .scale = 1,
                              .wq = weights,
                              .wk = weights,
                              .wv = weights,
                              .wo = weights};
    attn_blas_single_threaded();
    attn_workspaces_keep(SIZE_MAX, 0);
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    for (size_t i = 0; i < PASSES; i++)
        ck_assert(run_pass(&passes[i], &layer, inputs, pool));
    long before = atomic_load(&calls);
    bool fine = true;
    for (size_t i = 0; i < 3 * PASSES; i++)
        fine = run_pass(&passes[i % PASSES], &layer, inputs, pool) && fine;
    long made = atomic_load(&calls) - before;
    ck_assert(fine);
    ck_assert_int_eq(made, 0);
    attn_pool_free(pool);
    attn_workspaces_keep(0, 0);
}
END_TEST

ATTND_SUITE(allocations) {
    Suite *suite = suite_create("allocations");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, loading);
    tcase_add_loop_test(cases, loading_keys, 0, 2);
    tcase_add_loop_test(cases, answering, 0, sizeof requests / sizeof *requests);
    tcase_add_loop_test(cases, answering_in_bytes, 0, sizeof bytes / sizeof *bytes);
    tcase_add_loop_test(cases, answering_inferences, 0, (int)(sizeof inferences / sizeof *inferences));
    tcase_add_test(cases, a_forward_pass_allocates_nothing_after_the_first);
    suite_add_tcase(suite, cases);
    return suite;
}
