/* attnd version: what this binary is made of and what it computes with. */
#include "server/version.h"
#include "cli.h"

int srv_cli_version(int argc, char **argv) {
    if (argc > 1) {
        fprintf(stderr, "attnd %s: takes no arguments\n", argv[0]);
        return SRV_EXIT_USAGE;
    }
    printf("attnd %s (%s), %s\n", SRV_VERSION.version, SRV_VERSION.commit, SRV_VERSION.compiler);
    return SRV_EXIT_OK;
}
