/* attnd help: the list of commands, or one command's usage with its settings. */
#include "cli.h"
#include "config/cfg.h"

#include <stddef.h>
#include <string.h>

void srv_help_overview(FILE *out) {
    fputs("attnd answers attention requests over HTTP: outputs and per-head attention maps.\n\n"
          "usage: attnd COMMAND [ARGUMENTS]\n\n",
          out);
    for (const srv_command *command = srv_commands; command->name; command++) {
        fprintf(out, "  %-9s ", command->name);
        cfg_help_text(out, command->summary, strlen("  123456789 "));
    }
    fputs("\n'attnd help COMMAND' explains one.\n", out);
}

void srv_help_command(FILE *out, const srv_command *command) {
    int indent = fprintf(out, "usage: attnd %s%s", command->name, command->arguments[0] ? " " : "");
    cfg_help_text(out, command->arguments, (size_t)indent);
    fputc('\n', out);
    cfg_help_text(out, command->summary, 0);
    if (command->details) fprintf(out, "\n%s", command->details);
    if (command->has_settings) {
        fputc('\n', out);
        cfg_help(out);
    }
}

int srv_cli_help(int argc, char **argv) {
    if (argc > 2) {
        fputs("attnd help: takes one command at most\n", stderr);
        return SRV_EXIT_USAGE;
    }
    if (argc < 2) {
        srv_help_overview(stdout);
        return SRV_EXIT_OK;
    }
    if (strcmp(argv[1], "--man") == 0) {
        srv_help_man(stdout);
        return SRV_EXIT_OK;
    }
    if (strcmp(argv[1], "--markdown") == 0) {
        srv_help_markdown(stdout);
        return SRV_EXIT_OK;
    }
    const srv_command *command = srv_command_find(argv[1]);
    if (!command) return srv_command_unknown(argv[1]);
    srv_help_command(stdout, command);
    return SRV_EXIT_OK;
}
