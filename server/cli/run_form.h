/* The arguments that only `attnd run` has: which form the answer has, where it goes, and further options. Main thread. */
#ifndef SRV_CLI_RUN_FORM_H
#define SRV_CLI_RUN_FORM_H

#include "server/codec/codec.h"

typedef struct srv_run_form {
    const char *output;     /* the file to write; NULL: standard output */
    const srv_codec *gives; /* what the answer is written in */
    char *query;            /* as behind a target's '?'; malloc'ed */
} srv_run_form;

/* Takes -o FILE, --output FILE, --show and --query TEXT out of the arguments. False after a complaint. */
bool srv_run_form_take(int *argc, char **argv, srv_run_form *out);
void srv_run_form_done(srv_run_form *form);

/* What a request's file is written in, by its ending; JSON where that says nothing. */
const srv_codec *srv_run_form_of_request(const char *path);

#endif
