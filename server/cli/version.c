/* attnd version: what this binary is made of and what it computes with. */
#include "cli.h"
#include "engine/engine.h"
#include "server/facts.h"

#include <stdlib.h>

int srv_cli_version(int argc, char **argv) {
    if (argc > 1) {
        fprintf(stderr, "attnd %s: takes no arguments\n", argv[0]);
        return SRV_EXIT_USAGE;
    }
    attn_error error = {0};
    attn_blas_single_threaded();
    attn_code code = attn_blas_self_test(&error);
    json_t *facts = srv_facts_document(attn_pool_default_workers(), code == ATTN_OK ? "passed" : error.text);
    char *text = json_dumps(facts, JSON_INDENT(2));
    json_decref(facts);
    if (text) puts(text);
    free(text);
    return text && code == ATTN_OK ? SRV_EXIT_OK : SRV_EXIT_FAILED;
}
