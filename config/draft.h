/* Settings while they are being gathered: the one setter that every source feeds. Internal to config/. */
#ifndef CFG_DRAFT_H
#define CFG_DRAFT_H

#include "schema.h"

/* One NAME=H, kept until all models are known. */
typedef struct cfg_head_count {
    const cfg_row *row;
    char *model;
    size_t heads;
    bool kv;
    cfg_source source;
    char *origin;
} cfg_head_count;

typedef struct cfg_draft {
    cfg_settings settings;
    cfg_source listen_source, models_source, hosts_source,
        cors_origins_source; /* a list of a stronger source replaces a weaker one's */
    cfg_head_count *head_counts;
    size_t head_count_count;
    cfg_problems *problems;
} cfg_draft;

/* Adds "origin: text" to the problems. */
__attribute__((format(printf, 3, 4))) void cfg_problem(cfg_problems *problems, const char *origin,
                                                       const char *format, ...);
/* Adds that no row has that name: and which was probably meant, of these or a command's `own` flags (NULL: none), or
 * where they are listed. */
void cfg_problem_unknown(cfg_problems *problems, const char *origin, cfg_name by, const cfg_own_flag *own,
                         const char *name, size_t length);

/* Makes a draft with room for every row's source; a lack of memory goes to the problems. */
void cfg_draft_init(cfg_draft *draft, cfg_problems *problems);

/* Sets one value of a row; lists grow by one. `origin` names source and setting for the problem. Sources are
 * to be fed from weak to strong. */
void cfg_draft_set(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin,
                   const char *text);

/* Sets a list to nothing: what weaker sources have put into it goes. */
void cfg_draft_set_empty(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin);

/* The same for a comma-separated list where the row is one. */
void cfg_draft_set_list(cfg_draft *draft, const cfg_row *row, cfg_source source, const char *origin,
                        const char *text);

/* Gives the models their heads; a name that is no model's is a problem. */
void cfg_draft_finish(cfg_draft *draft);

/* Frees the draft's own parts and its settings. */
void cfg_draft_done(cfg_draft *draft);

/* Reads a settings file into the draft (file.c). */
void cfg_file_read(cfg_draft *draft, const char *path);

#endif
