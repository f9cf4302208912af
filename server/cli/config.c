/* attnd config: every setting as serve would have it, with its origin. */
#include "cli.h"
#include "server/cli/settings.h"

int srv_cli_config(int argc, char **argv) {
    cfg_settings settings;
    int code = srv_cli_settings(argc, argv, NULL, 0, &settings);
    if (code != SRV_EXIT_OK) return code;
    cfg_show(&settings, stdout);
    cfg_settings_done(&settings);
    return SRV_EXIT_OK;
}
