/* The command line's edge: one file a subcommand, one row each in commands.c.
 *
 * A command returns the process's exit code (SRV_EXIT_…); only main turns it into an exit. Answers go to
 * standard output, everything else to standard error, one line a complaint, beginning with
 * "attnd COMMAND: ". */
#ifndef SRV_CLI_CLI_H
#define SRV_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

enum {
    SRV_EXIT_OK = 0,
    SRV_EXIT_FAILED = 1, /* the work could not be done */
    SRV_EXIT_USAGE = 2,  /* the command line or the configuration is wrong */
};

typedef struct srv_command {
    const char *name;
    const char *arguments;             /* what stands behind the name in the usage line; may be "" */
    const char *summary;               /* one line for the list of commands */
    const char *details;               /* more lines for `attnd help NAME`, each ended; may be NULL */
    bool has_settings;                 /* takes the settings of config/ as flags: help lists them */
    bool computes;                     /* uses the matrix library: main sees to the right kernels before */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} srv_command;

int srv_cli_serve(int argc, char **argv);
int srv_cli_run(int argc, char **argv);
int srv_cli_example(int argc, char **argv);
int srv_cli_init(int argc, char **argv);
int srv_cli_inspect(int argc, char **argv);
int srv_cli_config(int argc, char **argv);
int srv_cli_check(int argc, char **argv);
int srv_cli_health(int argc, char **argv);
int srv_cli_key(int argc, char **argv);
int srv_cli_bench(int argc, char **argv);
int srv_cli_version(int argc, char **argv);
int srv_cli_help(int argc, char **argv);

/* The commands in the order in which help lists them; the last one has a NULL name. */
extern const srv_command srv_commands[];

/* The command of that name; NULL where there is none. */
const srv_command *srv_command_find(const char *name);
/* Says that there is no such command and which one comes near; returns SRV_EXIT_USAGE. */
int srv_command_unknown(const char *name);

/* The list of commands, and one command's usage. */
void srv_help_overview(FILE *out);
void srv_help_command(FILE *out, const srv_command *command);
/* All of it as a man page: `make install` puts it in its place. */
void srv_help_man(FILE *out);
/* The settings as a Markdown table. */
void srv_help_markdown(FILE *out);

#endif
