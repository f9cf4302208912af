/* What is outside the tensors (json_scan.h): copied to the text as it comes, but for long runs of white space. Only as
 * much of the grammar is followed as it takes to find the fields' values: Jansson judges the text, and complains about
 * the first thing that is wrong, before which all that was found here was right. */
#include "json_scan.h"

#include "json_blank.h"

#include <string.h>

const srv_captured srv_captured_fields[SRV_CAPTURES] = {
    {"inputs", SRV_ELEMENT_NUMBER, SRV_EVEN_ROWS},
    {"context", SRV_ELEMENT_NUMBER, SRV_EVEN_ROWS},
    {"values", SRV_ELEMENT_NUMBER, SRV_EVEN_ROWS},
    {"key_padding_mask", SRV_ELEMENT_BOOLEAN, SRV_EVEN_NONE},
    {"attention_mask", SRV_ELEMENT_FLAG, SRV_EVEN_NONE},
    {"bias", SRV_ELEMENT_NUMBER, SRV_EVEN_NONE},
    {"positions", SRV_ELEMENT_ANY, SRV_EVEN_NONE},
    {"context_positions", SRV_ELEMENT_ANY, SRV_EVEN_NONE},
};

/* What any "data" of inference may be: its type may come behind it. */
static const srv_captured captured_data = {"data", SRV_ELEMENT_EITHER, SRV_EVEN_BOX};

enum {
    BLANKS_KEPT = 16,  /* of a run: fewer cost less than a mark of where the rest was left out */
    BROKEN_TAIL = 256, /* bytes behind a broken place, so that what stands there can be told */
};

const srv_capture *srv_capture_of(const srv_capture *captures, const char *name) {
    size_t i = 0;
    while (strcmp(srv_captured_fields[i].name, name) != 0)
        i++;
    return captures + i;
}

void srv_scan_begin(srv_scan *scan, srv_contract contract, srv_share *share, size_t max_text) {
    srv_number_prepare();
    memset(scan, 0, sizeof *scan);
    scan->contract = contract;
    scan->share = share;
    scan->max_text = max_text;
    scan->capture = SRV_CAPTURES;
    scan->nul = SIZE_MAX;
    for (size_t i = 0; i < SRV_CAPTURES; i++) {
        const srv_captured *captured =
            contract == SRV_CONTRACT_INFERENCE ? &captured_data : srv_captured_fields + i;
        scan->captures[i].nest.element = captured->element;
        scan->captures[i].nest.even = captured->even;
    }
}

void srv_scan_done(srv_scan *scan) {
    for (size_t i = 0; i < SRV_CAPTURES; i++) {
        srv_nest_done(&scan->captures[i].nest, scan->share);
        srv_buffer_done(&scan->captures[i].data, scan->share);
    }
    srv_buffer_done(&scan->text, scan->share);
    srv_buffer_done(&scan->marks, scan->share);
}

bool srv_scan_add(srv_scan *scan, const char *bytes, size_t size, srv_problem *problem) {
    if (scan->max_text > 0 && size > scan->max_text - scan->text.size)
        return srv_problem_set(problem, SRV_BODY_TOO_LARGE, SRV_WHERE_NONE, NULL,
                               "more than %zu bytes of JSON outside the tensors (setting limits.max_json)",
                               scan->max_text);
    return srv_buffer_append(&scan->text, bytes, size, scan->share, problem);
}

static const srv_mark *last_mark(const srv_scan *scan) {
    size_t count = scan->marks.size / sizeof(srv_mark);
    return count == 0 ? NULL : (const srv_mark *)scan->marks.data + count - 1;
}

bool srv_scan_keep(srv_scan *scan, size_t body, const char *bytes, size_t size, srv_problem *problem) {
    const srv_mark *last = last_mark(scan), mark = {scan->text.size, body};
    bool goes_on = last != NULL && body - last->body == mark.text - last->text;
    if (!goes_on && !srv_buffer_append(&scan->marks, &mark, sizeof mark, scan->share, problem)) return false;
    return srv_scan_add(scan, bytes, size, problem);
}

size_t srv_scan_offset(const srv_scan *scan, size_t at, bool is_next) {
    if (at >= scan->text.size) return scan->before;
    const srv_mark *marks = (const srv_mark *)scan->marks.data;
    size_t low = 0, high = scan->marks.size / sizeof *marks; /* the last one that counts is among these */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (marks[middle].text < at + is_next)
            low = middle;
        else
            high = middle;
    }
    return at < marks[low].text ? marks[low].body : marks[low].body + (at - marks[low].text);
}

/* Whether the last name is this one. */
static bool is_named(const srv_scan *scan, const char *name) {
    return srv_json_is_named(scan->text.data + scan->name, scan->name_end - scan->name, name);
}

static bool has_base64(const srv_scan *scan) {
    return srv_captured_fields[scan->capture].element != SRV_ELEMENT_ANY;
}

/* Whether objects among the elements of the present lists are tensors. */
static bool lists_tensors(srv_scan *scan) {
    const srv_nest *nest = srv_scan_nest(scan);
    return nest->lists_objects && nest->depth == 1 && has_base64(scan);
}

static void enter_tensor(srv_scan *scan) {
    scan->tensor_depth = scan->depth;
    scan->dtype = scan->dtype_end = 0;
}

/* The value of one of the fields begins with a bracket or brace. A second one is not looked at: Jansson will not get
 * past its name. */
static bool open_field(srv_scan *scan, size_t field, const char *at, srv_problem *problem) {
    scan->capture = field;
    if (scan->has_come[field]) {
        scan->mode = SRV_SCAN_BROKEN;
        return true;
    }
    scan->has_come[field] = true;
    if (*at == '[') return srv_scan_lists_begin(scan, problem);
    if (has_base64(scan)) enter_tensor(scan);
    return true;
}

/* A member's value that begins with a bracket or brace, of the contract of inference: in how many lists and objects that
 * is, is its `depth`. */
static bool open_of_inference(srv_scan *scan, size_t depth, const char *at, srv_problem *problem) {
    enum { TENSOR_DEPTH = 3 }; /* {"inputs": [{"data": … */
    if (depth == 1) scan->in_inputs = *at == '[' && is_named(scan, "inputs");
    bool is_data = depth == TENSOR_DEPTH && scan->in_inputs && *at == '[' && is_named(scan, "data");
    if (!is_data || scan->data_count == SRV_CAPTURES) return true;
    scan->capture = scan->data_count++;
    return srv_scan_lists_begin(scan, problem);
}

/* Any bracket or brace that opens, once it is in the text. */
static bool open_value(srv_scan *scan, const char *at, srv_problem *problem) {
    bool is_behind_colon = scan->after_colon, is_member = scan->depth == 1 && is_behind_colon;
    scan->after_colon = false;
    scan->depth++;
    if (scan->contract == SRV_CONTRACT_INFERENCE)
        return !is_behind_colon || open_of_inference(scan, scan->depth - 1, at, problem);
    for (size_t i = 0; i < SRV_CAPTURES && is_member; i++)
        if (is_named(scan, srv_captured_fields[i].name)) return open_field(scan, i, at, problem);
    if (scan->lists_depth > 0 && scan->depth == scan->lists_depth + 1 && lists_tensors(scan))
        enter_tensor(scan);
    return true;
}

/* A value that stands among captured lists has ended. */
static void go_back_to_lists(srv_scan *scan) {
    if (scan->lists_depth == 0 || scan->depth != scan->lists_depth) return;
    scan->mode = SRV_SCAN_LISTS;
    scan->behind = SRV_LIST_VALUE;
}

static void close_value(srv_scan *scan) {
    if (scan->tensor_depth == scan->depth) scan->tensor_depth = 0;
    if (scan->depth > 0) scan->depth--;
    scan->after_colon = false;
    go_back_to_lists(scan);
}

/* Behind the quote that ends a string, which is not in the text yet. */
static void end_string(srv_scan *scan) {
    bool is_member = scan->tensor_depth > 0 && scan->depth == scan->tensor_depth && scan->after_colon;
    scan->in_string = scan->after_colon = false;
    scan->string_end = scan->text.size;
    if (is_member && is_named(scan, "dtype")) {
        scan->dtype = scan->string;
        scan->dtype_end = scan->string_end;
    }
    go_back_to_lists(scan);
}

/* The inside of a string from `at` on, and the quote behind it. */
static const char *read_string(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    const char *from = at;
    for (; at < end && (scan->is_escaped || *at != '"'); at++)
        scan->is_escaped = !scan->is_escaped && *at == '\\';
    if (!srv_scan_keep(scan, srv_scan_at(scan, from), from, (size_t)(at - from), problem)) return NULL;
    if (at == end) return at;
    end_string(scan);
    return srv_scan_keep(scan, srv_scan_at(scan, at), at, 1, problem) ? at + 1 : NULL;
}

/* Beyond a few they are left out. */
static const char *read_blanks(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    const char *from = at;
    size_t kept = BLANKS_KEPT - scan->blanks;
    at = srv_json_skip_blanks(at, end);
    if (kept > (size_t)(at - from)) kept = (size_t)(at - from);
    scan->blanks += kept;
    return kept == 0 || srv_scan_keep(scan, srv_scan_at(scan, from), from, kept, problem) ? at : NULL;
}

/* Numbers, words, commas: what needs no looking at. */
static const char *read_plain(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    const char *from = at;
    while (at < end && !srv_json_is_blank(*at) && strchr("\"{}[]:", *at) == NULL)
        at++;
    scan->after_colon = false;
    return srv_scan_keep(scan, srv_scan_at(scan, from), from, (size_t)(at - from), problem) ? at : NULL;
}

static bool read_mark(srv_scan *scan, const char *at, srv_problem *problem) {
    if (!srv_scan_keep(scan, srv_scan_at(scan, at), at, 1, problem)) return false;
    switch (*at) {
    case '"':
        scan->string = scan->text.size;
        scan->in_string = true;
        if (scan->tensor_depth > 0 && scan->depth == scan->tensor_depth && scan->after_colon &&
            is_named(scan, "data"))
            return srv_scan_data_begin(scan, problem);
        return true;
    case ':':
        scan->name = scan->string;
        scan->name_end = scan->string_end;
        scan->after_colon = true;
        return true;
    case '{':
    case '[': return open_value(scan, at, problem);
    default: close_value(scan); return true;
    }
}

static const char *scan_rest(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    if (scan->in_string) return read_string(scan, at, end, problem);
    if (srv_json_is_blank(*at)) return read_blanks(scan, at, end, problem);
    scan->blanks = 0;
    if (*at == '\0') return srv_scan_nul(scan, at);
    if (strchr("\"{}[]:", *at) == NULL) return read_plain(scan, at, end, problem);
    return read_mark(scan, at, problem) ? at + 1 : NULL;
}

const char *srv_scan_nul(srv_scan *scan, const char *at) {
    scan->mode = SRV_SCAN_BROKEN;
    scan->nul = srv_scan_at(scan, at);
    scan->tail = BROKEN_TAIL;
    return at;
}

static const char *scan_tail(srv_scan *scan, const char *at, const char *end, srv_problem *problem) {
    size_t more = BROKEN_TAIL - scan->tail;
    if (more > (size_t)(end - at)) more = (size_t)(end - at);
    scan->tail += more;
    return more == 0 || srv_scan_keep(scan, srv_scan_at(scan, at), at, more, problem) ? end : NULL;
}

bool srv_scan_feed(srv_scan *scan, const char *piece, size_t size, srv_problem *problem) {
    const char *at = piece, *end = piece + size;
    scan->piece = piece;
    while (at != NULL && at < end) {
        switch (scan->mode) {
        case SRV_SCAN_REST: at = scan_rest(scan, at, end, problem); break;
        case SRV_SCAN_LISTS: at = srv_scan_lists(scan, at, end, problem); break;
        case SRV_SCAN_DATA: at = srv_scan_data(scan, at, end, problem); break;
        case SRV_SCAN_BROKEN: at = scan_tail(scan, at, end, problem); break;
        }
    }
    scan->before += size;
    scan->piece = NULL;
    return at != NULL;
}

bool srv_scan_end(srv_scan *scan, srv_problem *problem) {
    if (scan->mode == SRV_SCAN_LISTS) return srv_scan_lists_break(scan, scan->before, problem);
    if (scan->mode == SRV_SCAN_DATA) return srv_scan_data_break(scan, scan->before, problem);
    return true;
}
