/* Forms of answers by the endings of files, and by the terminal (run_form.h). */
#include "run_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Endings, and what files with them are written in. */
static const struct {
    const char *ending, *type;
} endings[] = {
    {".json", "application/json"},
    {".npy", "application/x-npy"},
    {".safetensors", "application/x-safetensors"},
    {".png", "image/png"},
    {".svg", "image/svg+xml"},
    {".csv", "text/csv"},
    {".txt", "text/plain"},
};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* The media type that a file's ending names, in small letters or large; NULL: none. */
static const char *type_of_file(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < ENDINGS; i++) {
        size_t size = strlen(endings[i].ending);
        if (length > size && strcasecmp(path + length - size, endings[i].ending) == 0) return endings[i].type;
    }
    return NULL;
}

static const srv_codec *codec_that_writes(const char *type) {
    for (size_t i = 0; type && i < srv_codecs_attention.count; i++) {
        const srv_codec *codec = &srv_codecs_attention.rows[i];
        if (codec->encode && strcmp(codec->type, type) == 0) return codec;
    }
    return NULL;
}

const srv_codec *srv_run_form_of_request(const char *path) {
    const srv_codec *codec = srv_codec_of_body(&srv_codecs_attention, type_of_file(path));
    return codec ? codec : srv_codec_of_body(&srv_codecs_attention, NULL);
}

/* The value of an option that stands at argv[*i], as "NAME=value" or in the next word; NULL: it is another option. */
static const char *value_of(int argc, char **argv, int *i, const char *name) {
    size_t size = strlen(name);
    if (strncmp(argv[*i], name, size) != 0) return NULL;
    if (argv[*i][size] == '=' && size > 2) return argv[*i] + size + 1;
    if (argv[*i][size] != '\0') return NULL;
    return *i + 1 < argc ? argv[++*i] : "";
}

static bool has_parameter(const char *query, const char *name) {
    size_t size = strlen(name);
    for (const char *at = query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
        if (strncmp(at, name, size) == 0 && at[size] == '=') return true;
    return false;
}

/* The client's query, and for a terminal its width and whether it has colours, unless the query says so. */
static char *query_for(const char *given, bool is_shown) {
    struct winsize window = {0};
    char columns[32] = "", *query = NULL;
    bool is_terminal = is_shown && isatty(STDOUT_FILENO);
    if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 20 &&
        !has_parameter(given, "columns"))
        snprintf(columns, sizeof columns, "&columns=%u", window.ws_col > 1000 ? 1000 : window.ws_col);
    const char *color = is_terminal && !has_parameter(given, "color") ? "&color=1" : "";
    return asprintf(&query, "%s%s%s", given, columns, color) < 0 ? NULL : query;
}

static bool complain(const char *text) {
    fprintf(stderr, "attnd run: %s; 'attnd help run' explains\n", text);
    return false;
}

static bool complain_of_ending(const char *path) {
    fprintf(stderr, "attnd run: '%.200s' ends in nothing that can be written; there are", path);
    for (size_t i = 0; i < ENDINGS; i++)
        fprintf(stderr, "%s %s", i == 0 ? "" : i + 1 == ENDINGS ? " and" : ",", endings[i].ending);
    fputs("\n", stderr);
    return false;
}

bool srv_run_form_take(int *argc, char **argv, srv_run_form *out) {
    const char *query = NULL;
    bool is_shown = false;
    int kept = 1;
    *out = (srv_run_form){0};
    for (int i = 1; i < *argc; i++) {
        const char *value;
        if (strcmp(argv[i], "--show") == 0) {
            is_shown = true;
        } else if ((value = value_of(*argc, argv, &i, "-o")) ||
                   (value = value_of(*argc, argv, &i, "--output"))) {
            if (*value == '\0') return complain("-o takes the file to write");
            if (out->output) return complain("-o is given twice; one file is written");
            out->output = value;
        } else if ((value = value_of(*argc, argv, &i, "--query"))) {
            if (query) return complain("--query is given twice; '&' joins options: 'heads=0&queries=1'");
            query = value;
        } else {
            argv[kept++] = argv[i];
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    if (is_shown && out->output) return complain("--show and -o exclude each other");
    out->gives = codec_that_writes(out->output ? type_of_file(out->output)
                                   : is_shown  ? "text/plain"
                                               : "application/json");
    if (!out->gives) return complain_of_ending(out->output);
    out->query = query_for(query ? query : "", is_shown);
    return out->query || complain("no memory");
}

void srv_run_form_done(srv_run_form *form) {
    free(form->query);
}
