/* Taking the lists out (oip_text.h): strings and brackets are all that is looked at. */
#include "oip_text.h"

#include "json_blank.h"

#include <stdio.h>
#include <string.h>

enum { TENSOR_DEPTH = 3 }; /* {"inputs": [{"data": … */

/* Takes stretches of the body that are kept, and words that stand for lists. */
typedef struct writer {
    srv_oip_text *out; /* NULL: nothing is written */
    srv_share *share;
    srv_problem *problem;
    size_t size; /* of the text */
    size_t count;
    bool failed;
} writer;

static void put(writer *to, const char *bytes, size_t size) {
    to->size += size;
    if (to->out == NULL || to->failed) return;
    to->failed = !srv_buffer_append(&to->out->text, bytes, size, to->share, to->problem);
}

static void put_list(writer *to, size_t begin, size_t end) {
    char word[16];
    int length = snprintf(word, sizeof word, "[%zu]", to->count);
    put(to, word, (size_t)length);
    if (to->out != NULL) {
        to->out->lists[to->count] = (srv_oip_span){begin, end, to->size};
        to->out->count = to->count + 1;
    }
    to->count++;
}

/* The place behind the string that begins at `at`; `end` where it does not end. */
static size_t end_of_string(const char *body, size_t at, size_t end) {
    for (at++; at < end && body[at] != '"'; at++)
        if (body[at] == '\\') at++;
    return at < end ? at + 1 : end;
}

/* The place behind the list that begins at `at`; 0 where it does not end. */
static size_t end_of_list(const char *body, size_t at, size_t end) {
    size_t depth = 0;
    while (at < end) {
        if (body[at] == '"') {
            at = end_of_string(body, at, end);
            continue;
        }
        depth += body[at] == '[';
        depth -= body[at] == ']';
        at++;
        if (depth == 0) return at;
    }
    return 0;
}

static size_t skip_blanks(const char *body, size_t at, size_t end) {
    return (size_t)(srv_json_skip_blanks(body + at, body + end) - body);
}

/* The list that is the value of a name which ends at `at`; 0: no list. */
static size_t list_behind(const char *body, size_t at, size_t end) {
    at = skip_blanks(body, at, end);
    if (at == end || body[at] != ':') return 0;
    at = skip_blanks(body, at + 1, end);
    return at < end && body[at] == '[' ? at : 0;
}

static void split(writer *to, const char *body, size_t size) {
    static const char SHAPE[] = "\"shape\"";
    size_t depth = 0, kept = 0;
    for (size_t at = 0; at < size;) {
        char byte = body[at];
        if (byte != '"') {
            depth += byte == '{' || byte == '[';
            depth -= (byte == '}' || byte == ']') && depth > 0;
            at++;
            continue;
        }
        size_t end = end_of_string(body, at, size);
        bool is_shape = end - at == sizeof SHAPE - 1 && memcmp(body + at, SHAPE, sizeof SHAPE - 1) == 0;
        bool may_be_list = depth == TENSOR_DEPTH && !is_shape && to->count < SRV_OIP_LISTS;
        size_t begin = may_be_list ? list_behind(body, end, size) : 0;
        at = end;
        if (begin == 0) continue;
        end = end_of_list(body, begin, size);
        if (end == 0) break;
        put(to, body + kept, begin - kept);
        put_list(to, begin, end);
        at = kept = end;
    }
    put(to, body + kept, size - kept);
}

bool srv_oip_text_read(srv_oip_text *out, const char *body, size_t size, srv_share *share,
                       srv_problem *problem) {
    writer to = {.out = out, .share = share, .problem = problem};
    split(&to, body, size);
    return !to.failed;
}

size_t srv_oip_text_size(const char *body, size_t size) {
    writer to = {0};
    split(&to, body, size);
    return to.size;
}

size_t srv_oip_text_offset(const srv_oip_text *text, size_t at) {
    size_t body = at;
    for (size_t i = 0; i < text->count && text->lists[i].text_end <= at; i++)
        body = text->lists[i].end + (at - text->lists[i].text_end);
    return body;
}
