/* The settings file: strict JSON (RFC 8259), objects and members as the table's paths say. Refuses unknown
 * and doubled members, and values of another type than the setting's. One thread; keeps nothing of the
 * document. */
#include "draft.h"

#include <jansson.h>
#include <string.h>

enum { ORIGIN_SIZE = 512, PATH_SIZE = 192 };

typedef struct reader {
    cfg_draft *draft;
    const char *file;
} reader;

static void make_origin(const reader *r, const char *path, char origin[ORIGIN_SIZE]) {
    snprintf(origin, ORIGIN_SIZE, "file %s, %s", r->file, path);
}

static const char *type_name(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "a whole number";
    case JSON_REAL: return "a number with a fraction or an exponent";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    case JSON_NULL: return "null";
    }
    return "something else";
}

static void wrong_type(const reader *r, const char *path, const json_t *value, const char *wanted) {
    char origin[ORIGIN_SIZE];
    make_origin(r, path, origin);
    cfg_problem(r->draft->problems, origin, "%s; %s belongs here", type_name(value), wanted);
}

/* A string or whole number as text; NULL for another type. */
static const char *scalar_text(const json_t *value, char buffer[32]) {
    if (json_is_string(value)) {
        /* A NUL inside would silently cut the value. */
        return strlen(json_string_value(value)) == json_string_length(value) ? json_string_value(value)
                                                                             : NULL;
    }
    if (!json_is_integer(value)) return NULL;
    snprintf(buffer, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return buffer;
}

static void set_scalar(const reader *r, const cfg_row *row, const char *path, const json_t *value) {
    char origin[ORIGIN_SIZE], buffer[32];
    const char *text = scalar_text(value, buffer);
    bool number = row->kind == CFG_KIND_COUNT || row->kind == CFG_KIND_BYTES;
    bool string = row->kind != CFG_KIND_COUNT;
    if (!text || (json_is_integer(value) && !number) || (json_is_string(value) && !string)) {
        wrong_type(r, path, value,
                   number ? string ? "a whole number or a string such as \"256MiB\"" : "a whole number"
                          : "a string");
        return;
    }
    make_origin(r, path, origin);
    cfg_draft_set(r->draft, row, CFG_FROM_FILE, origin, text);
}

static void set_empty(const reader *r, const cfg_row *row) {
    char origin[ORIGIN_SIZE];
    make_origin(r, row->path, origin);
    cfg_draft_set_empty(r->draft, row, CFG_FROM_FILE, origin);
}

static void set_strings(const reader *r, const cfg_row *row, const json_t *list) {
    if (!json_is_array(list)) {
        wrong_type(r, row->path, list, "a list of strings");
        return;
    }
    if (json_array_size(list) == 0) set_empty(r, row);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s[%zu]", row->path, i);
        set_scalar(r, row, path, json_array_get(list, i));
    }
}

/* heads and kv_heads of a model, as NAME=H for the setter. */
static void set_model_heads(const reader *r, const char *name, const char *path, const char *member,
                            const json_t *value) {
    char known[64], origin[ORIGIN_SIZE], text[PATH_SIZE], buffer[32];
    int length = snprintf(known, sizeof known, "models[].%.40s", member);
    const cfg_row *row = cfg_row_find(CFG_BY_PATH, known, (size_t)length);
    make_origin(r, path, origin);
    if (!row) {
        cfg_problem(r->draft->problems, origin, "unknown; a model has name, path, heads, kv_heads");
    } else if (!json_is_integer(value)) {
        wrong_type(r, path, value, "a whole number");
    } else {
        snprintf(text, sizeof text, "%.100s=%s", name, scalar_text(value, buffer));
        cfg_draft_set(r->draft, row, CFG_FROM_FILE, origin, text);
    }
}

/* Whether a model has a string there; false after a complaint. */
static bool has_string(const reader *r, const json_t *model, const char *path, const char *member) {
    const json_t *value = json_object_get(model, member);
    char place[PATH_SIZE], origin[ORIGIN_SIZE];
    if (json_is_string(value)) return true;
    snprintf(place, sizeof place, "%.60s.%s", path, member);
    if (value) {
        wrong_type(r, place, value, "a string");
    } else {
        make_origin(r, place, origin);
        cfg_problem(r->draft->problems, origin, "nothing; a string belongs here");
    }
    return false;
}

static void set_model(const reader *r, const cfg_row *row, const char *path, json_t *model) {
    const char *name = json_string_value(json_object_get(model, "name"));
    const char *file = json_string_value(json_object_get(model, "path"));
    if (!json_is_object(model)) {
        wrong_type(r, path, model, "an object with the strings name and path");
        return;
    }
    bool has_name = has_string(r, model, path, "name"), has_path = has_string(r, model, path, "path");
    if (!has_name || !has_path) return;
    char origin[ORIGIN_SIZE], text[4096 + PATH_SIZE];
    make_origin(r, path, origin);
    snprintf(text, sizeof text, "%.100s=%s", name, file);
    cfg_draft_set(r->draft, row, CFG_FROM_FILE, origin, text);

    const char *member;
    json_t *value;
    json_object_foreach(model, member, value) {
        if (strcmp(member, "name") == 0 || strcmp(member, "path") == 0) continue;
        char member_path[PATH_SIZE];
        snprintf(member_path, sizeof member_path, "%.60s.%.100s", path, member);
        set_model_heads(r, name, member_path, member, value);
    }
}

static void set_models(const reader *r, const cfg_row *row, json_t *list) {
    if (!json_is_array(list)) {
        wrong_type(r, row->path, list, "a list of objects with name and path");
        return;
    }
    if (json_array_size(list) == 0) set_empty(r, row);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "models[%zu]", i);
        set_model(r, row, path, json_array_get(list, i));
    }
}

/* Whether some setting's path begins with this name and a dot. */
static bool is_group(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < cfg_row_count; i++) {
        const char *known = cfg_rows[i].path;
        if (known && strncmp(known, path, length) == 0 && known[length] == '.') return true;
    }
    return false;
}

/* One member of the document, at most two levels deep. */
static void set_member(const reader *r, const char *path, json_t *value) {
    const cfg_row *row = cfg_row_find(CFG_BY_PATH, path, strlen(path));
    if (row &&
        (row->kind == CFG_KIND_LISTEN || row->kind == CFG_KIND_HOSTS || row->kind == CFG_KIND_ORIGINS)) {
        set_strings(r, row, value);
    } else if (row && row->kind == CFG_KIND_MODEL) {
        set_models(r, row, value);
    } else if (row && row->kind != CFG_KIND_HEADS && row->kind != CFG_KIND_KV_HEADS) {
        set_scalar(r, row, path, value);
    } else if (is_group(path) && !json_is_object(value)) {
        wrong_type(r, path, value, "an object");
    } else if (is_group(path)) {
        const char *member;
        json_t *inner;
        json_object_foreach(value, member, inner) {
            char inner_path[PATH_SIZE];
            snprintf(inner_path, sizeof inner_path, "%.60s.%.100s", path, member);
            set_member(r, inner_path, inner);
        }
    } else {
        char origin[ORIGIN_SIZE];
        make_origin(r, path, origin);
        cfg_problem_unknown(r->draft->problems, origin, CFG_BY_PATH, NULL, path, strlen(path));
    }
}

void cfg_file_read(cfg_draft *draft, const char *path) {
    reader r = {draft, path};
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    char origin[ORIGIN_SIZE];
    if (!document) {
        snprintf(origin, sizeof origin, error.line > 0 ? "file %s, line %d" : "file %s", path, error.line);
        cfg_problem(draft->problems, origin, "%s", error.text);
        return;
    }
    if (!json_is_object(document)) {
        snprintf(origin, sizeof origin, "file %s", path);
        cfg_problem(draft->problems, origin, "%s; an object belongs here", type_name(document));
    } else {
        const char *member;
        json_t *value;
        json_object_foreach(document, member, value) set_member(&r, member, value);
    }
    json_decref(document);
}
