/* Requests: whatever body and query, an answer in JSON within the memory held for it, or a problem that a
 * client can be told, and the whole budget back.
 *
 * The first line of an input is 'd' or 'c' for the demo models or one that attends to another sequence, and
 * the query; the body is the rest. */
#include "fuzz.h"
#include "service.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY = 4 << 20 };

static service demo, cross;

static void open_services(void) {
    char path[MEMORY_FILE_PATH];
    attn_error error = {0};
    int file = memory_file(path);
    service_write_cross(path);
    FUZZ_PROMISE(service_open(&demo, NULL, MEMORY, &error));
    FUZZ_PROMISE(service_open(&cross, path, MEMORY, &error));
    close(file);
}

static void judge_problem(const srv_problem *problem) {
    size_t size = 0;
    int status = srv_problem_status(problem);
    FUZZ_PROMISE(status == 400 || status == 404 || status == 413 || status == 422 ||
                 status == 504); /* the body's own timeout_ms */
    FUZZ_PROMISE(problem->detail[0] != '\0');
    char *document = srv_problem_document(problem, "id", false, &size);
    FUZZ_PROMISE(document != NULL);
    json_t *read = json_loadb(document, size, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_PROMISE(json_is_object(read));
    json_decref(read);
    free(document);
}

/* Members appear once, `model` first; numbers are JSON's. */
static void judge_answer(const service_answer *answer) {
    static const char begin[] = "{\"model\":\"";
    FUZZ_PROMISE(answer->size > sizeof begin && memcmp(answer->body, begin, sizeof begin - 1) == 0);
    json_t *read = json_loadb(answer->body, answer->size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    FUZZ_PROMISE(json_is_object(read) && json_is_object(json_object_get(read, "shape")));
    json_decref(read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (demo.shared.pool == NULL) open_services();
    const char *text = (const char *)data, *line = size > 0 ? memchr(text, '\n', size) : NULL;
    if (line == NULL || line == text) return 0;
    service *to = text[0] == 'c' ? &cross : &demo;
    size_t query_size = (size_t)(line - text) - 1;
    service_answer answer;
    FUZZ_PROMISE(service_ask(to, line + 1, size - query_size - 2, text + 1, query_size, &answer));
    if (answer.problem.id != SRV_NO_PROBLEM)
        judge_problem(&answer.problem);
    else
        judge_answer(&answer);
    free(answer.body);
    FUZZ_PROMISE(srv_budget_taken(&to->budget) == 0);
    return 0;
}
