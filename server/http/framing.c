/* Framing checks that libmicrohttpd leaves to its user (RFC 9112, 3 and 6.3). Each of them could make a proxy in
 * front and this daemon disagree about where a request ends or whom it is for. HTTP thread. */
#include "exchange.h"

#include "server/http/media.h"
#include "server/http/origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct seen {
    srv_framing *framing;
    size_t lengths, codings, hosts, origins;
    bool is_chunked, has_control, is_folded;
    const char *length, *expect;
} seen;

static bool has_control(const char *text) {
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f) return true;
    }
    return false;
}

/* Whether a value does not stand behind its name, in the library's one buffer, with blanks at most between
 * them: versions before 0.9.77 glue a folded line (RFC 9112, 5.2) to the header's name, somewhere else. */
static bool is_torn(const char *key, const char *value) {
    const char *end = key + strlen(key) + 1;
    return value < end || value > end + strspn(end, " \t");
}

/* Without the blanks behind it, which some versions of the library leave. What is too long is cut to something that
 * is no host. */
static void copy_host(char out[264], const char *value) {
    size_t size = strlen(value);
    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t'))
        size--;
    if (size > 263) size = 263;
    memcpy(out, value, size);
    out[size] = '\0';
}

static bool is_plain(const char *content_encoding) {
    srv_coding coding;
    return srv_coding_of(content_encoding, &coding) && coding == SRV_CODING_IDENTITY;
}

static enum MHD_Result see(void *cls, enum MHD_ValueKind kind, const char *key, const char *value) {
    (void)kind;
    seen *s = cls;
    if (!value) value = "";
    s->has_control = s->has_control || has_control(value);
    s->is_folded = s->is_folded || is_torn(key, value);
    if (strcasecmp(key, "Content-Length") == 0) {
        s->lengths++;
        s->length = value;
    } else if (strcasecmp(key, "Transfer-Encoding") == 0) {
        s->codings++;
        s->is_chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(key, "Host") == 0) {
        s->hosts++;
        copy_host(s->framing->host, value);
    } else if (strcasecmp(key, "Expect") == 0) {
        s->expect = value;
    } else if (strcasecmp(key, "Content-Type") == 0) {
        s->framing->content_type = value;
    } else if (strcasecmp(key, "Content-Encoding") == 0) {
        /* The one that is not identity counts. */
        if (is_plain(s->framing->content_encoding))
            s->framing->content_encoding = value;
        else if (!is_plain(value))
            s->framing->content_encoding = "several lines";
    } else if (strcasecmp(key, "X-Request-Id") == 0) {
        s->framing->request_id = value;
    } else if (strcasecmp(key, "Origin") == 0) {
        /* Two are nobody's: an empty one is never allowed. */
        s->framing->origin = s->origins++ == 0 ? value : "";
    } else if (strcasecmp(key, "Authorization") == 0) {
        s->framing->authorization = value;
        s->framing->credentials++;
    } else if (strcasecmp(key, "X-API-Key") == 0) {
        s->framing->api_key = value;
        s->framing->credentials++;
    } else if (strcasecmp(key, "Inference-Header-Content-Length") == 0) {
        s->framing->inference_header = s->framing->inference_header ? "" : value;
    } else if (strcasecmp(key, "Access-Control-Request-Method") == 0) {
        s->framing->is_preflight = true;
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

/* A method is a token (RFC 9110, 5.6.2). */
static bool is_method(const char *method) {
    const char *c = method;
    while (isalnum((unsigned char)*c) || (*c != '\0' && strchr("!#$%&'*+-.^_`|~", *c)))
        c++;
    return c != method && *c == '\0';
}

/* Whom an absolute URI names: a host as in the header, so no user's name before it (RFC 9110, 4.2.4). */
static bool is_authority(const srv_target *target) {
    char host[264];
    size_t size = target->authority_size;
    if (size >= sizeof host) return false;
    memcpy(host, target->authority, size);
    host[size] = '\0';
    return srv_host_is_valid(host);
}

/* A path, an absolute URI, "*", or with CONNECT an authority; visible ASCII throughout. */
static bool is_target(const char *target, const char *method) {
    if (target[0] == '\0') return false;
    for (const char *c = target; *c != '\0'; c++) {
        if (*c <= ' ' || *c == 0x7f || (unsigned char)*c > 0x7f) return false;
    }
    srv_target parts = srv_target_split(target);
    if (parts.authority) return is_authority(&parts);
    return target[0] == '/' || strcmp(target, "*") == 0 || strcmp(method, "CONNECT") == 0;
}

static bool check_line(const char *method, const char *target, const char *version, srv_problem *problem) {
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return srv_problem_set(problem, SRV_BAD_HTTP, SRV_WHERE_NONE, NULL,
                               "version '%.20s'; HTTP/1.1 and HTTP/1.0 are spoken", version);
    if (!is_method(method))
        return srv_problem_set(problem, SRV_BAD_HTTP, SRV_WHERE_NONE, NULL,
                               "method '%.20s'; a token is accepted", method);
    if (!is_target(target, method))
        return srv_problem_set(problem, SRV_BAD_HTTP, SRV_WHERE_NONE, NULL,
                               "target '%.100s'; a path or an absolute URI of visible ASCII is accepted",
                               target);
    return true;
}

static bool check_length(const seen *s, bool is_old, srv_problem *problem) {
    if (s->lengths > 1)
        return refuse(problem, "Content-Length", "Content-Length stands twice; once is accepted");
    if (s->codings > 1 || (s->codings == 1 && !s->is_chunked))
        return refuse(problem, "Transfer-Encoding",
                      "a transfer coding other than chunked; chunked is accepted");
    if (s->codings == 1 && s->lengths == 1)
        return refuse(problem, "Transfer-Encoding",
                      "Content-Length and Transfer-Encoding; one of them is accepted");
    if (s->codings == 1 && is_old)
        return refuse(problem, "Transfer-Encoding", "Transfer-Encoding in HTTP/1.0, which has none");
    return true;
}

static bool check_host(const seen *s, bool is_old, srv_problem *problem) {
    if (s->hosts > 1) return refuse(problem, "Host", "Host stands twice; once is accepted");
    if (s->hosts == 0 && !is_old) return refuse(problem, "Host", "no Host; HTTP/1.1 asks for one");
    if (s->hosts == 1 && !srv_host_is_valid(s->framing->host))
        return srv_problem_set(problem, SRV_BAD_HTTP, SRV_WHERE_HEADER, "Host",
                               "Host '%.100s'; a name or an address is accepted, with or without a port",
                               s->framing->host);
    return true;
}

bool srv_framing_read(srv_exchange *exchange, const char *method, const char *version, srv_framing *out,
                      srv_problem *problem) {
    *out = (srv_framing){0};
    seen s = {.framing = out};
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, see, &s);
    bool is_old = strcmp(version, "HTTP/1.0") == 0;
    out->expects = s.expect && strcasecmp(s.expect, "100-continue") == 0;
    if (!check_line(method, exchange->target, version, problem) || !check_length(&s, is_old, problem) ||
        !check_host(&s, is_old, problem))
        return false;
    if (s.is_folded)
        return srv_problem_set(problem, SRV_BAD_HTTP, SRV_WHERE_NONE, NULL, "a folded header line");
    if (s.has_control)
        return srv_problem_set(problem, SRV_BAD_HTTP, SRV_WHERE_NONE, NULL,
                               "a control character in a header");
    if (s.expect && !out->expects)
        return refuse(problem, "Expect", "an expectation other than 100-continue, which is accepted");
    if (s.lengths == 1) out->declared = declared(s.length);
    return true;
}
