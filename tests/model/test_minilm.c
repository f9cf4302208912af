/* A real model, served from its file by the real daemon: the embeddings of a sentence through layer 0 of
 * all-MiniLM-L6-v2 over HTTP, against what transformers' own attention made of them, and all its layers
 * answer. ATTND_MINILM names the folder that tests/golden/minilm.py has filled. */
#include "compare.h"
#include "daemon.h"
#include "http.h"
#include "suites.h"
#include "vector.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 6, HEADS = 12 };
static const double tolerance = 1e-5;

static test_daemon served;

static void start(void) {
    const char *folder = getenv("ATTND_MINILM");
    ck_assert_msg(folder != NULL, "ATTND_MINILM is not set; `make test-model` sets it");
    char model[4096];
    snprintf(model, sizeof model, "minilm=%s", folder);
    const char *const arguments[] = {"--model", model, NULL};
    daemon_start(&served, arguments, NULL);
}

static void stop(void) {
    daemon_stop(&served);
}

/* The request for one layer, as text; the caller frees it. */
static char *request(const vector_tensor *inputs, int layer) {
    json_t *rows = json_array();
    for (size_t i = 0; i < inputs->shape[0]; i++) {
        json_t *row = json_array();
        for (size_t c = 0; c < inputs->shape[1]; c++)
            json_array_append_new(row, json_real(inputs->doubles[i * inputs->shape[1] + c]));
        json_array_append_new(rows, row);
    }
    json_t *body = json_pack("{s:s, s:i, s:o}", "model", "minilm", "layer", layer, "inputs", rows);
    char *text = json_dumps(body, JSON_COMPACT);
    ck_assert_ptr_nonnull(text);
    json_decref(body);
    return text;
}

static json_t *ask(const vector_tensor *inputs, int layer) {
    char *text = request(inputs, layer);
    http_answer answer = http_post(served.url, "/v1/attention", text);
    ck_assert_msg(answer.status == 200, "layer %d: %ld %s", layer, answer.status, answer.body);
    json_t *document = http_json(&answer);
    http_done(&answer);
    free(text);
    return document;
}

/* Appends the numbers of nested arrays in order. */
static void flatten(const json_t *value, double *out, size_t limit, size_t *count) {
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++)
            flatten(json_array_get(value, i), out, limit, count);
        return;
    }
    ck_assert(json_is_number(value));
    ck_assert_uint_lt(*count, limit);
    out[(*count)++] = json_number_value(value);
}

static void check_tensor(const json_t *document, const char *field, const vector_tensor *want) {
    double *got = malloc(want->count * sizeof *got);
    ck_assert_ptr_nonnull(got);
    size_t count = 0;
    flatten(json_object_get(document, field), got, want->count, &count);
    ck_assert_uint_eq(count, want->count);
    char text[COMPARE_TEXT_SIZE];
    bool agrees = compare_doubles(field, got, want->doubles, count, tolerance, text);
    ck_assert_msg(agrees, "%s", text);
    free(got);
}

START_TEST(layer_0_agrees_with_transformers) {
    vector *file = vector_read(MINILM_VECTOR);
    json_t *document = ask(vector_get(file, "golden.inputs"), 0);
    check_tensor(document, "attention", vector_get(file, "golden.weights.0"));
    check_tensor(document, "outputs", vector_get(file, "golden.output.0"));
    json_decref(document);
    vector_free(file);
}
END_TEST

START_TEST(every_layer_answers_from_its_own_weights) {
    vector *file = vector_read(MINILM_VECTOR);
    const vector_tensor *inputs = vector_get(file, "golden.inputs");
    json_t *first = ask(inputs, 0);
    for (int layer = 1; layer < LAYERS; layer++) {
        json_t *document = ask(inputs, layer);
        ck_assert_uint_eq(json_array_size(json_object_get(document, "attention")), HEADS);
        ck_assert_uint_eq(json_array_size(json_object_get(document, "outputs")), inputs->shape[0]);
        ck_assert(!json_equal(json_object_get(first, "outputs"), json_object_get(document, "outputs")));
        json_decref(document);
    }
    char *text = request(inputs, LAYERS);
    http_answer answer = http_post(served.url, "/v1/attention", text);
    ck_assert_int_eq(answer.status, 404);
    http_done(&answer);
    free(text);
    json_decref(first);
    vector_free(file);
}
END_TEST

ATTND_SUITE(minilm) {
    Suite *suite = suite_create("minilm");
    TCase *cases = tcase_create("served from its file");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, layer_0_agrees_with_transformers);
    tcase_add_test(cases, every_layer_answers_from_its_own_weights);
    suite_add_tcase(suite, cases);
    return suite;
}
