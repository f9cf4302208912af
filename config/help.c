/* The settings in words, from the table: what --help says, and the same for other forms of help. Any thread. */
#include "schema.h"

static void print_row(FILE *out, const cfg_row *row) {
    char flag[64];
    snprintf(flag, sizeof flag, "%s %s", row->flag, row->value);
    fprintf(out, "  %-26s %s", flag, row->help);
    if (row->choices) {
        for (size_t i = 0; row->choices[i]; i++)
            fprintf(out, "%s%s", i == 0 ? ": " : ", ", row->choices[i]);
    }
    fputc('\n', out);
    fprintf(out, "  %-26s %s", "", row->environment);
    if (row->path) fprintf(out, ", %s in the file", row->path);
    if (row->fallback) fprintf(out, "; default %s", row->fallback);
    fputc('\n', out);
}

void cfg_help(FILE *out) {
    fputs("Settings; a flag is stronger than the environment, that than the file, that than the default.\n"
          "Lists: repeat the flag, separate by commas in the environment.\n",
          out);
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
