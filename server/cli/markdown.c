/* attnd help --markdown: the settings as a table for the README, in the words of --help. */
#include "cli.h"
#include "config/cfg.h"

#include <stddef.h>

/* A cell's text: a bar would end the cell. */
static void put_cell(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_setting(FILE *out, const cfg_description *setting) {
    fprintf(out, "| `%s %s` | `%s` | ", setting->flag, setting->value, setting->environment);
    if (setting->path) fprintf(out, "`%s`", setting->path);
    fputs(" | ", out);
    if (setting->fallback) fprintf(out, "`%s`", setting->fallback);
    fputs(" | ", out);
    put_cell(out, setting->help);
    for (size_t i = 0; setting->choices && setting->choices[i]; i++)
        fprintf(out, "%s`%s`", i == 0 ? ": " : ", ", setting->choices[i]);
    fputs(" |\n", out);
}

void srv_help_markdown(FILE *out) {
    cfg_description setting;
    fputs("| flag | environment | in the file | default | what |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; cfg_describe(i, &setting); i++)
        put_setting(out, &setting);
}
