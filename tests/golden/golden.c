/* Turns a vector's tensors and options into a request; tests/golden/generate.py tells the format. */
#include "golden.h"

#include "compare.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stage_names[GOLDEN_STAGES] = {"q", "k", "v", "scores", "weights", "output"};

static int is_vector(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".safetensors") == 0;
}

/* The vectors' names, sorted; the caller frees them. Called before any test runs, so no check of the
 * framework's. */
static size_t list(struct dirent ***names) {
    int count = scandir(GOLDEN_VECTORS, names, is_vector, alphasort);
    if (count <= 0) {
        fprintf(stderr, "no vectors in %s\n", GOLDEN_VECTORS);
        abort();
    }
    return (size_t)count;
}

static void list_free(struct dirent **names, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

size_t golden_count(void) {
    struct dirent **names;
    size_t count = list(&names);
    list_free(names, count);
    return count;
}

static const char *option(const golden_case *golden, const char *key) {
    const char *text = vector_option(golden->file, key);
    ck_assert_msg(text != NULL, "%s has no %s", golden->name, key);
    return text;
}

static size_t option_number(const golden_case *golden, const char *key) {
    return strtoull(option(golden, key), NULL, 10);
}

static size_t count_words(const char *text) {
    size_t count = 1;
    for (; *text != '\0'; text++)
        count += *text == ' ';
    return count;
}

static attn_causal causal_of(const char *text) {
    if (strcmp(text, "square") == 0) return ATTN_CAUSAL_SQUARE;
    if (strcmp(text, "top_left") == 0) return ATTN_CAUSAL_TOP_LEFT;
    if (strcmp(text, "bottom_right") == 0) return ATTN_CAUSAL_BOTTOM_RIGHT;
    ck_assert_str_eq(text, "off");
    return ATTN_CAUSAL_OFF;
}

static void load_masks(const golden_case *golden, size_t n, attn_sequence *sequence) {
    const vector_tensor *padding = vector_find(golden->file, "golden.padding.%zu", n);
    const vector_tensor *mask = vector_find(golden->file, "golden.mask.%zu", n);
    const vector_tensor *bias = vector_find(golden->file, "golden.bias.%zu", n);
    if (padding != NULL) sequence->padding = padding->bytes;
    if (mask != NULL) {
        sequence->mask.allow = mask->bytes;
        sequence->mask.head_stride = mask->shape[0] > 1 ? mask->shape[1] * mask->shape[2] : 0;
        sequence->mask.query_stride = mask->shape[1] > 1 ? mask->shape[2] : 0;
    }
    if (bias != NULL) {
        sequence->bias.values = bias->floats;
        sequence->bias.head_stride = bias->shape[0] > 1 ? bias->shape[1] * bias->shape[2] : 0;
        sequence->bias.query_stride = bias->shape[1] > 1 ? bias->shape[2] : 0;
    }
}

static void load_sequences(golden_case *golden) {
    const char *lengths = option(golden, "golden.lengths");
    const char *contexts = vector_option(golden->file, "golden.context_lengths");
    size_t count = count_words(lengths);
    golden->sequences = calloc(count, sizeof *golden->sequences);
    ck_assert_ptr_nonnull(golden->sequences);
    char *query_text = (char *)lengths, *key_text = (char *)(contexts != NULL ? contexts : lengths);
    for (size_t n = 0; n < count; n++) {
        attn_sequence *sequence = &golden->sequences[n];
        sequence->queries = strtoull(query_text, &query_text, 10);
        sequence->keys = strtoull(key_text, &key_text, 10);
        load_masks(golden, n, sequence);
    }
    golden->request.sequences = golden->sequences;
    golden->request.sequence_count = count;
}

static void load_request(golden_case *golden) {
    attn_request *request = &golden->request;
    const vector_tensor *inputs = vector_get(golden->file, "golden.inputs");
    const vector_tensor *context = vector_find(golden->file, "golden.context");
    const vector_tensor *values = vector_find(golden->file, "golden.values");
    request->layer = golden->layer;
    request->inputs = inputs->floats;
    request->d_model = inputs->shape[1];
    if (context != NULL) {
        request->context = context->floats;
        request->d_key = context->shape[1];
    }
    if (values != NULL) {
        request->values = values->floats;
        request->d_value = values->shape[1];
    }
    request->causal = causal_of(option(golden, "golden.causal"));
    request->window_given = true;
    request->window = option_number(golden, "golden.window");
    const char *scale = vector_option(golden->file, "golden.scale");
    request->scale_given = scale != NULL;
    request->scale = scale != NULL ? strtof(scale, NULL) : 0;
    request->want = ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS | ATTN_WANT_SCORES | ATTN_WANT_PROJECTIONS;
    load_sequences(golden);
}

static void load_model(golden_case *golden, const char *path) {
    attn_error error = {0};
    attn_code code;
    if (vector_option(golden->file, "num_heads") == NULL)
        code = attn_model_parameter_free("plain", &golden->model, &error);
    else
        code = attn_model_load(&(attn_model_source){.name = "golden", .path = path}, &golden->model, &error);
    ck_assert_msg(code == ATTN_OK, "%s: %s: %s", golden->name, error.where, error.text);
    golden->layer = attn_model_layer(golden->model, option_number(golden, "golden.layer"));
    ck_assert_msg(golden->layer != NULL, "%s has too few layers", golden->name);
}

golden_case *golden_load(size_t index) {
    golden_case *golden = calloc(1, sizeof *golden);
    ck_assert_ptr_nonnull(golden);
    struct dirent **names;
    size_t count = list(&names);
    ck_assert_uint_lt(index, count);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", GOLDEN_VECTORS, names[index]->d_name);
    snprintf(golden->name, sizeof golden->name, "%.*s", (int)strcspn(names[index]->d_name, "."),
             names[index]->d_name);
    list_free(names, count);
    golden->file = vector_read(path);
    load_model(golden, path);
    load_request(golden);
    golden->rows_without_keys = option_number(golden, "golden.rows_without_keys");
    return golden;
}

void golden_free(golden_case *golden) {
    if (golden == NULL) return;
    attn_model_free(golden->model);
    vector_free(golden->file);
    free(golden->sequences);
    free(golden);
}

/* Appends a view's numbers, dense. */
static void append(golden_answer *answer, const attn_view *view) {
    size_t width = view->shape[view->rank - 1], rows = attn_view_count(view) / width;
    answer->values = realloc(answer->values, (answer->count + rows * width) * sizeof *answer->values);
    ck_assert_ptr_nonnull(answer->values);
    for (size_t row = 0; row < rows; row++) {
        size_t offset = view->rank == 3
                            ? row / view->shape[1] * view->stride[0] + row % view->shape[1] * view->stride[1]
                            : row * view->stride[0];
        memcpy(answer->values + answer->count, view->data + offset, width * sizeof *answer->values);
        answer->count += width;
    }
}

golden_answer golden_run(const golden_case *golden, const attn_layer *layer, size_t workers) {
    static const attn_result results[GOLDEN_STAGES] = {ATTN_Q,      ATTN_K,    ATTN_V,
                                                       ATTN_SCORES, ATTN_MAPS, ATTN_OUTPUTS};
    attn_request request = golden->request;
    request.layer = layer;
    attn_error error = {0};
    attn_plan plan;
    attn_run *run = NULL;
    attn_pool *pool = NULL;
    attn_code code = attn_plan_make(&request, workers, &plan, &error);
    if (code == ATTN_OK) code = attn_run_new(&plan, &run, &error);
    if (code == ATTN_OK) code = attn_pool_new(workers, &pool, &error);
    ck_assert_msg(code == ATTN_OK, "%s: %s: %s", golden->name, error.where, error.text);
    code = attn_run_wait(run, pool);
    ck_assert_msg(code == ATTN_OK, "%s: the run ends with %s", golden->name, attn_code_name(code));

    size_t parts = request.sequence_count * GOLDEN_STAGES;
    golden_answer answer = {.at = calloc(parts + 1, sizeof *answer.at)};
    ck_assert_ptr_nonnull(answer.at);
    for (size_t part = 0; part < parts; part++) {
        attn_view view = attn_run_view(run, results[part % GOLDEN_STAGES], part / GOLDEN_STAGES);
        append(&answer, &view);
        answer.at[part + 1] = answer.count;
    }
    answer.rows_without_keys = attn_run_rows_without_keys(run);
    attn_run_free(run);
    attn_pool_free(pool);
    return answer;
}

void golden_answer_done(golden_answer *answer) {
    free(answer->values);
    free(answer->at);
}

bool golden_agrees(const golden_case *golden, const golden_answer *answer, unsigned stages, char *text) {
    for (size_t part = 0; part < golden->request.sequence_count * GOLDEN_STAGES; part++) {
        size_t n = part / GOLDEN_STAGES, stage = part % GOLDEN_STAGES;
        if ((stages & 1U << stage) == 0) continue;
        const vector_tensor *want = vector_get(golden->file, "golden.%s.%zu", stage_names[stage], n);
        char name[64];
        snprintf(name, sizeof name, "sequence %zu, %s", n, stage_names[stage]);
        size_t from = answer->at[part], count = answer->at[part + 1] - from;
        ck_assert_msg(count == want->count, "%s, %s: %zu numbers, want %zu", golden->name, name, count,
                      want->count);
        if (!compare_floats(name, answer->values + from, want->doubles, count, GOLDEN_TOLERANCE, text))
            return false;
    }
    return true;
}

/* out [heads × positions × width] = rows [positions × heads·width]. */
static double *by_head(const double *rows, size_t heads, size_t positions, size_t width) {
    double *out = malloc((heads * positions * width + 1) * sizeof *out);
    ck_assert_ptr_nonnull(out);
    for (size_t h = 0; h < heads; h++)
        for (size_t p = 0; p < positions; p++)
            memcpy(out + (h * positions + p) * width, rows + (p * heads + h) * width, width * sizeof *out);
    return out;
}

static bool reference_sequence_agrees(const golden_case *golden, const attn_reference *reference, size_t n,
                                      double tolerance, char *text) {
    const vector_tensor *q = vector_get(golden->file, "golden.q.%zu", n);
    const vector_tensor *k = vector_get(golden->file, "golden.k.%zu", n);
    const vector_tensor *v = vector_get(golden->file, "golden.v.%zu", n);
    double *projections[3] = {by_head(reference->q, q->shape[0], q->shape[1], q->shape[2]),
                              by_head(reference->k, k->shape[0], k->shape[1], k->shape[2]),
                              by_head(reference->v, v->shape[0], v->shape[1], v->shape[2])};
    const double *got[GOLDEN_STAGES] = {projections[0],    projections[1],     projections[2],
                                        reference->scores, reference->weights, reference->outputs};
    bool agrees = true;
    for (size_t stage = 0; stage < GOLDEN_STAGES && agrees; stage++) {
        const vector_tensor *want = vector_get(golden->file, "golden.%s.%zu", stage_names[stage], n);
        char name[64];
        snprintf(name, sizeof name, "sequence %zu, %s", n, stage_names[stage]);
        agrees = compare_doubles(name, got[stage], want->doubles, want->count,
                                 want->is_f64 ? tolerance : 1e-6, text);
    }
    for (size_t i = 0; i < 3; i++)
        free(projections[i]);
    return agrees;
}

bool golden_reference_agrees(const golden_case *golden, double tolerance, char *text) {
    attn_error error = {0};
    attn_plan plan;
    attn_code code = attn_plan_make(&golden->request, 1, &plan, &error);
    ck_assert_msg(code == ATTN_OK, "%s: %s: %s", golden->name, error.where, error.text);
    size_t empty = 0;
    bool agrees = true;
    for (size_t n = 0; n < golden->request.sequence_count && agrees; n++) {
        attn_reference reference = {0};
        code = attn_reference_compute(&plan, n, &reference, &error);
        ck_assert_msg(code == ATTN_OK, "%s: %s", golden->name, error.text);
        agrees = reference_sequence_agrees(golden, &reference, n, tolerance, text);
        empty += reference.rows_without_keys;
        attn_reference_done(&reference);
    }
    if (agrees)
        ck_assert_msg(empty == golden->rows_without_keys, "%s: %zu rows without keys, want %zu", golden->name,
                      empty, golden->rows_without_keys);
    return agrees;
}
