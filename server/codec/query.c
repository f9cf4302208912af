/* Splitting and decoding of queries (query.h). The text is copied once and decoded in place: decoding never
 * makes it longer. */
#include "query.h"

#include "server/codec/utf8.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool fail(srv_problem *problem, const char *name, srv_problem_id id, const char *what) {
    return srv_problem_set(problem, id, SRV_WHERE_PARAMETER, name, "query parameter '%.64s': %s", name, what);
}

/* What is wrong with a piece of text, which is decoded in place; NULL: nothing. */
static const char *decode(char *text) {
    char *out = text;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '%') {
            int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
            if (low < 0) return "a '%' without two hexadecimal digits behind it";
            if (high == 0 && low == 0) return "%00; no name or value holds a NUL";
            *out++ = (char)(high * 16 + low);
            at += 2;
        } else {
            *out++ = *at == '+' ? ' ' : *at;
        }
    }
    *out = '\0';
    return srv_is_utf8(text) ? NULL : "bytes that are not UTF-8";
}

/* Cuts `value` at its commas into `values`, decoded. */
static const char *split_values(char *value, srv_parameter *parameter, const char **values) {
    const char *wrong = NULL;
    parameter->values = values;
    while (value != NULL && wrong == NULL) {
        char *piece = value;
        value = strchr(piece, ',');
        if (value != NULL) *value++ = '\0';
        wrong = decode(piece);
        values[parameter->count++] = piece;
    }
    return wrong;
}

static bool is_there(const srv_query *query, const char *name) {
    for (size_t i = 0; i < query->count; i++)
        if (strcmp(query->parameters[i].name, name) == 0) return true;
    return false;
}

/* One name=value piece. Returns how many values it took. */
static size_t add_piece(srv_query *query, char *piece, const char **values, srv_problem *problem) {
    static char nothing[1];
    srv_parameter parameter = {.name = piece};
    char *value = strchr(piece, '=');
    if (value != NULL) *value++ = '\0';
    const char *wrong = decode(piece);
    if (wrong == NULL) wrong = split_values(value == NULL ? nothing : value, &parameter, values);
    if (wrong != NULL) {
        fail(problem, piece, SRV_BAD_PARAMETER, wrong);
    } else if (is_there(query, piece)) {
        fail(problem, piece, SRV_BAD_PARAMETER, "given twice; once is expected, lists being split at commas");
    } else {
        query->parameters[query->count++] = parameter;
    }
    return parameter.count;
}

static size_t count_of(const char *text, size_t size, char wanted) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == wanted;
    return count;
}

/* No request has so many options; the bound keeps the search for repeated names short. */
enum { MAX_PARAMETERS = 64 };

bool srv_query_split(const char *text, size_t size, srv_query *out, srv_problem *problem) {
    *out = (srv_query){0};
    if (text == NULL || size == 0) return true;
    size_t pieces = count_of(text, size, '&') + 1, items = pieces + count_of(text, size, ',');
    if (pieces > MAX_PARAMETERS)
        return srv_problem_set(problem, SRV_BAD_PARAMETER, SRV_WHERE_PARAMETER, "",
                               "a query of %zu parameters; at most %d are expected", pieces, MAX_PARAMETERS);
    /* One allocation: the parameters, the places of the values, the text. */
    size_t table = pieces * sizeof *out->parameters, places = items * sizeof(char *);
    char *storage = malloc(table + places + size + 1);
    if (storage == NULL)
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the query");
    out->storage = out->parameters = (srv_parameter *)(void *)storage;
    const char **values = (const char **)(void *)(storage + table);
    char *copy = storage + table + places;
    memcpy(copy, text, size);
    copy[size] = '\0';
    for (char *rest = copy; rest != NULL;) {
        char *piece = rest;
        rest = strchr(piece, '&');
        if (rest != NULL) *rest++ = '\0';
        if (*piece != '\0') values += add_piece(out, piece, values, problem);
    }
    return problem->id == SRV_NO_PROBLEM;
}

void srv_query_done(srv_query *query) {
    free(query->storage);
    *query = (srv_query){0};
}
