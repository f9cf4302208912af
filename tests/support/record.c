#include "record.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Longer bodies are left out: null. */
enum { LONGEST_BODY = 16 << 20 };

bool record_is_on(void) {
    return getenv("ATTND_RECORD") != NULL;
}

/* Requests of several threads: a line is written in pieces. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static FILE *open_record(void) {
    pthread_mutex_lock(&writing);
    char path[4096];
    snprintf(path, sizeof path, "%s/%ld.jsonl", getenv("ATTND_RECORD"), (long)getpid());
    FILE *file = fopen(path, "a");
    ck_assert_msg(file != NULL, "ATTND_RECORD: cannot write %s", path);
    /* Of several threads one at a time, until it closes: a long line is written in pieces. */
    ck_assert_int_eq(flock(fileno(file), LOCK_EX), 0);
    return file;
}

static void put_string(FILE *file, const char *bytes, size_t size) {
    fputc('"', file);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 || c >= 0x7f)
            fprintf(file, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void put_member(FILE *file, const char *name, const char *bytes, size_t size) {
    fprintf(file, ",\"%s\":", name);
    if (bytes && size <= LONGEST_BODY)
        put_string(file, bytes, size);
    else
        fputs("null", file);
}

static void put_answer(FILE *file, const http_answer *answer) {
    fprintf(file, ",\"status\":%ld", answer->status);
    put_member(file, "answer_headers", answer->headers, strlen(answer->headers));
    put_member(file, "answer", answer->body, answer->size);
    fputs("}\n", file);
    ck_assert_int_eq(fclose(file), 0);
    pthread_mutex_unlock(&writing);
}

void record_exchange(const char *method, const char *target, const char *const headers[], const char *body,
                     size_t size, const http_answer *answer) {
    if (!record_is_on()) return;
    FILE *file = open_record();
    fputs("{\"method\":", file);
    put_string(file, method, strlen(method));
    put_member(file, "target", target, strlen(target));
    fputs(",\"headers\":[", file);
    for (size_t i = 0; headers && headers[i]; i++) {
        if (i > 0) fputc(',', file);
        put_string(file, headers[i], strlen(headers[i]));
    }
    fputc(']', file);
    put_member(file, "body", body, size);
    put_answer(file, answer);
}

typedef struct request {
    size_t method, target; /* sizes; 0: there is no request line */
    const char *body;      /* NULL: none, or not as long as Content-Length says */
    size_t body_size, size;
} request;

static request take_apart(const char *sent, size_t size) {
    request r = {.size = size};
    const char *end = memmem(sent, size, "\r\n\r\n", 4), *line_end = strstr(sent, "\r\n");
    size_t method = strcspn(sent, " \r\n");
    const char *version = line_end ? memmem(sent, (size_t)(line_end - sent), " HTTP/1.", 8) : NULL;
    if (version && version > sent + method) {
        r.method = method;
        r.target = (size_t)(version - sent) - method - 1;
    }
    if (!end) return r;
    size_t head = (size_t)(end + 4 - sent);
    const char *length = strcasestr(sent, "\r\nContent-Length:"), *coding = strcasestr(sent, "\r\nTransfer-");
    if (coding && coding < end) return r;
    if (!length || length > end) {
        r.size = head;
        return r;
    }
    size_t wanted = strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
    if (wanted > size - head) return r;
    r.body = sent + head;
    r.body_size = wanted;
    r.size = head + wanted;
    return r;
}

size_t record_raw(const char *sent, size_t size, const http_answer *answer) {
    request r = take_apart(sent, size);
    FILE *file = open_record();
    fputs("{\"method\":", file);
    if (r.method > 0) {
        put_string(file, sent, r.method);
        put_member(file, "target", sent + r.method + 1, r.target);
    } else {
        fputs("null,\"target\":null", file);
    }
    fputs(",\"headers\":[]", file);
    put_member(file, "body", r.body, r.body_size);
    put_answer(file, answer);
    return r.size;
}
