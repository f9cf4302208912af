/* Requests in NPY and safetensors, packed or not: whatever the body, an answer that its readers can read, or a problem
 * that a client can be told, and the whole budget back.
 *
 * The first line of an input is 'd' or 'c' for the demo models or one that attends to another sequence; 'n' or 's' for
 * the body's format; 'n', 's' or 'j' for the answer's; 'g', 'z' or '-' for gzip, deflate or neither; and the query. The
 * body is the rest. */
#include "fuzz.h"
#include "service.h"

#include "server/codec/npy.h"

#include <string.h>
#include <unistd.h>

enum { MEMORY = 4 << 20, CHOICES = 4 };

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

static const char *type_of(char letter) {
    return letter == 'n' ? "application/x-npy" : letter == 's' ? "application/x-safetensors" : NULL;
}

static void judge_problem(const srv_problem *problem) {
    int status = srv_problem_status(problem);
    FUZZ_PROMISE(status == 400 || status == 404 || status == 413 || status == 422);
    FUZZ_PROMISE(problem->detail[0] != '\0');
}

static void judge_npy(const service_answer *answer) {
    srv_npy header;
    srv_problem problem = {0};
    FUZZ_PROMISE(srv_npy_read_header(answer->body, answer->size, &header, &problem));
    size_t width = strcmp(header.descr, "<f2") == 0 ? 2 : 4;
    FUZZ_PROMISE(answer->size == header.data_at + header.count * width && header.data_at % 64 == 0);
}

static void judge_safetensors(const service_answer *answer) {
    attn_file_header header;
    FUZZ_PROMISE(answer->size > ATTN_HEADER_LENGTH);
    uint64_t size = attn_file_header_length((const unsigned char *)answer->body);
    FUZZ_PROMISE(size % 8 == 0 && size <= answer->size - ATTN_HEADER_LENGTH);
    FUZZ_PROMISE(attn_file_header_parse(answer->body + ATTN_HEADER_LENGTH, size,
                                        answer->size - ATTN_HEADER_LENGTH - size, "answer", &header, NULL,
                                        NULL) == ATTN_OK);
    attn_file_header_done(&header);
}

/* Of a plan the answer is JSON always. */
static void judge_answer(const service_answer *answer, char format) {
    FUZZ_PROMISE(answer->size > 0);
    if (answer->body[0] == '{') return;
    FUZZ_PROMISE(format == 'n' || format == 's');
    if (format == 'n')
        judge_npy(answer);
    else
        judge_safetensors(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (demo.shared.pool == NULL) open_services();
    const char *text = (const char *)data, *line = size > 0 ? memchr(text, '\n', size) : NULL;
    if (line == NULL || line - text < CHOICES) return 0;
    service *to = text[0] == 'c' ? &cross : &demo;
    const service_forms forms = {.takes = type_of(text[1] == 'n' ? 'n' : 's'),
                                 .gives = type_of(text[2]),
                                 .coding = text[3] == 'g'   ? SRV_CODING_GZIP
                                           : text[3] == 'z' ? SRV_CODING_DEFLATE
                                                            : SRV_CODING_IDENTITY};
    size_t query_size = (size_t)(line - text) - CHOICES;
    service_answer answer;
    FUZZ_PROMISE(service_ask_in(to, &forms, line + 1, size - query_size - CHOICES - 1, text + CHOICES,
                                query_size, &answer));
    if (answer.problem.id != SRV_NO_PROBLEM)
        judge_problem(&answer.problem);
    else
        judge_answer(&answer, text[2]);
    free(answer.body);
    FUZZ_PROMISE(srv_budget_taken(&to->budget) == 0);
    return 0;
}
