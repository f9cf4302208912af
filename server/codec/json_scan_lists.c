/* Lists within lists (json_scan.h). What the scanner can read it keeps in the nest: lists, numbers, true, false and
 * null. Strings and objects go into the text, as elements of the list that stands there for all of them. */
#include "json_blank.h"
#include "json_scan.h"

#include <math.h>
#include <string.h>

enum {
    DEEPEST = 2048, /* Jansson's own limit of nesting */
    ROOM = 16,      /* floats that there is room for at least */
};

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

bool srv_scan_lists_begin(srv_scan *scan, srv_problem *problem) {
    (void)problem;
    scan->mode = SRV_SCAN_LISTS;
    scan->lists_depth = scan->depth;
    scan->behind = SRV_LIST_BEGUN;
    scan->has_text = false;
    scan->token_kind = SRV_TOKEN_NONE;
    srv_nest_open(srv_scan_nest(scan), scan->share);
    return true;
}

/* The lists that are open here, and what stands before the broken place, in as few bytes as say the same. */
static bool add_skeleton(srv_scan *scan, srv_problem *problem) {
    size_t depth = srv_scan_nest(scan)->depth;
    bool has_elements = scan->has_text;
    if (depth > 1) {
        if (has_elements && !srv_scan_add(scan, ",", 1, problem)) return false;
        for (size_t i = 1; i < depth; i++)
            if (!srv_scan_add(scan, "[", 1, problem)) return false;
        has_elements = false;
    }
    if (scan->behind == SRV_LIST_BEGUN) return true;
    if (!has_elements && !srv_scan_add(scan, "0 ", 2, problem)) return false;
    return scan->behind == SRV_LIST_VALUE || srv_scan_add(scan, ",", 1, problem);
}

/* A token of so many bytes that its first ones are all that is left of it: another that breaks in the same way. */
static const char *stand_in(const srv_scan *scan) {
    if (scan->token_kind == SRV_TOKEN_WORD) return "xxxxxxxxxxxxxxxxxxxxxxxx";
    if (srv_number_is_whole(&scan->number) && isinf(srv_number_value(&scan->number)))
        return scan->number.is_negative ? "-1e999" : "1e999";
    switch (scan->number.state) {
    case SRV_NUMBER_POINT: return "111111111111111111111111.";
    case SRV_NUMBER_E: return "111111111111111111111111e";
    case SRV_NUMBER_SIGN: return "111111111111111111111111e+";
    default: return "111111111111111111111111";
    }
}

bool srv_scan_lists_break(srv_scan *scan, size_t body, srv_problem *problem) {
    scan->mode = SRV_SCAN_BROKEN;
    if (!add_skeleton(scan, problem)) return false;
    if (scan->token_kind == SRV_TOKEN_NONE) return true;
    bool is_there = scan->token_size <= SRV_TOKEN_BYTES;
    const char *token = is_there ? scan->token : stand_in(scan);
    size_t size = is_there ? scan->token_size : strlen(token);
    return srv_scan_keep(scan, body - size, token, size, problem);
}

/* The same where the token before `at` is at fault. */
static const char *break_token(srv_scan *scan, const char *at, srv_problem *problem) {
    return srv_scan_lists_break(scan, srv_scan_at(scan, at), problem) ? at : NULL;
}

static const char *break_here(srv_scan *scan, const char *at, srv_problem *problem) {
    scan->token_kind = SRV_TOKEN_NONE;
    if (!srv_scan_lists_break(scan, srv_scan_at(scan, at), problem)) return NULL;
    return *at == '\0' ? srv_scan_nul(scan, at) : at;
}

static void keep_token(srv_scan *scan, const char *from, const char *to) {
    size_t size = (size_t)(to - from);
    if (scan->token_size < SRV_TOKEN_BYTES) {
        size_t room = SRV_TOKEN_BYTES - scan->token_size;
        memcpy(scan->token + scan->token_size, from, size < room ? size : room);
    }
    scan->token_size += size;
}

static bool take_number(srv_scan *scan, double value, srv_problem *problem) {
    scan->behind = SRV_LIST_VALUE;
    return srv_nest_number(srv_scan_nest(scan), value, scan->share, problem);
}

static const char *go_on_with_number(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    const char *from = at;
    while (at < end && srv_number_take(&scan->number, *at))
        at++;
    keep_token(scan, from, at);
    if (at == end) return at;
    double value = srv_number_is_whole(&scan->number) ? srv_number_value(&scan->number) : NAN;
    bool has_leading_zero = scan->number.state == SRV_NUMBER_ZERO && is_digit(*at);
    if (!isfinite(value) || has_leading_zero) return break_token(scan, at, problem);
    scan->token_kind = SRV_TOKEN_NONE;
    return take_number(scan, value, problem) ? at : NULL;
}

static const char *read_number(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    double value;
    const char *behind = srv_number_read(at, end, &value);
    if (behind != NULL && isfinite(value)) return take_number(scan, value, problem) ? behind : NULL;
    scan->token_kind = SRV_TOKEN_NUMBER;
    scan->token_size = 0;
    srv_number_begin(&scan->number);
    return go_on_with_number(scan, at, end, problem);
}

/* Numbers, one behind the other, for as long as nothing else comes. At a place where a value may stand. */
static const char *read_floats(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    srv_nest *nest = srv_scan_nest(scan);
    if (!srv_buffer_reserve(&nest->elements, ROOM * sizeof(float), scan->share, problem)) return NULL;
    float *out = (float *)(void *)(nest->elements.data + nest->elements.size);
    size_t room = (nest->elements.capacity - nest->elements.size) / sizeof *out, count;
    const char *behind = srv_number_read_floats(at, end, out, room, &count);
    if (behind > at) scan->behind = is_digit(behind[-1]) ? SRV_LIST_VALUE : SRV_LIST_COMMA;
    srv_nest_took_floats(nest, count);
    return behind;
}

/* true, false, null, or something that Jansson will not have. */
static const char *go_on_with_word(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    static const struct {
        const char *word;
        srv_kind kind;
    } words[] = {{"true", SRV_KIND_TRUE}, {"false", SRV_KIND_FALSE}, {"null", SRV_KIND_NULL}};
    const char *from = at;
    while (at < end && is_letter(*at))
        at++;
    keep_token(scan, from, at);
    if (at == end) return at;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (scan->token_size != strlen(words[i].word) ||
            memcmp(scan->token, words[i].word, scan->token_size) != 0)
            continue;
        scan->token_kind = SRV_TOKEN_NONE;
        scan->behind = SRV_LIST_VALUE;
        return srv_nest_other(srv_scan_nest(scan), words[i].kind, scan->share, problem) ? at : NULL;
    }
    return break_token(scan, at, problem);
}

static const char *read_word(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    scan->token_kind = SRV_TOKEN_WORD;
    scan->token_size = 0;
    return go_on_with_word(scan, at, end, problem);
}

/* A string or an object: for the text. Its first byte is read there. */
static const char *leave_to_text(srv_scan *scan, const char *at, srv_problem *problem) {
    srv_kind kind = *at == '"' ? SRV_KIND_STRING : SRV_KIND_OBJECT;
    if (scan->has_text && !srv_scan_add(scan, ",", 1, problem)) return NULL;
    scan->has_text = true;
    scan->mode = SRV_SCAN_REST;
    return srv_nest_other(srv_scan_nest(scan), kind, scan->share, problem) ? at : NULL;
}

static const char *open_list(srv_scan *scan, const char *at, srv_problem *problem) {
    srv_nest *nest = srv_scan_nest(scan);
    if (scan->lists_depth - 1 + nest->depth == DEEPEST) return break_here(scan, at, problem);
    srv_nest_open(nest, scan->share);
    scan->behind = SRV_LIST_BEGUN;
    return at + 1;
}

static const char *close_list(srv_scan *scan, const char *at, srv_problem *problem) {
    srv_nest *nest = srv_scan_nest(scan);
    scan->behind = SRV_LIST_VALUE;
    if (!srv_nest_close(nest, scan->share, problem)) return NULL;
    if (nest->depth > 0) return at + 1;
    scan->mode = SRV_SCAN_REST;
    scan->lists_depth = 0;
    scan->depth--;
    return srv_scan_keep(scan, srv_scan_at(scan, at), at, 1, problem) ? at + 1 : NULL;
}

static const char *read_value(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    if (*at == '-' || is_digit(*at)) {
        const char *behind =
            srv_nest_takes_floats(srv_scan_nest(scan)) ? read_floats(scan, at, end, problem) : at;
        return behind != at ? behind : read_number(scan, at, end, problem);
    }
    if (is_letter(*at)) return read_word(scan, at, end, problem);
    switch (*at) {
    case '[': return open_list(scan, at, problem);
    case ']':
        return scan->behind == SRV_LIST_BEGUN ? close_list(scan, at, problem) : break_here(scan, at, problem);
    case '"':
    case '{': return leave_to_text(scan, at, problem);
    default: return break_here(scan, at, problem);
    }
}

const char *srv_scan_lists(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    if (scan->token_kind == SRV_TOKEN_NUMBER) return go_on_with_number(scan, at, end, problem);
    if (scan->token_kind == SRV_TOKEN_WORD) return go_on_with_word(scan, at, end, problem);
    while (at != NULL && at < end && scan->mode == SRV_SCAN_LISTS && scan->token_kind == SRV_TOKEN_NONE) {
        if (srv_json_is_blank(*at)) {
            at++;
        } else if (scan->behind != SRV_LIST_VALUE) {
            at = read_value(scan, at, end, problem);
        } else if (*at == ',') {
            scan->behind = SRV_LIST_COMMA;
            at++;
        } else if (*at == ']') {
            at = close_list(scan, at, problem);
        } else {
            at = break_here(scan, at, problem);
        }
    }
    return at;
}
