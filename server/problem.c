/* Problems: the table's look-ups, texts made safe to send, and the problem+json document (RFC 9457).
 *
 * Client text may reach `where` and `detail`, so both are made valid UTF-8 on one line here, and nowhere else.
 * No state: any thread, each with its own problem. */
#include "problem.h"

#include "codec/text.h"
#include "codec/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int status;
    const char *code;
} problems[] = {
#define X(id, status, code) {status, code},
    SRV_PROBLEMS(X)
#undef X
};

int srv_problem_status(const srv_problem *problem) {
    return problems[problem->id].status;
}

const char *srv_problem_code(const srv_problem *problem) {
    return problems[problem->id].code;
}

void srv_problem_clear(srv_problem *problem) {
    *problem = (srv_problem){0};
}

bool srv_problem_set(srv_problem *problem, srv_problem_id id, srv_where_kind kind, const char *where,
                     const char *format, ...) {
    if (problem->id != SRV_NO_PROBLEM) return false;
    /* Cleaning at most halves a text, so what is cut off here would not have fitted either. */
    char raw[2 * sizeof problem->detail];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(raw, sizeof raw, format, arguments) < 0) raw[0] = '\0';
    va_end(arguments);
    problem->id = id;
    problem->where_kind = where == NULL ? SRV_WHERE_NONE : kind;
    srv_utf8_clean(problem->where, sizeof problem->where, where == NULL ? "" : where);
    srv_utf8_clean(problem->detail, sizeof problem->detail, raw);
    problem->retry_after = problems[id].status == 503 ? 1 : 0;
    problem->allow = NULL;
    return false;
}

/* A switch without a default: the compiler names the code that is missing here. */
static srv_problem_id from_engine(attn_code code) {
    switch (code) {
    case ATTN_NO_MEMORY: return SRV_MEMORY_TAKEN;
    case ATTN_SHAPE: return SRV_SHAPE_MISMATCH;
    case ATTN_RANGE: return SRV_OUT_OF_RANGE;
    case ATTN_AMBIGUOUS_CAUSAL: return SRV_AMBIGUOUS_CAUSAL;
    case ATTN_CONFLICT: return SRV_CONFLICT;
    case ATTN_TOO_LARGE: return SRV_NEEDS_TOO_MUCH_MEMORY;
    case ATTN_NOT_FINITE: return SRV_NOT_FINITE;
    case ATTN_CANCELLED: return SRV_DRAINING; /* whoever else cancels has nobody left to tell */
    case ATTN_OK:
    case ATTN_IO:
    case ATTN_BAD_FILE:
    case ATTN_BAD_MODEL: break; /* start-up's; during a request they are a fault of the daemon's own */
    }
    return SRV_INTERNAL;
}

bool srv_problem_from_engine(srv_problem *problem, const attn_error *error) {
    srv_problem_id id = from_engine(error->code);
    /* Only a 4xx speaks about the body; elsewhere `where` may be a file, which is nobody's business. */
    bool in_body = problems[id].status < 500 && error->where[0] == '/';
    return srv_problem_set(problem, id, SRV_WHERE_POINTER, in_body ? error->where : NULL, "%s", error->text);
}

/* The reason phrases of RFC 9110, section 15, and RFC 6585 for the statuses of the table. */
static const char *reason_phrase(int status) {
    switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Internal Server Error";
    }
}

static void append_member(srv_text *text, const char *name, const char *value) {
    srv_text_append_string(text, ",\"");
    srv_text_append_string(text, name);
    srv_text_append_string(text, "\":");
    srv_text_append_json_string(text, value, strlen(value));
}

static void append_where(srv_text *text, const srv_problem *problem) {
    switch (problem->where_kind) {
    case SRV_WHERE_NONE: break;
    case SRV_WHERE_POINTER: append_member(text, "pointer", problem->where); break;
    case SRV_WHERE_PARAMETER: append_member(text, "parameter", problem->where); break;
    case SRV_WHERE_HEADER: append_member(text, "header", problem->where); break;
    case SRV_WHERE_OFFSET:
        srv_text_append_string(text, ",\"offset\":");
        srv_text_append_size(text, strtoull(problem->where, NULL, 10));
        break;
    }
}

char *srv_problem_document(const srv_problem *problem, const char *request_id, bool with_error,
                           size_t *size) {
    srv_text text = {0};
    int status = srv_problem_status(problem);
    srv_text_append_string(&text, "{\"type\":\"about:blank\"");
    append_member(&text, "title", reason_phrase(status));
    srv_text_append_string(&text, ",\"status\":");
    srv_text_append_size(&text, (size_t)status);
    append_member(&text, "code", srv_problem_code(problem));
    append_member(&text, "detail", problem->detail);
    append_where(&text, problem);
    if (with_error) append_member(&text, "error", problem->detail);
    if (request_id != NULL) append_member(&text, "request_id", request_id);
    srv_text_append(&text, "}\n", sizeof "}\n");
    if (text.failed) {
        srv_text_done(&text);
        return NULL;
    }
    *size = text.size - 1; /* without the NUL */
    return text.data;
}
