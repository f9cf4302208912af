/* Reading lists (oip_list.h). */
#include "oip_list.h"

#include "engine/engine.h"
#include "json_blank.h"
#include "json_number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 16 }; /* levels that are told apart; tensors have 4 */

typedef struct reader {
    const srv_oip_list *list;
    srv_problem *found, *broken;
    const char *at, *end;
    size_t level;                /* of open lists */
    size_t lengths[DEEPEST + 1]; /* elements so far of the open list at each level, from 1 on */
    bool is_flat;
    size_t stored;
} reader;

static bool fail_text(reader *in, const char *what) {
    char offset[24];
    snprintf(offset, sizeof offset, "%zu", (size_t)(in->at - in->list->body));
    return srv_problem_set(in->broken, SRV_BAD_JSON, SRV_WHERE_OFFSET, offset, "not JSON: %s", what);
}

/* Whether elements are still looked at. */
static bool is_wanted(const reader *in) {
    return (in->list->numbers != NULL || in->list->flags != NULL) && in->found->id == SRV_NO_PROBLEM;
}

/* Sets what is wrong at the present element (depth 0), or the list around it (1). */
__attribute__((format(printf, 4, 5))) static void fail(reader *in, srv_problem_id id, size_t up,
                                                       const char *format, ...) {
    srv_place places[DEEPEST + 1];
    const srv_place *place = in->list->place;
    char text[ATTN_TEXT_SIZE];
    if (!is_wanted(in)) return;
    for (size_t level = 1; level + up <= in->level; level++) {
        places[level] = (srv_place){place, NULL, in->lengths[level]};
        place = &places[level];
    }
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
    va_end(arguments);
    srv_place_fail(place, in->found, id, "%s", text);
}

static void skip_blanks(reader *in) {
    in->at = srv_json_skip_blanks(in->at, in->end);
}

/* How many elements the open list must have. */
static size_t wanted_length(const reader *in) {
    return in->is_flat ? in->list->count : in->list->shape[in->level - 1];
}

static void describe_shape(const srv_oip_list *list, char out[128]) {
    size_t used = 0;
    for (size_t i = 0; i < list->rank; i++)
        used += (size_t)snprintf(out + used, 128 - used, "%s%zu", i == 0 ? "[" : ",", list->shape[i]);
    snprintf(out + used, 128 - used, "]");
}

static void fail_length(reader *in, size_t length) {
    char shape[128];
    describe_shape(in->list, shape);
    if (in->is_flat)
        fail(in, SRV_SHAPE_MISMATCH, 1, "found %zu elements; shape %s has %zu", length, shape,
             in->list->count);
    else
        fail(in, SRV_SHAPE_MISMATCH, 1,
             "found a list of %zu; shape %s asks for %zu here, or for one flat list", length, shape,
             wanted_length(in));
}

/* Whether an element of one number fits here. */
static bool is_leaf(reader *in) {
    char shape[128];
    if (!is_wanted(in)) return false;
    if (!in->is_flat && in->level < in->list->rank) {
        describe_shape(in->list, shape);
        fail(in, SRV_SHAPE_MISMATCH, 0, "found a number where shape %s asks for a list", shape);
        return false;
    }
    return in->lengths[in->level] < wanted_length(in) && in->stored < in->list->count;
}

static void store_number(reader *in, double number) {
    if (!is_leaf(in)) return;
    if (in->list->flags != NULL) {
        if (number != 0 && number != 1)
            fail(in, SRV_OUT_OF_RANGE, 0, "found the number %.9g; a mask holds 0 and 1, or false and true",
                 number);
        in->list->flags[in->stored++] = number == 1;
        return;
    }
    float value = (float)number;
    if (!isfinite(value))
        fail(in, SRV_OUT_OF_RANGE, 0,
             "found a number beyond float32, which holds magnitudes up to 3.4028235e38");
    in->list->numbers[in->stored++] = value;
}

static void store_word(reader *in, const char *word) {
    bool is_flag = word[0] != 'n';
    if (!is_leaf(in)) return;
    if (in->list->flags == NULL || !is_flag)
        fail(in, SRV_WRONG_TYPE, 0, "found %s; %s is expected", word,
             in->list->flags != NULL ? "true or false, or 1 or 0," : "a number");
    else
        in->list->flags[in->stored++] = word[0] == 't';
}

/* A number that the fast way does not tell. */
static bool read_slowly(reader *in, double *out) {
    srv_number number;
    srv_number_begin(&number);
    while (in->at < in->end && srv_number_take(&number, *in->at))
        in->at++;
    if (!srv_number_is_whole(&number)) return fail_text(in, "invalid token");
    *out = srv_number_value(&number);
    return true;
}

static bool read_number(reader *in) {
    double number;
    const char *behind = srv_number_read(in->at, in->end, &number);
    if (behind != NULL)
        in->at = behind;
    else if (!read_slowly(in, &number))
        return false;
    store_number(in, number);
    return true;
}

static bool read_word(reader *in) {
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(in->end - in->at) < size || memcmp(in->at, words[i], size) != 0) continue;
        in->at += size;
        store_word(in, words[i]);
        return true;
    }
    return fail_text(in, "invalid token");
}

/* A string or an object, which no tensor here holds: to its end. */
static bool pass_over(reader *in) {
    size_t depth = 0;
    bool inside = false; /* a string */
    fail(in, SRV_WRONG_TYPE, 0, "found %s; %s is expected", *in->at == '"' ? "a string" : "an object",
         in->list->flags != NULL ? "true or false, or 1 or 0," : "a number");
    for (; in->at < in->end; in->at++) {
        if (inside && *in->at == '\\') {
            in->at++;
        } else if (*in->at == '"') {
            inside = !inside;
        } else if (!inside) {
            depth += *in->at == '{' || *in->at == '[';
            depth -= *in->at == '}' || *in->at == ']';
        }
        if (!inside && depth == 0) break;
    }
    if (in->at >= in->end) return fail_text(in, "premature end of input");
    in->at++;
    return true;
}

static bool open_list(reader *in) {
    if (in->level == DEEPEST)
        return fail_text(in, "nesting is deeper than the format has; tensors have at most rank 4");
    if (in->level > 0 && (in->is_flat || in->level == in->list->rank)) {
        char shape[128];
        describe_shape(in->list, shape);
        fail(in, SRV_SHAPE_MISMATCH, 0, "found a list where shape %s asks for a number", shape);
    }
    in->at++;
    in->lengths[++in->level] = 0;
    return true;
}

static void close_list(reader *in) {
    size_t length = in->lengths[in->level];
    in->at++;
    if (is_wanted(in) && length != wanted_length(in)) fail_length(in, length);
    in->level--;
    if (in->level > 0) in->lengths[in->level]++;
}

/* The next element, or the begin of one that is a list. */
static bool read_element(reader *in) {
    if (in->at == in->end) return fail_text(in, "premature end of input");
    switch (*in->at) {
    case '[': return open_list(in);
    case '"':
    case '{':
        if (!pass_over(in)) return false;
        break;
    case 't':
    case 'f':
    case 'n':
        if (!read_word(in)) return false;
        break;
    default:
        if (*in->at != '-' && (*in->at < '0' || *in->at > '9')) return fail_text(in, "invalid token");
        if (!read_number(in)) return false;
    }
    in->lengths[in->level]++;
    return true;
}

/* What stands behind an element: the ends of lists, and a comma where there is more. */
static bool read_ends(reader *in) {
    skip_blanks(in);
    while (in->level > 0 && in->at < in->end && *in->at == ']') {
        close_list(in);
        skip_blanks(in);
    }
    if (in->level == 0) return true;
    if (in->at == in->end || *in->at != ',') return fail_text(in, "']' expected");
    in->at++;
    skip_blanks(in);
    return true;
}

bool srv_oip_list_read(const srv_oip_list *list, srv_problem *found, srv_problem *broken) {
    reader in = {.list = list,
                 .found = found,
                 .broken = broken,
                 .at = list->body + list->begin,
                 .end = list->body + list->end};
    open_list(&in);
    skip_blanks(&in);
    in.is_flat = in.at == in.end || *in.at != '[';
    while (in.level > 0) {
        size_t level = in.level;
        bool is_empty = in.lengths[level] == 0 && in.at < in.end && *in.at == ']';
        if (!is_empty && !read_element(&in)) return false;
        skip_blanks(&in);
        bool has_opened = in.level > level;
        if (has_opened && (in.at == in.end || *in.at != ']')) continue;
        if (!read_ends(&in)) return false;
    }
    return true;
}
