/* What the scanner has left (json_text.h), and Jansson's errors as ours. */
#include "json_text.h"

#include "json_memory.h"
#include "server/jobs/cost.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What stands behind the JSON of the other contract may be a tensor's bytes, whose first one is anything. */
static const char *advice_on_bytes(const srv_scan *scan) {
    return scan->contract == SRV_CONTRACT_INFERENCE ? "; JSON with bytes behind it needs the header "
                                                      "Inference-Header-Content-Length, which says how long "
                                                      "the JSON is"
                                                    : "";
}

static bool fail_nul(const srv_scan *scan, srv_problem *problem) {
    char offset[24];
    snprintf(offset, sizeof offset, "%zu", scan->nul);
    return srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset,
                           "not JSON: a NUL character outside strings%s", advice_on_bytes(scan));
}

/* Whether what Jansson cannot read is a NaN or an infinity, as many programs write them; `next` is the byte behind. */
static bool is_not_finite(const char *error, char next) {
    static const char *const words[] = {"nan'", "inf'", "infinity'"};
    const char *near = strstr(error, "near '");
    if (near == NULL) return false;
    near += strlen("near '");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(near, words[i], strlen(words[i])) == 0) return true;
    return strcmp(near, "-'") == 0 && next != '\0' && strchr("IiNn", next) != NULL;
}

const char *srv_json_advice(const char *error, char next) {
    if (is_not_finite(error, next))
        return "; JSON has neither NaN nor Infinity: attention_mask masks keys, and so "
               "does -Infinity in a bias sent as base64";
    if (strstr(error, "byte 0x93") != NULL)
        return "; an NPY array, which begins with this byte, is sent with Content-Type: application/x-npy";
    if (strstr(error, "near '\x1f") != NULL && (unsigned char)next == 0x8b)
        return "; gzip, which begins with these bytes, is sent with Content-Encoding: gzip";
    return "";
}

/* In Jansson's words, and what to do about it. */
static bool fail_syntax(const srv_scan *scan, const json_error_t *error, size_t position, const char *offset,
                        srv_problem *problem) {
    enum json_error_code code = json_error_code(error);
    char next = position < scan->text.size ? (char)scan->text.data[position] : '\0';
    const char *advice = srv_json_advice(error->text, next);
    bool is_behind = code == json_error_end_of_input_expected || code == json_error_invalid_utf8;
    if (*advice == '\0' && is_behind && position > 0) advice = advice_on_bytes(scan);
    return srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset, "not JSON: %s%s", error->text,
                           advice);
}

/* Jansson's error as ours: by its code where its text would not help, else its text. */
static bool fail_text(const srv_scan *scan, const json_error_t *error, srv_problem *problem) {
    char offset[24];
    size_t position = error->position < 0 ? 0 : (size_t)error->position;
    if (scan->nul != SIZE_MAX && position >= scan->text.size) return fail_nul(scan, problem);
    /* A byte that is no UTF-8 is not read; anything else is told behind its end. */
    bool is_next = json_error_code(error) == json_error_invalid_utf8;
    snprintf(offset, sizeof offset, "%zu", srv_scan_offset(scan, position, is_next));
    switch (json_error_code(error)) {
    case json_error_stack_overflow:
        return srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset,
                               "nesting is deeper than the format has; tensors have at most rank 4");
    case json_error_numeric_overflow:
        return srv_problem_set(problem, SRV_OUT_OF_RANGE, SRV_WHERE_OFFSET, offset,
                               "number beyond double; float32 holds magnitudes up to 3.4028235e38");
    default: return fail_syntax(scan, error, position, offset, problem);
    }
}

/* What Jansson has not been given yet. */
typedef struct rest {
    const char *at;
    size_t size;
    const attn_job *job;
} rest;

static bool is_unwanted(const attn_job *job) {
    return job != NULL && attn_job_is_cancelled(job);
}

/* The next piece, or the end, which comes early where nobody waits for it any more. */
static size_t give_piece(void *to, size_t room, void *context) {
    rest *left = context;
    size_t size = left->size < room ? left->size : room;
    if (size == 0 || is_unwanted(left->job)) return 0;
    memcpy(to, left->at, size);
    left->at += size;
    left->size -= size;
    return size;
}

/* `memory`: what the text may become, which is held for it. */
static json_t *read_tree(const srv_scan *scan, const attn_job *job, size_t memory, srv_problem *problem) {
    json_error_t error = {0};
    rest left = {scan->text.data, scan->text.size, job};
    srv_json_memory_begin(memory);
    /* Integers as doubles: one may lie beyond 64 bits. */
    json_t *root = json_load_callback(
        give_piece, &left,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
    /* After a failed allocation neither the tree nor the error is to be trusted. */
    if (!srv_json_memory_end()) {
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                        "no memory for the %zu bytes of JSON at this moment", scan->text.size);
        json_decref(root);
        return NULL;
    }
    if (is_unwanted(job)) {
        json_decref(root);
        return NULL;
    }
    if (root == NULL) {
        fail_text(scan, &error, problem);
    } else if (scan->nul != SIZE_MAX) {
        fail_nul(scan, problem);
        json_decref(root);
        root = NULL;
    }
    return root;
}

json_t *srv_json_read_text(srv_scan *scan, const attn_job *job, size_t *tree, srv_problem *problem) {
    *tree = 0;
    if (scan->before == 0) {
        srv_problem_set(problem, SRV_BAD_JSON, SRV_WHERE_OFFSET, "0",
                        "the body is empty; a JSON object is expected");
        return NULL;
    }
    if (!srv_scan_end(scan, problem)) return NULL;
    size_t memory = srv_cost_of_tree(scan->text.data, scan->text.size);
    if (!srv_share_take(scan->share, memory, problem)) return NULL;
    json_t *root = read_tree(scan, job, memory, problem);
    if (root == NULL) return NULL;
    srv_buffer_done(&scan->text, scan->share);
    *tree = memory;
    return root;
}
