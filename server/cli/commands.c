/* The table of subcommands. Adding one = one file beside this one + one row here. */
#include "cli.h"

#include "config/cfg.h"

#include <stddef.h>
#include <string.h>

const srv_command srv_commands[] = {
    {.name = "serve",
     .arguments = "[SETTING …]",
     .summary = "answer requests over HTTP until SIGTERM, SIGINT or SIGHUP",
     .details = "Prints the addresses as soon as they are open, and 'ready' with a command to try\n"
                "once the models are loaded. A signal lets running requests end; a second SIGTERM\n"
                "or SIGINT does not wait for them. SIGHUP does nothing where it was ignored at\n"
                "start, as under nohup.\n"
                "Exit codes: 0 fine, 1 failed, 2 usage or configuration.\n",
     .has_settings = true,
     .computes = true,
     .run = srv_cli_serve},
    {.name = "run",
     .arguments = "[SETTING …] [--show] [-o FILE] [--query TEXT] FILE",
     .summary = "answer one request from a file, '-' being standard input, without a network",
     .details = "  --show         draw the attention as characters, as wide as the terminal and,\n"
                "                 where it is one, in the colours of a PNG\n"
                "  -o FILE        write the answer to FILE, in the form that its ending names:\n"
                "                 .json, .npy, .safetensors, .png, .svg, .csv or .txt\n"
                "  --query TEXT   options as behind a target's '?':\n"
                "                 --query 'heads=0&color_scale=log'\n"
                "Prints the bytes that HTTP would send. FILE may be .npy or .safetensors as well\n"
                "as JSON. A refusal's problem document goes to standard error.\n"
                "Exit codes: 0 answered, 1 refused or failed, 2 usage or configuration.\n",
     .has_settings = true,
     .computes = true,
     .run = srv_cli_run},
    {.name = "example",
     .arguments = "[SETTING …] [--layer LAYER] [MODEL]",
     .summary = "print a request body that a model answers",
     .details = "LAYER is an index or a name. Without MODEL: the first one.\n",
     .has_settings = true,
     .run = srv_cli_example},
    {.name = "config",
     .arguments = "[SETTING …]",
     .summary = "show every setting with its value and where that comes from",
     .details = "The same flags as for serve show what serve would work with.\n"
                "Exit codes: 0 fine, 2 settings that cannot be used; each is told.\n",
     .has_settings = true,
     .run = srv_cli_config},
    {.name = "check",
     .arguments = "[SETTING …]",
     .summary = "load settings, keys and models as serve would, without opening a port",
     .details = "Prints a line for the keys, if any, and one for each model.\nExit codes: 0 all can be "
                "served, 2 some cannot; each is told.\n",
     .has_settings = true,
     .run = srv_cli_check},
    {.name = "health",
     .arguments = "[SETTING …] [--address HOST:PORT]",
     .summary = "ask the daemon on this machine whether it is ready, as containers do",
     .details = "  --address HOST:PORT  where to ask; without it, the first address of\n"
                "                       server.listen that answers\n"
                "Exit codes: 0 ready, 1 not ready or not there, 2 usage or configuration.\n",
     .has_settings = true,
     .run = srv_cli_health},
    {.name = "key",
     .arguments = "NAME",
     .summary = "make an API key: prints it, this once, and its entry for the keys file",
     .details = "The setting auth.keys_file names a file {\"keys\": [ENTRY, …]}. Of an entry\n"
                "\"rights\" may be \"infer\" (ask for attention), \"read\" (models, limits, version)\n"
                "and \"metrics\"; \"rate\" is how many requests a second the key may make (none: no\n"
                "limit), \"burst\" how many of them at once. Who has the key sends\n"
                "'Authorization: Bearer KEY' or 'X-API-Key: KEY'. The file holds no key itself,\n"
                "only its SHA-256. It is read at start.\n"
                "Exit codes: 0 fine, 1 failed, 2 usage.\n",
     .run = srv_cli_key},
    {.name = "inspect",
     .arguments = "FILE|FOLDER [--heads H]",
     .summary = "show a weights file: its layers, and what became of each tensor",
     .details = "  --heads H  how many heads its layers have, where the file does not say\n",
     .run = srv_cli_inspect},
    {.name = "init",
     .arguments = "-o FILE [--d-model D] [--heads H] [--layers N] [--seed S] [--force]",
     .summary = "write a weights file of seeded layers to try things with",
     .details = "  -o, --output FILE  the file to write\n"
                "  --d-model D        model width, a multiple of the heads (512)\n"
                "  --heads H          heads of each layer (8)\n"
                "  --layers N         layers (2)\n"
                "  --seed S           the same seed gives the same bytes on every machine (42)\n"
                "  --force            replace FILE if it is there\n",
     .run = srv_cli_init},
    {.name = "bench",
     .arguments = "[SETTING …] [--quick] [--json FILE] [--peer-asks FILE --peer-answers FILE]",
     .summary = "measure how fast this machine computes, beside what it could reach at best",
     .details = "  --quick              seconds instead of minutes: few turns, short series\n"
                "  --json FILE          write what was measured as JSON too\n"
                "  --peer-asks FILE, --peer-answers FILE\n"
                "                       pipes to another implementation, which takes turns: its\n"
                "                       name comes first; then a line\n"
                "                       'BATCH LENGTH WIDTH HEADS MAPS CAUSAL' is answered with\n"
                "                       seconds\n"
                "Nothing else should run meanwhile. OPENBLAS_CORETYPE, --vectors and --workers\n"
                "show what others are worth.\n"
                "Exit codes: 0 measured, 1 failed, 2 usage or configuration.\n",
     .has_settings = true,
     .computes = true,
     .run = srv_cli_bench},
    {.name = "version",
     .arguments = "",
     .summary = "say what this binary is made of and what it computes with",
     .computes = true,
     .run = srv_cli_version},
    {.name = "help",
     .arguments = "[COMMAND|--man]",
     .summary = "list the commands, or explain one",
     .details = "  --man       everything as a man page: attnd help --man | man -l -\n"
                "  --markdown  the settings as a table in Markdown\n",
     .run = srv_cli_help},
    {.name = NULL},
};

const srv_command *srv_command_find(const char *name) {
    for (const srv_command *command = srv_commands; command->name; command++) {
        if (strcmp(command->name, name) == 0) return command;
    }
    return NULL;
}

int srv_command_unknown(const char *name) {
    cfg_guess guess = {0};
    for (const srv_command *command = srv_commands; command->name; command++)
        cfg_guess_try(&guess, name, strlen(name), command->name, 0);
    fprintf(stderr, "attnd: no command '%.40s'", name);
    if (guess.name) fprintf(stderr, "; did you mean '%s'?", guess.name);
    fputs(guess.name ? "\n" : "; 'attnd help' lists them\n", stderr);
    return SRV_EXIT_USAGE;
}
