/* Loading the settings for a command, and telling what is wrong with them. */
#ifndef SRV_CLI_SETTINGS_H
#define SRV_CLI_SETTINGS_H

#include "config/cfg.h"

/* Loads settings from file, environment and the command's arguments (argv[0] is the command's name), which
 * may hold `most_arguments` words besides flags. SRV_EXIT_OK, or SRV_EXIT_USAGE after every problem has been
 * printed; only in the first case *out is to be freed. */
int srv_cli_settings(int argc, char **argv, size_t most_arguments, cfg_settings *out);

#endif
