/* The setter behind every source: text in, a checked value in the settings, or a problem with its origin.
 *
 * Strings are copied, never borrowed. One thread. */
#include "draft.h"
#include "origin.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cfg_problem(cfg_problems *problems, const char *origin, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    size_t size = strlen(origin) + strlen(text) + sizeof ": ";
    char *line = malloc(size);
    char **lines = realloc(problems->lines, (problems->count + 1) * sizeof *lines);
    if (lines) problems->lines = lines;
    if (!line || !lines) {
        problems->out_of_memory = true;
        free(line);
        return;
    }
    snprintf(line, size, "%s: %s", origin, text);
    for (char *c = line; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    }
    problems->lines[problems->count++] = line;
}

void cfg_problem_unknown(cfg_problems *problems, const char *origin, cfg_name by, const cfg_own_flag *own,
                         const char *name, size_t length) {
    static const struct {
        const char *what, *all;
    } names[] = {[CFG_BY_PATH] = {"setting", "'attnd help serve' lists the settings"},
                 [CFG_BY_FLAG] = {"flag", "--help lists the flags"},
                 [CFG_BY_ENVIRONMENT] = {"variable", "'attnd help serve' lists the variables"}};
    const char *nearest = cfg_row_nearest(by, own, name, length);
    if (nearest)
        cfg_problem(problems, origin, "unknown; the nearest %s is %s", names[by].what, nearest);
    else
        cfg_problem(problems, origin, "unknown; %s", names[by].all);
}

/* Makes room for one more element; NULL (and a note) without memory. */
static void *grow(cfg_draft *draft, void *list, size_t count, size_t size) {
    void *grown = realloc(list, (count + 1) * size);
    if (!grown) draft->problems->out_of_memory = true;
    return grown;
}

static char *copy(cfg_draft *draft, const char *text, size_t length) {
    char *copied = strndup(text, length);
    if (!copied) draft->problems->out_of_memory = true;
    return copied;
}

static void listen_clear(cfg_settings *settings) {
    for (size_t i = 0; i < settings->listen_count; i++)
        free(settings->listen[i].host);
    settings->listen_count = 0;
}

static void models_clear(cfg_settings *settings) {
    for (size_t i = 0; i < settings->model_count; i++) {
        free(settings->models[i].name);
        free(settings->models[i].path);
    }
    settings->model_count = 0;
}

/* Reads decimal digits up to `end`; false where there are none, others, or too many. */
static bool read_digits(const char *text, const char *end, size_t *out) {
    size_t number = 0;
    if (text == end) return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(number, (size_t)10, &number) ||
            __builtin_add_overflow(number, (size_t)(*text - '0'), &number))
            return false;
    }
    *out = number;
    return true;
}

static void set_count(cfg_draft *draft, const cfg_row *row, const char *origin, const char *text,
                      size_t *out) {
    size_t number;
    if (!read_digits(text, text + strlen(text), &number) || number < row->least || number > row->most) {
        cfg_problem(draft->problems, origin, "'%s' is not a whole number from %zu to %zu", text, row->least,
                    row->most);
        return;
    }
    *out = number;
}

static void set_bytes(cfg_draft *draft, const cfg_row *row, const char *origin, const char *text,
                      size_t *out) {
    static const struct {
        const char *name;
        size_t bytes;
    } units[] = {{"KiB", (size_t)1 << 10}, {"MiB", (size_t)1 << 20}, {"GiB", (size_t)1 << 30}, {"", 1}};
    size_t length = strlen(text), unit_length, number;
    for (size_t i = 0;; i++) {
        unit_length = strlen(units[i].name);
        if (unit_length > length || strcmp(text + length - unit_length, units[i].name) != 0) continue;
        if (!read_digits(text, text + length - unit_length, &number) ||
            __builtin_mul_overflow(number, units[i].bytes, &number) || number < row->least ||
            number > row->most)
            break;
        *out = number;
        return;
    }
    cfg_problem(draft->problems, origin,
                "'%s' is not a number of bytes from %zu to %zu, such as 1048576, 64KiB, 256MiB or 2GiB", text,
                row->least, row->most);
}

static void set_choice(cfg_draft *draft, const cfg_row *row, const char *origin, const char *text, int *out) {
    char known[256] = "";
    for (int i = 0; row->choices[i]; i++) {
        if (strcmp(row->choices[i], text) == 0) {
            *out = i;
            return;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", row->choices[i]);
    }
    cfg_problem(draft->problems, origin, "'%s' is not one of %s", text, known);
}

static void texts_clear(cfg_texts *texts) {
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    texts->count = 0;
}

static void set_text(cfg_draft *draft, const char *origin, const char *text, char **out) {
    if (text[0] == '\0') {
        cfg_problem(draft->problems, origin, "an empty value; a text belongs here");
        return;
    }
    free(*out);
    *out = copy(draft, text, strlen(text));
}

static cfg_texts *texts_of(cfg_draft *draft, const cfg_row *row) {
    return (cfg_texts *)(void *)((char *)&draft->settings + row->offset);
}

static cfg_source *texts_source(cfg_draft *draft, const cfg_row *row) {
    return row->kind == CFG_KIND_HOSTS ? &draft->hosts_source : &draft->cors_origins_source;
}

/* Whether a request can match it; false after a complaint. */
static bool check_text(cfg_draft *draft, const cfg_row *row, const char *origin, const char *text) {
    if (row->kind == CFG_KIND_ORIGINS) {
        const char *wanted = cfg_origin_wanted(text);
        if (wanted)
            cfg_problem(draft->problems, origin, "'%s' is not an origin as browsers send it: %s", text,
                        wanted);
        return !wanted;
    }
    if (cfg_is_host(text)) return true;
    cfg_problem(draft->problems, origin,
                "'%s' is not a name or address without scheme and port, such as api.example.com, 10.0.0.7 or "
                "[fd00::7]; or * for any",
                text);
    return false;
}

static void add_text(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin,
                     const char *text) {
    cfg_texts *texts = texts_of(draft, row);
    cfg_source *before = texts_source(draft, row);
    if (source != *before) texts_clear(texts);
    *before = source;
    if (!check_text(draft, row, origin, text)) return;
    char **grown = grow(draft, texts->items, texts->count, sizeof *grown);
    if (!grown) return;
    texts->items = grown;
    char *copied = copy(draft, text, strlen(text));
    if (copied) texts->items[texts->count++] = copied;
}

/* HOST:PORT, with an IPv6 address in brackets. */
static void set_listen(cfg_draft *draft, cfg_source source, const char *origin, const char *text) {
    const char *colon = strrchr(text, ':'), *host = text, *host_end = colon;
    size_t port = 0;
    bool fine = colon && read_digits(colon + 1, text + strlen(text), &port) && port <= 65535;
    if (fine && *host == '[') {
        host++;
        fine = *--host_end == ']';
    } else if (fine) {
        fine = memchr(host, ':', (size_t)(host_end - host)) == NULL;
    }
    if (!fine || host >= host_end) {
        cfg_problem(draft->problems, origin,
                    "'%s' is not HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or 127.0.0.1:0", text);
        return;
    }
    cfg_settings *settings = &draft->settings;
    if (source != draft->listen_source) listen_clear(settings);
    draft->listen_source = source;
    cfg_listen *grown = grow(draft, settings->listen, settings->listen_count, sizeof *grown);
    if (!grown) return;
    settings->listen = grown;
    char *copied = copy(draft, host, (size_t)(host_end - host));
    if (copied)
        settings->listen[settings->listen_count++] = (cfg_listen){.host = copied, .port = (uint16_t)port};
}

static cfg_model *model_named(cfg_settings *settings, const char *name, size_t length) {
    for (size_t i = 0; i < settings->model_count; i++) {
        const char *known = settings->models[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) return &settings->models[i];
    }
    return NULL;
}

static void set_model(cfg_draft *draft, cfg_source source, const char *origin, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        cfg_problem(draft->problems, origin, "'%s' is not NAME=PATH, such as mine=weights.safetensors", text);
        return;
    }
    cfg_settings *settings = &draft->settings;
    if (source != draft->models_source) models_clear(settings);
    draft->models_source = source;
    size_t length = (size_t)(equals - text);
    if (model_named(settings, text, length)) {
        cfg_problem(draft->problems, origin, "model '%.*s' is given twice", (int)(length < 99 ? length : 99),
                    text);
        return;
    }
    cfg_model *grown = grow(draft, settings->models, settings->model_count, sizeof *grown);
    if (!grown) return;
    settings->models = grown;
    cfg_model model = {.name = copy(draft, text, length),
                       .path = copy(draft, equals + 1, strlen(equals + 1))};
    if (model.name && model.path) {
        settings->models[settings->model_count++] = model;
    } else {
        free(model.name);
        free(model.path);
    }
}

/* Whether this source has no heads for the model yet; false after a complaint. The file's models stand there once. */
static bool check_heads_once(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin,
                             const char *name, size_t length) {
    for (size_t i = 0; source != CFG_FROM_FILE && i < draft->head_count_count; i++) {
        const cfg_head_count *before = &draft->head_counts[i];
        if (before->row != row || before->source != source || strlen(before->model) != length ||
            memcmp(before->model, name, length) != 0)
            continue;
        cfg_problem(draft->problems, origin, "the heads of model '%.*s' are given twice",
                    (int)(length < 99 ? length : 99), name);
        return false;
    }
    return true;
}

static void set_heads(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin,
                      const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        cfg_problem(draft->problems, origin, "'%s' is not NAME=H, such as mine=8", text);
        return;
    }
    size_t heads = 0;
    set_count(draft, row, origin, equals + 1, &heads);
    if (heads == 0 || !check_heads_once(draft, row, source, origin, text, (size_t)(equals - text))) return;
    cfg_head_count *grown = grow(draft, draft->head_counts, draft->head_count_count, sizeof *grown);
    if (!grown) return;
    draft->head_counts = grown;
    cfg_head_count entry = {.model = copy(draft, text, (size_t)(equals - text)),
                            .heads = heads,
                            .row = row,
                            .kv = row->kind == CFG_KIND_KV_HEADS,
                            .source = source,
                            .origin = copy(draft, origin, strlen(origin))};
    if (entry.model && entry.origin) {
        draft->head_counts[draft->head_count_count++] = entry;
    } else {
        free(entry.model);
        free(entry.origin);
    }
}

void cfg_draft_init(cfg_draft *draft, cfg_problems *problems) {
    *draft = (cfg_draft){.problems = problems};
    draft->settings.sources = calloc(cfg_row_count, sizeof *draft->settings.sources);
    if (!draft->settings.sources) problems->out_of_memory = true;
}

static void note_source(cfg_draft *draft, const cfg_row *row, cfg_source source) {
    if (draft->settings.sources) draft->settings.sources[row - cfg_rows] = source;
}

void cfg_draft_set(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin,
                   const char *text) {
    char *place = (char *)&draft->settings + row->offset;
    switch (row->kind) {
    case CFG_KIND_COUNT: set_count(draft, row, origin, text, (size_t *)(void *)place); break;
    case CFG_KIND_BYTES: set_bytes(draft, row, origin, text, (size_t *)(void *)place); break;
    case CFG_KIND_CHOICE: set_choice(draft, row, origin, text, (int *)(void *)place); break;
    case CFG_KIND_TEXT: set_text(draft, origin, text, (char **)(void *)place); break;
    case CFG_KIND_HOSTS:
    case CFG_KIND_ORIGINS: add_text(draft, row, source, origin, text); break;
    case CFG_KIND_LISTEN: set_listen(draft, source, origin, text); break;
    case CFG_KIND_MODEL: set_model(draft, source, origin, text); break;
    case CFG_KIND_HEADS:
    case CFG_KIND_KV_HEADS: set_heads(draft, row, source, origin, text); break;
    case CFG_KIND_CONFIG: break; /* the loader has opened it already */
    }
    /* Heads come to count when their model is known. */
    if (row->kind != CFG_KIND_HEADS && row->kind != CFG_KIND_KV_HEADS) note_source(draft, row, source);
}

void cfg_draft_set_empty(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin) {
    if (row->kind == CFG_KIND_HOSTS || row->kind == CFG_KIND_ORIGINS) {
        cfg_texts *texts = texts_of(draft, row);
        texts_clear(texts);
        *texts_source(draft, row) = source;
    } else if (row->kind == CFG_KIND_MODEL) {
        models_clear(&draft->settings);
        draft->models_source = source;
    } else {
        cfg_problem(draft->problems, origin, "an empty list; %s belongs here", row->value);
    }
    note_source(draft, row, source);
}

void cfg_draft_set_list(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin,
                        const char *text) {
    if (!cfg_row_is_list(row)) {
        cfg_draft_set(draft, row, source, origin, text);
        return;
    }
    for (const char *start = text, *end; start; start = *end ? end + 1 : NULL) {
        end = start + strcspn(start, ",");
        char *one = copy(draft, start, (size_t)(end - start));
        if (one) cfg_draft_set(draft, row, source, origin, one);
        free(one);
    }
}

void cfg_draft_finish(cfg_draft *draft) {
    for (size_t i = 0; i < draft->head_count_count; i++) {
        const cfg_head_count *entry = &draft->head_counts[i];
        cfg_model *model = model_named(&draft->settings, entry->model, strlen(entry->model));
        /* The file's heads go with the file's models; both are gone where a flag names other models. */
        if (entry->source == CFG_FROM_FILE && draft->models_source != CFG_FROM_FILE) continue;
        if (model && entry->kv) model->kv_heads = entry->heads;
        if (model && !entry->kv) model->heads = entry->heads;
        if (model) note_source(draft, entry->row, entry->source);
        if (!model) {
            cfg_problem(draft->problems, entry->origin,
                        "no model '%s' is configured; --model %s=PATH does that", entry->model, entry->model);
        }
    }
}

void cfg_draft_done(cfg_draft *draft) {
    for (size_t i = 0; i < draft->head_count_count; i++) {
        free(draft->head_counts[i].model);
        free(draft->head_counts[i].origin);
    }
    free(draft->head_counts);
    cfg_settings_done(&draft->settings);
    *draft = (cfg_draft){0};
}

void cfg_settings_done(cfg_settings *settings) {
    listen_clear(settings);
    models_clear(settings);
    texts_clear(&settings->hosts);
    texts_clear(&settings->cors_origins);
    free(settings->keys_file);
    free(settings->hosts.items);
    free(settings->cors_origins.items);
    free(settings->listen);
    free(settings->models);
    free(settings->file);
    free(settings->sources);
    free(settings->arguments);
    *settings = (cfg_settings){0};
}

void cfg_problems_done(cfg_problems *problems) {
    for (size_t i = 0; i < problems->count; i++)
        free(problems->lines[i]);
    free(problems->lines);
    *problems = (cfg_problems){0};
}
