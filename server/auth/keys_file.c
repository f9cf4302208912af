/* Reading the file of keys (keys.h): all that is wrong with it is told at once, each with its place. Main thread. */
#include "keys.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *path;
    srv_text *problems;
    bool is_wrong;
} reader;

/* What numbers a key may have: at the least one request in three hours, at the most beyond what a daemon answers. */
static const double LEAST_RATE = 1e-4, MOST = 1e6;

/* "file PATH, PLACE: text"; without a place: "file PATH: text". */
__attribute__((format(printf, 3, 4))) static void complain(reader *r, const char *place, const char *format,
                                                           ...) {
    char text[512], line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "file %.300s%s%s: %s", r->path, place ? ", " : "", place ? place : "", text);
    for (char *c = line; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    }
    srv_text_append_string(r->problems, line);
    srv_text_append_string(r->problems, "\n");
    r->is_wrong = true;
}

enum { PLACE_SIZE = 128 };

/* What stands there, without its value (keys.h). NULL: no member of that name. */
static const char *found(const json_t *value) {
    if (!value) return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return json_array_size(value) == 0 ? "an empty list" : "a list";
    case JSON_STRING: return json_string_length(value) == 0 ? "an empty string" : "a string";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    case JSON_NULL: break;
    }
    return "null";
}

static const char *place_of(char place[PLACE_SIZE], size_t index, const char *member) {
    snprintf(place, PLACE_SIZE, "keys[%zu]%s%.60s", index, member ? "." : "", member ? member : "");
    return place;
}

static void read_name(reader *r, size_t index, const json_t *value, srv_key *out) {
    char place[PLACE_SIZE];
    const char *name = json_string_value(value);
    if (name && strlen(name) == json_string_length(value) && srv_key_name_is_valid(name))
        memcpy(out->name, name, strlen(name) + 1);
    else
        complain(r, place_of(place, index, "name"),
                 "found %s%s; 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-' belong here", found(value),
                 name && *name ? " that is no name" : "");
}

static bool read_hex(const char *text, unsigned char out[SRV_KEY_DIGEST_SIZE]) {
    if (strlen(text) != 2 * SRV_KEY_DIGEST_SIZE || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
        return false;
    for (size_t i = 0; i < SRV_KEY_DIGEST_SIZE; i++) {
        const char pair[] = {text[2 * i], text[2 * i + 1], '\0'};
        out[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return true;
}

static void read_digest(reader *r, size_t index, const json_t *value, srv_key *out) {
    char place[PLACE_SIZE];
    const char *text = json_string_value(value);
    if (!text || !read_hex(text, out->digest))
        complain(r, place_of(place, index, "sha256"),
                 "found %s%s; the SHA-256 of a key, 64 hexadecimal digits, belongs here; `attnd key NAME` "
                 "makes both",
                 found(value), text && *text ? " that is none" : "");
}

static srv_right right_named(const char *name) {
    for (srv_right right = SRV_RIGHT_NONE + 1; name && right < SRV_RIGHTS_END; right++) {
        if (strcmp(srv_right_name(right), name) == 0) return right;
    }
    return SRV_RIGHT_NONE;
}

static void read_rights(reader *r, size_t index, const json_t *value, srv_key *out) {
    char place[PLACE_SIZE];
    if (json_array_size(value) == 0) /* 0 for what is no list */
        complain(r, place_of(place, index, "rights"), "found %s; a list of infer, read, metrics belongs here",
                 found(value));
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        srv_right right = right_named(json_string_value(item));
        char member[32];
        snprintf(member, sizeof member, "rights[%zu]", i);
        if (right == SRV_RIGHT_NONE)
            complain(r, place_of(place, index, member), "found %s%s; infer, read or metrics belongs here",
                     found(item), json_string_length(item) > 0 ? " that is no right" : "");
        out->rights |= 1U << right;
    }
}

/* A number of the range; 0, with a complaint where it is something else than absent, if not. */
static double read_number(reader *r, size_t index, const char *member, const json_t *value, double least) {
    char place[PLACE_SIZE];
    double number = json_number_value(value);
    if (!value) return 0;
    if (json_is_number(value) && number >= least && number <= MOST) return number;
    complain(r, place_of(place, index, member), "found %s; a number from %.7g to %.7g belongs here",
             !json_is_number(value) ? found(value)
             : number < least       ? "a smaller number"
                                    : "a greater number",
             least, MOST);
    return 0;
}

static void read_limits(reader *r, size_t index, const json_t *entry, srv_key *out) {
    char place[PLACE_SIZE];
    const json_t *rate = json_object_get(entry, "rate"), *burst = json_object_get(entry, "burst");
    out->per_second = read_number(r, index, "rate", rate, LEAST_RATE);
    out->burst = read_number(r, index, "burst", burst, 1);
    if (burst && !rate) complain(r, place_of(place, index, "burst"), "without a rate it limits nothing");
    if (out->per_second == 0) return;
    if (out->burst == 0) out->burst = fmax(1, out->per_second);
    srv_rate_init(&out->rate, out->per_second, out->burst);
}

static void check_members(reader *r, size_t index, json_t *entry) {
    static const char *const known[] = {"name", "sha256", "rights", "rate", "burst"};
    const char *member;
    json_t *value;
    json_object_foreach(entry, member, value) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || strcmp(known[i], member) == 0;
        char place[PLACE_SIZE];
        if (!is_known)
            complain(r, place_of(place, index, NULL),
                     "unknown member '%.40s'; a key has name, sha256, rights, rate, burst", member);
    }
}

/* Two of one name could not be told apart in the log, two of one digest not at all. */
static void check_others(reader *r, const srv_keys *before, const srv_key *key) {
    char place[PLACE_SIZE];
    static const unsigned char NO_DIGEST[SRV_KEY_DIGEST_SIZE];
    for (size_t i = 0; i < before->count; i++) {
        const srv_key *other = &before->items[i];
        if (key->name[0] && strcmp(other->name, key->name) == 0)
            complain(r, place_of(place, before->count, "name"), "the name of keys[%zu] too", i);
        if (memcmp(other->digest, key->digest, sizeof key->digest) == 0 &&
            memcmp(NO_DIGEST, key->digest, sizeof key->digest) != 0)
            complain(r, place_of(place, before->count, "sha256"), "the digest of keys[%zu] too", i);
    }
}

static void read_key(reader *r, json_t *entry, srv_keys *out) {
    char place[PLACE_SIZE];
    size_t index = out->count;
    srv_key *key = &out->items[index];
    if (!json_is_object(entry)) {
        complain(r, place_of(place, index, NULL),
                 "found %s; an object with name, sha256 and rights belongs here", found(entry));
    } else {
        read_name(r, index, json_object_get(entry, "name"), key);
        read_digest(r, index, json_object_get(entry, "sha256"), key);
        read_rights(r, index, json_object_get(entry, "rights"), key);
        read_limits(r, index, entry, key);
        check_members(r, index, entry);
        check_others(r, out, key);
    }
    out->count++;
}

static srv_keys *read_list(reader *r, const json_t *list) {
    size_t count = json_array_size(list); /* 0 for what is no list */
    if (count == 0 || count > SRV_KEYS_MOST) {
        complain(r, "keys", "found %s%s; a list of 1 to %d keys belongs here", found(list),
                 count > 0 ? " of more" : "", SRV_KEYS_MOST);
        return NULL;
    }
    srv_keys *keys = calloc(1, sizeof *keys + count * sizeof *keys->items);
    if (!keys) {
        complain(r, NULL, "no memory for %zu keys", count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        read_key(r, json_array_get(list, i), keys);
    return keys;
}

static srv_keys *read_document(reader *r, json_t *document) {
    const char *member;
    json_t *value;
    if (!json_is_object(document)) {
        complain(r, NULL, "found %s; an object {\"keys\": [...]} belongs here", found(document));
        return NULL;
    }
    json_object_foreach(document, member, value) {
        if (strcmp(member, "keys") != 0) complain(r, NULL, "unknown member '%.40s'; 'keys' is known", member);
    }
    return read_list(r, json_object_get(document, "keys"));
}

srv_keys *srv_keys_load(const char *path, srv_text *problems) {
    reader r = {.path = path, .problems = problems};
    json_error_t error;
    srv_keys *keys = NULL;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (document)
        keys = read_document(&r, document);
    else if (error.line > 0)
        complain(&r, NULL, "no strict JSON at line %d, column %d: a fault of its syntax, or a doubled member",
                 error.line, error.column);
    else
        complain(&r, NULL, "%s", error.text);
    json_decref(document);
    if (!r.is_wrong) return keys;
    srv_keys_free(keys);
    return NULL;
}
