/* Loading the settings for a command, and telling what is wrong with them. */
#ifndef SRV_CLI_SETTINGS_H
#define SRV_CLI_SETTINGS_H

#include "config/cfg.h"
#include "server/auth/keys.h"

/* Loads settings from file, environment and the command's arguments (argv[0] is the command's name), which
 * may hold the flags of `own` (NULL: none) and `most_arguments` words besides flags, and lets the engine use
 * the vector width and the kernels that they say. SRV_EXIT_OK, or SRV_EXIT_USAGE after every problem has been
 * printed; only in the first case *out is to be freed. */
int srv_cli_settings(int argc, char **argv, const cfg_own_flag *own, size_t most_arguments,
                     cfg_settings *out);

/* Loads the keys of the settings, NULL where these name no file. False after every problem has been printed. */
bool srv_cli_keys(const char *command, const cfg_settings *settings, srv_keys **out);

#endif
