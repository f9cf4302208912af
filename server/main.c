/* Finds the subcommand and runs it, the matrix library's kernels being settled before. The table is
 * cli/commands.c. */
#include "server/blas_core.h"
#include "server/cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Whether help is asked for anywhere before "--". */
static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    }
    return false;
}

/* What a command printed must have arrived: a full disk behind standard output is a failure. */
static int after_output(const char *name, int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "attnd %s: standard output cannot be written\n", name);
    return code == SRV_EXIT_OK ? SRV_EXIT_FAILED : code;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        srv_help_overview(stderr);
        return SRV_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) name = "version";

    const srv_command *command = srv_command_find(name);
    if (!command) return srv_command_unknown(name);
    if (asks_for_help(argc - 1, argv + 1)) {
        srv_help_command(stdout, command);
        return after_output(name, SRV_EXIT_OK);
    }
    if (command->computes) srv_core_settle(argv);
    return after_output(name, command->run(argc - 1, argv + 1));
}
