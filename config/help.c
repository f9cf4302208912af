/* The settings in words, from the table: what --help says, and the same for other forms of help. Any thread. */
#include "schema.h"

#include <string.h>

/* A terminal's usual width, and where the words of settings begin. */
enum { WIDTH = 80, INDENT = 29 };

/* Columns of UTF-8 text whose characters are one wide. */
static size_t columns_of(const char *text, size_t size) {
    size_t columns = 0;
    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

void cfg_help_text(FILE *out, const char *text, size_t indent) {
    size_t column = indent;
    while (*text) {
        size_t size = strcspn(text, " "), columns = columns_of(text, size);
        if (column > indent && column + 1 + columns > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, size, out);
        column += columns;
        text += size;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const cfg_row *row) {
    char text[512], flag[64];
    snprintf(text, sizeof text, "%s", row->help);
    for (size_t i = 0; row->choices && row->choices[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? ": " : ", ", row->choices[i]);
    }
    snprintf(flag, sizeof flag, "%s %s", row->flag, row->value);
    fprintf(out, "  %-26s ", flag);
    cfg_help_text(out, text, INDENT);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", row->environment, row->path ? ", " : "",
             row->path ? row->path : "", row->path ? " in the file" : "", row->fallback ? "; default " : "",
             row->fallback ? row->fallback : "");
    fprintf(out, "%*s", INDENT, "");
    cfg_help_text(out, text, INDENT);
}

void cfg_help(FILE *out) {
    cfg_help_text(
        out, "Settings; a flag is stronger than the environment, that than the file, that than the default.",
        0);
    cfg_help_text(out, CFG_LISTS, 0);
    for (size_t i = 0; i < cfg_row_count; i++)
        print_row(out, &cfg_rows[i]);
}

bool cfg_describe(size_t index, cfg_description *out) {
    if (index >= cfg_row_count) return false;
    const cfg_row *row = &cfg_rows[index];
    *out = (cfg_description){.flag = row->flag,
                             .value = row->value,
                             .environment = row->environment,
                             .path = row->path,
                             .fallback = row->fallback,
                             .choices = row->choices,
                             .help = row->help};
    return true;
}
