/* The table of subcommands. Adding one = one file beside this one + one row here. */
#include "cli.h"

#include <stddef.h>
#include <string.h>

const srv_command srv_commands[] = {
    {.name = "version",
     .arguments = "",
     .summary = "say what this binary is made of and what it computes with",
     .run = srv_cli_version},
    {.name = "help",
     .arguments = "[COMMAND]",
     .summary = "list the commands, or explain one",
     .run = srv_cli_help},
    {.name = NULL},
};

const srv_command *srv_command_find(const char *name) {
    for (const srv_command *command = srv_commands; command->name; command++) {
        if (strcmp(command->name, name) == 0) return command;
    }
    return NULL;
}

/* Levenshtein's distance of two short words; words over 31 letters count as far from everything. */
static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 31 };
    size_t rows = strlen(a), columns = strlen(b), line[LONGEST + 1];
    if (rows > LONGEST || columns > LONGEST) return LONGEST;
    for (size_t j = 0; j <= columns; j++)
        line[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = line[0];
        line[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = line[j];
            if (line[j] + 1 < best) best = line[j] + 1;
            if (line[j - 1] + 1 < best) best = line[j - 1] + 1;
            line[j] = best;
        }
    }
    return line[columns];
}

int srv_command_unknown(const char *name) {
    const srv_command *nearest = NULL;
    size_t best = 4;
    for (const srv_command *command = srv_commands; command->name; command++) {
        size_t d = distance(name, command->name);
        if (d < best) {
            best = d;
            nearest = command;
        }
    }
    fprintf(stderr, "attnd: no command '%.40s'", name);
    if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest->name);
    fputs(nearest ? "\n" : "; 'attnd help' lists them\n", stderr);
    return SRV_EXIT_USAGE;
}
