/* Settings as they stand, read back by the table: what `attnd config` prints, and numbers by name. Any
 * thread. */
#include "schema.h"

#include <stdlib.h>

static const void *place_of(const cfg_settings *settings, const cfg_row *row) {
    return (const char *)settings + row->offset;
}

static void show_bytes(size_t bytes, FILE *out) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    while (unit < 3 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    fprintf(out, "%zu%s", bytes, units[unit]);
}

static void show_listen(const cfg_settings *settings, FILE *out) {
    for (size_t i = 0; i < settings->listen_count; i++) {
        const char *host = settings->listen[i].host;
        bool is_v6 = false;
        for (const char *c = host; *c; c++)
            is_v6 = is_v6 || *c == ':';
        fprintf(out, is_v6 ? "%s[%s]:%u" : "%s%s:%u", i ? "," : "", host, (unsigned)settings->listen[i].port);
    }
}

static void show_texts(const cfg_texts *texts, FILE *out) {
    for (size_t i = 0; i < texts->count; i++)
        fprintf(out, "%s%s", i ? "," : "", texts->items[i]);
}

static void show_models(const cfg_settings *settings, cfg_kind kind, FILE *out) {
    const char *comma = "";
    for (size_t i = 0; i < settings->model_count; i++) {
        const cfg_model *model = &settings->models[i];
        size_t heads = kind == CFG_KIND_KV_HEADS ? model->kv_heads : model->heads;
        if (kind != CFG_KIND_MODEL && heads == 0) continue;
        fprintf(out, "%s%s=", comma, model->name);
        if (kind == CFG_KIND_MODEL)
            fputs(model->path, out);
        else
            fprintf(out, "%zu", heads);
        comma = ",";
    }
}

static void show_value(const cfg_settings *settings, const cfg_row *row, FILE *out) {
    const void *place = place_of(settings, row);
    switch (row->kind) {
    case CFG_KIND_COUNT: fprintf(out, "%zu", *(const size_t *)place); break;
    case CFG_KIND_BYTES: show_bytes(*(const size_t *)place, out); break;
    case CFG_KIND_CHOICE: fputs(row->choices[*(const int *)place], out); break;
    case CFG_KIND_TEXT: fputs(*(char *const *)place ? *(char *const *)place : "", out); break;
    case CFG_KIND_HOSTS:
    case CFG_KIND_ORIGINS: show_texts(place, out); break;
    case CFG_KIND_LISTEN: show_listen(settings, out); break;
    case CFG_KIND_MODEL:
    case CFG_KIND_HEADS:
    case CFG_KIND_KV_HEADS: show_models(settings, row->kind, out); break;
    case CFG_KIND_CONFIG: fputs(settings->file ? settings->file : "", out); break;
    }
}

static void show_origin(const cfg_settings *settings, const cfg_row *row, FILE *out) {
    switch (settings->sources[row - cfg_rows]) {
    case CFG_FROM_DEFAULT: fputs("default", out); break;
    case CFG_FROM_FILE: fprintf(out, "file %s", settings->file); break;
    case CFG_FROM_ENVIRONMENT: fprintf(out, "environment %s", row->environment); break;
    case CFG_FROM_FLAG: fprintf(out, "flag %s", row->flag); break;
    }
}

/* The value as one line of text, malloc'ed; "-" for none. NULL without memory. */
static char *value_text(const cfg_settings *settings, const cfg_row *row) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    show_value(settings, row, out);
    if (fflush(out) == 0 && size == 0) fputc('-', out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    }
    return text;
}

void cfg_show(const cfg_settings *settings, FILE *out) {
    enum { NAME_WIDTH = 28, VALUE_WIDTH = 28 };
    for (size_t i = 0; i < cfg_row_count; i++) {
        const cfg_row *row = &cfg_rows[i];
        char *value = value_text(settings, row);
        fprintf(out, "%-*s %-*s ", NAME_WIDTH, row->path ? row->path : row->flag, VALUE_WIDTH,
                value ? value : "?");
        show_origin(settings, row, out);
        fputc('\n', out);
        free(value);
    }
}

bool cfg_number_at(const cfg_settings *settings, size_t index, const char **name, size_t *number) {
    for (size_t i = 0; i < cfg_row_count; i++) {
        const cfg_row *row = &cfg_rows[i];
        if (row->kind != CFG_KIND_COUNT && row->kind != CFG_KIND_BYTES) continue;
        if (index-- > 0) continue;
        *name = row->path;
        *number = *(const size_t *)place_of(settings, row);
        return true;
    }
    return false;
}
