/* Reading the command line of commands that have flags of their own (getopt_long with opterr = 0 and a
 * leading ':'). */
#ifndef SRV_CLI_OPTIONS_H
#define SRV_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Begins: no messages of getopt's own, and argv may be read again from its start. */
void srv_options_begin(void);

/* Complains about what getopt_long answered with '?' or ':', and says which options there are. Returns
 * SRV_EXIT_USAGE. */
int srv_options_bad(char **argv, int answer, const char *accepted);

/* A decimal number up to `max` and nothing else; false with a complaint that names the option. */
bool srv_options_number(char **argv, const char *option, const char *text, uint64_t min, uint64_t max,
                        uint64_t *out);

#endif
