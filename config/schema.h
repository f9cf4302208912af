/* The table of settings, which drives file, environment, flags and --help. Internal to config/. */
#ifndef CFG_SCHEMA_H
#define CFG_SCHEMA_H

#include "cfg.h"

/* How a value is written and where it goes. */
typedef enum cfg_kind {
    CFG_KIND_COUNT,    /* a whole number → size_t at offset */
    CFG_KIND_BYTES,    /* a whole number, with or without KiB, MiB, GiB → size_t at offset */
    CFG_KIND_CHOICE,   /* one of choices → its index, int at offset */
    CFG_KIND_TEXT,     /* a string → char * at offset */
    CFG_KIND_HOSTS,    /* a list of hosts (origin.h) → cfg_texts at offset */
    CFG_KIND_ORIGINS,  /* a list of origins (origin.h) → cfg_texts at offset */
    CFG_KIND_LISTEN,   /* a list of HOST:PORT */
    CFG_KIND_MODEL,    /* a list of NAME=PATH */
    CFG_KIND_HEADS,    /* a list of NAME=H */
    CFG_KIND_KV_HEADS, /* a list of NAME=H */
    CFG_KIND_CONFIG,   /* the settings file itself: not in the file */
} cfg_kind;

typedef struct cfg_row {
    cfg_kind kind;
    const char *path;        /* in the file: "limits.max_body"; "models[].heads" is a member of each model */
    const char *flag;        /* "--max-body" */
    const char *environment; /* "ATTND_MAX_BODY" */
    const char *fallback;    /* the default, as text for the same setter; NULL: empty */
    size_t offset;           /* in cfg_settings */
    size_t least, most;      /* what COUNT and BYTES accept */
    const char *const *choices; /* ends with NULL */
    const char *value;          /* the value's name in --help */
    const char *help;
} cfg_row;

extern const cfg_row cfg_rows[];
extern const size_t cfg_row_count;

/* The ways to name a row. */
typedef enum cfg_name { CFG_BY_PATH, CFG_BY_FLAG, CFG_BY_ENVIRONMENT } cfg_name;

const char *cfg_row_name(const cfg_row *row, cfg_name by);
/* Whether it holds several values: its flag may be repeated. */
bool cfg_row_is_list(const cfg_row *row);
/* The row of that name; `length` bytes of it count. NULL where there is none. */
const cfg_row *cfg_row_find(cfg_name by, const char *name, size_t length);
/* The known name that was probably meant (guess.h), a row's or one of a command's `own` flags (NULL: none); NULL where
 * none is near. */
const char *cfg_row_nearest(cfg_name by, const cfg_own_flag *own, const char *name, size_t length);

#endif
