#include "http.h"

#include "record.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void http_raw_open(http_raw *raw, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *raw = (http_raw){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    ck_assert_int_ge(raw->fd, 0);
    ck_assert_int_eq(connect(raw->fd, (struct sockaddr *)&address, sizeof address), 0);
}

/* For the record. */
static void keep(http_raw *raw, const char *bytes, size_t size) {
    raw->sent = realloc(raw->sent, raw->sent_size + size + 1);
    ck_assert_ptr_nonnull(raw->sent);
    memcpy(raw->sent + raw->sent_size, bytes, size);
    raw->sent_size += size;
    raw->sent[raw->sent_size] = '\0';
}

int http_raw_send(http_raw *raw, const char *bytes, size_t size) {
    if (record_is_on()) keep(raw, bytes, size);
    while (size > 0) {
        ssize_t sent = send(raw->fd, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return 0;
        bytes += sent;
        size -= (size_t)sent;
    }
    return 1;
}

int http_raw_send_text(http_raw *raw, const char *text) {
    return http_raw_send(raw, text, strlen(text));
}

/* Receives more; 0 at the end of the connection. */
static size_t receive(http_raw *raw) {
    raw->pending = realloc(raw->pending, raw->pending_size + 65537);
    ck_assert_ptr_nonnull(raw->pending);
    ssize_t got;
    do
        got = recv(raw->fd, raw->pending + raw->pending_size, 65536, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0) raw->pending_size += (size_t)got;
    raw->pending[raw->pending_size] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* Takes `size` bytes off the front, waiting for them. */
static char *take(http_raw *raw, size_t size) {
    while (raw->pending_size < size)
        ck_assert_msg(receive(raw) > 0, "the connection ended in the midst of an answer");
    char *taken = malloc(size + 1);
    ck_assert_ptr_nonnull(taken);
    memcpy(taken, raw->pending, size);
    taken[size] = '\0';
    raw->pending_size -= size;
    memmove(raw->pending, raw->pending + size, raw->pending_size + 1);
    return taken;
}

/* Takes one line off the front and cuts its end. */
static char *take_line(http_raw *raw) {
    char *end;
    while (!(end = strstr(raw->pending, "\r\n")))
        ck_assert_msg(receive(raw) > 0, "the connection ended in the midst of a chunk's size");
    char *line = take(raw, (size_t)(end + 2 - raw->pending));
    line[strlen(line) - 2] = '\0';
    return line;
}

/* A body in chunks (RFC 9112, section 7.1), without trailers. */
static char *take_chunks(http_raw *raw, size_t *size) {
    char *body = calloc(1, 1);
    *size = 0;
    for (size_t count = 1; count > 0;) {
        char *line = take_line(raw), *end;
        count = strtoul(line, &end, 16);
        ck_assert_msg(end > line && *end == '\0', "no chunk's size: '%s'", line);
        free(line);
        char *chunk = take(raw, count), *rest = take_line(raw);
        ck_assert_msg(*rest == '\0', "a chunk is longer than its size: '%s'", rest);
        free(rest);
        body = realloc(body, *size + count + 1);
        ck_assert_ptr_nonnull(body);
        memcpy(body + *size, chunk, count + 1);
        *size += count;
        free(chunk);
    }
    return body;
}

http_answer http_raw_answer(http_raw *raw, int to_head) {
    char *end = NULL;
    while (!raw->pending || !(end = strstr(raw->pending, "\r\n\r\n"))) {
        ck_assert_msg(receive(raw) > 0, "the connection ended without an answer: '%s'", raw->pending);
    }
    http_answer answer = {.headers = take(raw, (size_t)(end + 4 - raw->pending))};
    ck_assert_msg(strncmp(answer.headers, "HTTP/1.", 7) == 0, "no status line: %s", answer.headers);
    answer.status = strtol(answer.headers + 9, NULL, 10);
    char *coding = http_header(&answer, "Transfer-Encoding"),
         *length = http_header(&answer, "Content-Length");
    bool has_body = !to_head && answer.status >= 200 && answer.status != 204;
    ck_assert_msg(!coding || (!length && strcmp(coding, "chunked") == 0), "%s", answer.headers);
    ck_assert_msg(!has_body || coding || length, "no Content-Length: %s", answer.headers);
    if (has_body && !coding) answer.size = strtoul(length, NULL, 10);
    answer.body = coding ? take_chunks(raw, &answer.size) : take(raw, answer.size);
    free(coding);
    free(length);
    if (raw->sent_size > 0 && answer.status >= 200) {
        size_t size = record_raw(raw->sent, raw->sent_size, &answer);
        raw->sent_size -= size;
        memmove(raw->sent, raw->sent + size, raw->sent_size + 1);
    }
    return answer;
}

int http_raw_is_closed(http_raw *raw) {
    return raw->pending_size == 0 && receive(raw) == 0;
}

void http_raw_close(http_raw *raw) {
    if (raw->fd >= 0) close(raw->fd);
    free(raw->pending);
    free(raw->sent);
    *raw = (http_raw){.fd = -1};
}
