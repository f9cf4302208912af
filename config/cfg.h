/* The daemon's settings: one table, fed from a file, the environment and flags.
 *
 * Precedence: flag over environment over file over default. Every problem of every source is reported at
 * once, each with its origin, so that one round of mending is enough. This part includes Jansson and itself
 * only; it neither prints problems nor exits. Loading happens on one thread before any other exists; loaded
 * settings never change. */
#ifndef CFG_CFG_H
#define CFG_CFG_H

#include "guess.h"
#include "origin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An address to listen on. */
typedef struct cfg_listen {
    char *host;    /* a name or an address; IPv6 without its brackets */
    uint16_t port; /* 0: any free one */
} cfg_listen;

/* A weights file to serve. */
typedef struct cfg_model {
    char *name;
    char *path;
    size_t heads, kv_heads; /* 0: as the file says */
} cfg_model;

/* Strings in the order given. */
typedef struct cfg_texts {
    char **items;
    size_t count;
} cfg_texts;

typedef enum cfg_log_format { CFG_LOG_TEXT, CFG_LOG_JSON } cfg_log_format;
/* How wide the engine's vector code is. */
typedef enum cfg_vectors {
    CFG_VECTORS_AUTO,
    CFG_VECTORS_PLAIN,
    CFG_VECTORS_AVX2,
    CFG_VECTORS_AVX512
} cfg_vectors;
/* What the engine computes with. */
typedef enum cfg_kernels { CFG_KERNELS_AUTO, CFG_KERNELS_REFERENCE } cfg_kernels;
typedef enum cfg_log_level { CFG_LOG_ERROR, CFG_LOG_WARNING, CFG_LOG_INFO, CFG_LOG_DEBUG } cfg_log_level;

/* Where a value comes from, from weak to strong. */
typedef enum cfg_source { CFG_FROM_DEFAULT, CFG_FROM_FILE, CFG_FROM_ENVIRONMENT, CFG_FROM_FLAG } cfg_source;

/* Everything that can be set; owned by the caller of cfg_load. */
typedef struct cfg_settings {
    cfg_listen *listen;
    size_t listen_count;
    cfg_texts hosts;        /* names that a Host header may bear beside loopback's own */
    cfg_texts cors_origins; /* origins of web pages that may read answers */
    char *keys_file;        /* who may ask; NULL: everybody */
    cfg_model *models;      /* in the order given: the first is the default model; none: the demo models */
    size_t model_count;
    size_t workers;     /* 0: one for each processor that this process may use */
    int vectors;        /* cfg_vectors */
    int kernels;        /* cfg_kernels */
    size_t max_body;    /* bytes */
    size_t max_json;    /* bytes of a JSON body outside its tensors */
    size_t max_swallow; /* bytes of a refused body beyond max_body that are still read */
    size_t memory;      /* bytes that requests may hold together; 0: half of what is free */
    size_t max_connections;
    size_t max_waiting; /* requests that wait for a worker */
    size_t drain;       /* seconds that running requests get after SIGTERM */
    /* Milliseconds. */
    size_t drain_delay;    /* after SIGTERM requests are still taken for so long */
    size_t headers;        /* from a request's first byte to the end of its headers */
    size_t body;           /* from there to the end of its body, … */
    size_t body_mebibyte;  /* … and so much more for each MiB of it */
    size_t stalled_body;   /* without a byte of a body */
    size_t stalled_reader; /* without an answer's bytes being taken */
    size_t compute;        /* from the last byte of a request to its answer; 0: no limit */
    size_t idle;           /* between two requests */
    size_t swallow;        /* on the rest of a refused body */
    int log_format;        /* cfg_log_format */
    int log_level;         /* cfg_log_level */

    char *file;          /* the settings file; NULL: none */
    cfg_source *sources; /* of each row of the table; cfg_show tells */

    char **arguments; /* what is neither a flag nor a flag's value, in order; the strings are argv's */
    size_t argument_count;
} cfg_settings;

/* One line a problem: "environment ATTND_WORKERS: 'x' is not a whole number from 0 to 1024". */
typedef struct cfg_problems {
    char **lines;
    size_t count;
    bool out_of_memory; /* lines may be missing, even all */
} cfg_problems;

typedef enum cfg_outcome {
    CFG_LOADED,
    CFG_HELP_WANTED, /* --help or -h stood among the flags: *out holds nothing */
    CFG_REFUSED,     /* *out holds nothing; problems tell why */
} cfg_outcome;

/* A flag that one command has beside the table's. A list of them ends with a NULL name; NULL is an empty one. */
typedef struct cfg_own_flag {
    const char *name; /* "--address" */
    /* "--listen", whose setting it sets; NULL: the command takes it out of argv before, and here it only tells what
     * an unknown flag was meant to be. */
    const char *means;
} cfg_own_flag;

/* Loads the settings. argv holds what follows the subcommand and must outlive *out; `environment` is a list
 * of NAME=value that ends with NULL (cfg_environment() for this process's own). Flags are --name VALUE or
 * --name=VALUE, those of no list at most once; what follows "--" is an argument. *problems need not be set before
 * and is to be freed in any case. */
cfg_outcome cfg_load(int argc, char **argv, const cfg_own_flag *own, char **environment, cfg_settings *out,
                     cfg_problems *problems);

/* Frees what settings hold; a zeroed value is fine. */
void cfg_settings_done(cfg_settings *settings);
void cfg_problems_done(cfg_problems *problems);

/* Writes words from column `indent` on, where the line stands, in lines of at most 80 columns, and ends the last. */
void cfg_help_text(FILE *out, const char *text, size_t indent);
/* How lists are given, in words. */
#define CFG_LISTS                                                                                            \
    "Lists: repeat the flag, separate by commas in the environment. A list given replaces the weaker one, "  \
    "also the default; heads and kv-heads count model by model. Any other flag is given once."

/* Writes the list of settings for --help: flag, environment name, place in the file, default. */
void cfg_help(FILE *out);

/* A setting in words, static storage. */
typedef struct cfg_description {
    const char *flag, *value;   /* "--max-body", "BYTES" */
    const char *environment;    /* "ATTND_MAX_BODY" */
    const char *path;           /* in the file; NULL: none */
    const char *fallback;       /* the default; NULL: empty */
    const char *const *choices; /* the values that are accepted, ends with NULL; NULL: any */
    const char *help;
} cfg_description;

/* The settings in the order of --help; false behind the last. */
bool cfg_describe(size_t index, cfg_description *out);

/* Writes every setting with its value, as the setter takes it ("-": none), and its origin: "default", "file
 * PATH", "environment NAME" or "flag --NAME". One line each. */
void cfg_show(const cfg_settings *settings, FILE *out);

/* The settings that are numbers, one after the other: *name is the place in the file ("limits.max_body").
 * False behind the last. */
bool cfg_number_at(const cfg_settings *settings, size_t index, const char **name, size_t *number);

/* This process's environment; the only place of the program that reads it. */
char **cfg_environment(void);
/* The value of one variable, NULL where it is not set. Such names are no settings. */
const char *cfg_environment_value(const char *name);

/* Set by main across its one re-execution, to tell a BLAS core of its choice from the user's: no setting, so
 * cfg_load lets it pass. */
#define CFG_MARK_BLAS_CORE "ATTND_CHOSEN_BLAS_CORE"

#endif
