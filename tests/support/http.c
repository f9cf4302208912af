#include "http.h"

#include "record.h"

#include <check.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

typedef struct growing {
    char *text;
    size_t size;
} growing;

static size_t collect(char *data, size_t one, size_t count, void *context) {
    growing *into = context;
    char *grown = realloc(into->text, into->size + one * count + 1);
    if (!grown) return 0;
    into->text = grown;
    memcpy(into->text + into->size, data, one * count);
    into->size += one * count;
    into->text[into->size] = '\0';
    return one * count;
}

static void set_method(CURL *curl, const char *method, const char *body, size_t size) {
    if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
        return;
    }
    if (body) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
}

http_answer http_send(const char *method, const char *url, const char *path, const char *const headers[],
                      const char *body, size_t size) {
    char target[512];
    snprintf(target, sizeof target, "%s%s", url, path);
    growing head = {strdup(""), 0}, content = {strdup(""), 0};
    struct curl_slist *list = NULL;
    for (size_t i = 0; headers && headers[i]; i++)
        list = curl_slist_append(list, headers[i]);

    CURL *curl = curl_easy_init();
    ck_assert_ptr_nonnull(curl);
    curl_easy_setopt(curl, CURLOPT_URL, target);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &head);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &content);
    set_method(curl, method, body, size);
    CURLcode code = curl_easy_perform(curl);
    ck_assert_msg(code == CURLE_OK, "%s %s: %s", method, target, curl_easy_strerror(code));
    http_answer answer = {.headers = head.text, .body = content.text, .size = content.size};
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    record_exchange(method, path, headers, body, size, &answer);
    curl_easy_cleanup(curl);
    curl_slist_free_all(list);
    return answer;
}

http_answer http_get(const char *url, const char *path) {
    return http_send("GET", url, path, NULL, NULL, 0);
}

http_answer http_post(const char *url, const char *path, const char *body) {
    return http_send("POST", url, path, (const char *const[]){"Content-Type: application/json", NULL}, body,
                     strlen(body));
}

void http_done(http_answer *answer) {
    free(answer->headers);
    free(answer->body);
    *answer = (http_answer){0};
}

char *http_header(const http_answer *answer, const char *name) {
    /* A final answer may stand behind interim ones: its header block is the last. */
    const char *block = answer->headers;
    for (const char *next; (next = strstr(block, "\r\n\r\n")) && next[4]; block = next + 4) {
    }
    char *found = NULL;
    size_t length = strlen(name);
    for (const char *line = block; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
        ck_assert_msg(found == NULL, "two headers %s: %s", name, answer->headers);
        const char *value = line + length + 1 + strspn(line + length + 1, " \t");
        found = strndup(value, strcspn(value, "\r\n"));
    }
    return found;
}

json_t *http_json(const http_answer *answer) {
    json_error_t error;
    json_t *document =
        json_loadb(answer->body, answer->size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    ck_assert_msg(document != NULL, "status %ld, no JSON (%s): %.400s", answer->status, error.text,
                  answer->body);
    return document;
}
