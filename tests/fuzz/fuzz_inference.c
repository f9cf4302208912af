/* Requests by the Open Inference Protocol: whatever the body, an answer whose JSON and bytes fit together, or a problem
 * that a client can be told, and the whole budget back.
 *
 * The first line of an input is 't' or 'p' for the model of width 4 or the one of any width, 'm' or '-' for its name with
 * maps or without, and what Inference-Header-Content-Length says: digits, or nothing. The body is the rest. */
#include "fuzz.h"
#include "service.h"

#include <jansson.h>
#include <string.h>

enum { MEMORY = 4 << 20, CHOICES = 2, MOST_DIGITS = 6 };

static service demo;

static void judge_problem(const srv_problem *problem) {
    int status = srv_problem_status(problem);
    FUZZ_PROMISE(status == 400 || status == 404 || status == 413 || status == 422 || status == 501 ||
                 status == 504); /* the body's own `timeout` */
    FUZZ_PROMISE(problem->detail[0] != '\0');
}

static size_t bytes_of(const json_t *output) {
    return (size_t)json_integer_value(
        json_object_get(json_object_get(output, "parameters"), "binary_data_size"));
}

/* The JSON, and as many bytes behind it as it says; each output has its elements in one of the two places. */
static void judge_answer(const service_answer *answer) {
    json_error_t error;
    json_t *root = json_loadb(answer->body, answer->size, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &error);
    FUZZ_PROMISE(root != NULL);
    size_t size = (size_t)error.position, index;
    json_t *output, *outputs = json_object_get(root, "outputs");
    FUZZ_PROMISE(json_array_size(outputs) > 0);
    json_array_foreach(outputs, index, output) {
        size_t count = 1, axis;
        json_t *length;
        json_array_foreach(json_object_get(output, "shape"), axis, length) count *=
            (size_t)json_integer_value(length);
        size_t bytes = bytes_of(output);
        FUZZ_PROMISE(bytes == 0 ? json_array_size(json_object_get(output, "data")) == count
                                : bytes == count * sizeof(float));
        size += bytes;
    }
    FUZZ_PROMISE(answer->size == size);
    json_decref(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    attn_error error = {0};
    if (demo.shared.pool == NULL) FUZZ_PROMISE(service_open(&demo, NULL, MEMORY, &error));
    const char *text = (const char *)data, *line = size > 0 ? memchr(text, '\n', size) : NULL;
    char digits[MOST_DIGITS + 1] = "";
    if (line == NULL || line - text < CHOICES || line - text > CHOICES + MOST_DIGITS) return 0;
    memcpy(digits, text + CHOICES, (size_t)(line - text) - CHOICES);
    if (digits[strspn(digits, "0123456789")] != '\0') return 0;
    const srv_addressed addressed = {.model = text[0] == 'p' ? "plain" : "tiny",
                                     .has_maps = text[1] == 'm',
                                     .width = text[0] == 'p' ? 0 : 4};
    const service_forms forms = {.addressed = &addressed,
                                 .head = digits[0] ? strtoul(digits, NULL, 10) : SIZE_MAX};
    service_answer answer;
    FUZZ_PROMISE(service_ask_in(&demo, &forms, line + 1, size - (size_t)(line + 1 - text), "", 0, &answer));
    if (answer.problem.id != SRV_NO_PROBLEM)
        judge_problem(&answer.problem);
    else
        judge_answer(&answer);
    free(answer.body);
    FUZZ_PROMISE(srv_budget_taken(&demo.budget) == 0);
    return 0;
}
