/* Framing checks that libmicrohttpd leaves to its user: doubled lengths, a length beside a transfer coding,
 * codings other than chunked, a missing or doubled Host (RFC 9112, 3.2 and 6.3). Each of them could make a
 * proxy in front and this daemon disagree about where a request ends. HTTP thread. */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct seen {
    srv_framing *framing;
    size_t lengths, codings, hosts;
    bool is_chunked;
    const char *length;
} seen;

static enum MHD_Result see(void *cls, enum MHD_ValueKind kind, const char *key, const char *value) {
    (void)kind;
    seen *s = cls;
    if (!value) value = "";
    if (strcasecmp(key, "Content-Length") == 0) {
        s->lengths++;
        s->length = value;
    } else if (strcasecmp(key, "Transfer-Encoding") == 0) {
        s->codings++;
        s->is_chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(key, "Host") == 0) {
        s->hosts++;
    } else if (strcasecmp(key, "Expect") == 0) {
        s->framing->expects = strcasecmp(value, "100-continue") == 0;
    } else if (strcasecmp(key, "Content-Type") == 0) {
        s->framing->content_type = value;
    } else if (strcasecmp(key, "X-Request-Id") == 0) {
        s->framing->request_id = value;
    }
    return MHD_YES;
}

static bool refuse(srv_problem *problem, const char *header, const char *detail) {
    return srv_problem_set(problem, SRV_BAD_HTTP, SRV_WHERE_HEADER, header, "%s", detail);
}

/* The declared length; the library has checked that it is a number, not how large. */
static size_t declared(const char *length) {
    char *end;
    unsigned long long number = strtoull(length, &end, 10);
    return number > SIZE_MAX ? SIZE_MAX : (size_t)number;
}

bool srv_framing_read(struct MHD_Connection *connection, const char *version, srv_framing *out,
                      srv_problem *problem) {
    *out = (srv_framing){0};
    seen s = {.framing = out};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, see, &s);
    bool is_old = strcmp(version, "HTTP/1.0") == 0;
    if (s.lengths > 1)
        return refuse(problem, "Content-Length", "Content-Length stands twice; once is accepted");
    if (s.codings > 1 || (s.codings == 1 && !s.is_chunked))
        return refuse(problem, "Transfer-Encoding",
                      "a transfer coding other than chunked; chunked is accepted");
    if (s.codings == 1 && s.lengths == 1)
        return refuse(problem, "Transfer-Encoding",
                      "Content-Length and Transfer-Encoding; one of them is accepted");
    if (s.codings == 1 && is_old)
        return refuse(problem, "Transfer-Encoding", "Transfer-Encoding in HTTP/1.0, which has none");
    if (s.hosts > 1) return refuse(problem, "Host", "Host stands twice; once is accepted");
    if (s.hosts == 0 && !is_old) return refuse(problem, "Host", "no Host; HTTP/1.1 asks for one");
    if (s.lengths == 1) out->declared = declared(s.length);
    return true;
}
