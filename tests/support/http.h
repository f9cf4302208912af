/* HTTP as clients speak it: libcurl for what any client does, a raw socket where the bytes matter. */
#ifndef TESTS_SUPPORT_HTTP_H
#define TESTS_SUPPORT_HTTP_H

#include <stddef.h>

#include <jansson.h>

typedef struct http_answer {
    long status;
    char *headers; /* as received, NUL-terminated */
    char *body;    /* NUL-terminated after `size` bytes */
    size_t size;
} http_answer;

/* One request on a connection of its own. headers: "Name: value" lines, NULL-terminated, or NULL. body NULL:
 * none. */
http_answer http_send(const char *method, const char *url, const char *path, const char *const headers[],
                      const char *body, size_t size);
http_answer http_get(const char *url, const char *path);
/* POST with Content-Type: application/json. */
http_answer http_post(const char *url, const char *path, const char *body);
void http_done(http_answer *answer);

/* The value of the only header of that name, malloc'ed; NULL where there is none. Two of them
 * fail the test. */
char *http_header(const http_answer *answer, const char *name);
/* The body as strict JSON; fails the test where it is none. The caller decrefs. */
json_t *http_json(const http_answer *answer);

/* A plain connection to 127.0.0.1 that is read one answer at a time. */
typedef struct http_raw {
    int fd;
    char *pending; /* received, not yet part of an answer */
    size_t pending_size;
    char *sent; /* since the last answer */
    size_t sent_size;
} http_raw;

void http_raw_open(http_raw *raw, int port);
/* Sends all of it; false where the other side does not take it any more. */
int http_raw_send(http_raw *raw, const char *bytes, size_t size);
int http_raw_send_text(http_raw *raw, const char *text);
/* Reads one whole answer; `to_head` when it answers HEAD: no body follows. Fails the test when the connection
 * ends before. Interim answers (1xx) are answers too. */
http_answer http_raw_answer(http_raw *raw, int to_head);
/* Whether the other side closes without another byte. */
int http_raw_is_closed(http_raw *raw);
void http_raw_close(http_raw *raw);

#endif
