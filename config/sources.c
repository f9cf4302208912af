/* Where settings come from, in order of strength: defaults, the file, the environment, flags.
 *
 * Refuses flags, variables that begin with ATTND_ and members of the file that the table does not know, each
 * with the nearest name. One thread; of argv only the arguments' strings are kept. */
#include "draft.h"

#include <stdlib.h>
#include <string.h>

/* A flag with its value, which is argv's. */
typedef struct given_flag {
    const cfg_row *row;
    const char *name; /* the row's, or the command's own */
    const char *value;
} given_flag;

/* argv taken apart. */
typedef struct command_line {
    given_flag *flags;
    size_t flag_count;
    char **arguments;
    size_t argument_count;
    bool help;
} command_line;

static void command_line_done(command_line *line) {
    free(line->flags);
    free(line->arguments);
    *line = (command_line){0};
}

/* The command's own flag of that name that sets a setting; NULL where there is none. */
static const cfg_own_flag *own_flag(const cfg_own_flag *own, const char *name, size_t length) {
    for (; own && own->name; own++) {
        if (own->means && strlen(own->name) == length && memcmp(own->name, name, length) == 0) return own;
    }
    return NULL;
}

/* Reads the flag at argv[i]; returns how many of argv it takes. */
static int read_flag(command_line *line, int argc, char **argv, int i, const cfg_own_flag *own,
                     cfg_problems *problems) {
    const char *flag = argv[i], *equals = strchr(flag, '=');
    size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
    const cfg_own_flag *other = own_flag(own, flag, length);
    const cfg_row *row = other ? cfg_row_find(CFG_BY_FLAG, other->means, strlen(other->means))
                               : cfg_row_find(CFG_BY_FLAG, flag, length);
    char origin[160];
    snprintf(origin, sizeof origin, "flag %.*s", (int)(length < 100 ? length : 100), flag);
    if (!row) {
        cfg_problem_unknown(problems, origin, CFG_BY_FLAG, own, flag, length);
        return 1;
    }
    if (!equals && i + 1 >= argc) {
        cfg_problem(problems, origin, "no value follows; %s belongs here", row->value);
        return 1;
    }
    line->flags[line->flag_count++] = (given_flag){
        .row = row, .name = other ? other->name : row->flag, .value = equals ? equals + 1 : argv[i + 1]};
    return equals ? 1 : 2;
}

static void read_command_line(command_line *line, int argc, char **argv, const cfg_own_flag *own,
                              cfg_problems *problems) {
    line->flags = calloc((size_t)argc + 1, sizeof *line->flags);
    line->arguments = calloc((size_t)argc + 1, sizeof *line->arguments);
    if (!line->flags || !line->arguments) {
        problems->out_of_memory = true;
        return;
    }
    bool flags_end = false;
    for (int i = 0; i < argc;) {
        const char *word = argv[i];
        if (flags_end || word[0] != '-' || word[1] == '\0') {
            line->arguments[line->argument_count++] = argv[i++];
        } else if (strcmp(word, "--") == 0) {
            flags_end = true;
            i++;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            line->help = true;
            i++;
        } else {
            i += read_flag(line, argc, argv, i, own, problems);
        }
    }
}

/* The value of a NAME=value list's variable; NULL where there is none, or an empty one. */
static const char *value_of(char **environment, const char *name) {
    size_t length = strlen(name);
    for (; *environment; environment++) {
        const char *variable = *environment;
        if (strncmp(variable, name, length) != 0 || variable[length] != '=') continue;
        return variable[length + 1] ? variable + length + 1 : NULL;
    }
    return NULL;
}

/* Variables of our prefix that are no settings: main's own mark, and what Kubernetes puts into every
 * container beside a service called attnd (ATTND_SERVICE_HOST, ATTND_PORT, ATTND_PORT_8080_TCP …). */
static bool is_foreign(const char *name, size_t length) {
    static const char *const prefixes[] = {"ATTND_SERVICE_", "ATTND_PORT_"};
    static const char *const names[] = {CFG_MARK_BLAS_CORE, "ATTND_PORT"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == length && memcmp(name, names[i], length) == 0) return true;
    }
    return false;
}

static void apply_defaults(cfg_draft *draft) {
    for (size_t i = 0; i < cfg_row_count; i++) {
        const cfg_row *row = &cfg_rows[i];
        if (row->fallback) cfg_draft_set_list(draft, row, CFG_FROM_DEFAULT, "default", row->fallback);
    }
}

static void apply_file(cfg_draft *draft, const command_line *line, char **environment) {
    const char *path = value_of(environment, "ATTND_CONFIG");
    for (size_t i = 0; i < line->flag_count; i++) {
        if (line->flags[i].row->kind == CFG_KIND_CONFIG) path = line->flags[i].value;
    }
    if (!path) return;
    draft->settings.file = strdup(path);
    if (!draft->settings.file) draft->problems->out_of_memory = true;
    cfg_file_read(draft, path);
}

static void apply_environment(cfg_draft *draft, char **environment) {
    for (; *environment; environment++) {
        const char *name = *environment, *equals = strchr(name, '=');
        /* An empty variable is what compose files and shells pass for "not given". */
        if (!equals || !equals[1] || strncmp(name, "ATTND_", strlen("ATTND_")) != 0) continue;
        size_t length = (size_t)(equals - name);
        const cfg_row *row = cfg_row_find(CFG_BY_ENVIRONMENT, name, length);
        char origin[160];
        snprintf(origin, sizeof origin, "environment %.*s", (int)(length < 100 ? length : 100), name);
        if (row) {
            cfg_draft_set_list(draft, row, CFG_FROM_ENVIRONMENT, origin, equals + 1);
        } else if (!is_foreign(name, length)) {
            cfg_problem_unknown(draft->problems, origin, CFG_BY_ENVIRONMENT, NULL, name, length);
        }
    }
}

/* Whether a flag before this one set the same row. */
static bool is_repeated(const command_line *line, size_t flag) {
    for (size_t i = 0; i < flag; i++) {
        if (line->flags[i].row == line->flags[flag].row) return true;
    }
    return false;
}

static void apply_flags(cfg_draft *draft, const command_line *line) {
    for (size_t i = 0; i < line->flag_count; i++) {
        const cfg_row *row = line->flags[i].row;
        char origin[160];
        snprintf(origin, sizeof origin, "flag %s", line->flags[i].name);
        if (!cfg_row_is_list(row) && is_repeated(line, i)) {
            cfg_problem(draft->problems, origin, "given again, by '%s'; it may be given once",
                        line->flags[i].value);
            continue;
        }
        cfg_draft_set(draft, row, CFG_FROM_FLAG, origin, line->flags[i].value);
    }
}

cfg_outcome cfg_load(int argc, char **argv, const cfg_own_flag *own, char **environment, cfg_settings *out,
                     cfg_problems *problems) {
    *problems = (cfg_problems){0};
    cfg_draft draft;
    cfg_draft_init(&draft, problems);
    command_line line = {0};
    cfg_outcome outcome = CFG_REFUSED;

    read_command_line(&line, argc, argv, own, problems);
    if (line.help) {
        outcome = CFG_HELP_WANTED;
        goto out;
    }
    apply_defaults(&draft);
    apply_file(&draft, &line, environment);
    apply_environment(&draft, environment);
    apply_flags(&draft, &line);
    cfg_draft_finish(&draft);
    if (problems->count > 0 || problems->out_of_memory) goto out;

    *out = draft.settings;
    draft.settings = (cfg_settings){0};
    out->arguments = line.arguments;
    out->argument_count = line.argument_count;
    line.arguments = NULL;
    outcome = CFG_LOADED;
out:
    command_line_done(&line);
    cfg_draft_done(&draft);
    return outcome;
}
