/* An attention request as a client asked it, in no particular format: what every decoder makes and every
 * encoder reads. Decoding knows no model; binding brings ask and layer together.
 *
 * An ask owns its memory and belongs to one thread at a time. */
#ifndef SRV_CODEC_ASK_H
#define SRV_CODEC_ASK_H

#include "engine/engine.h"
#include "server/problem.h"

#include <jansson.h>

enum { SRV_MAX_WARNINGS = 8 };

typedef struct srv_ask {
    char *model;      /* NULL: the default model */
    char *layer_name; /* NULL: by index */
    size_t layer_index;
    bool single;          /* one sequence, rank-2 inputs: the answer has no batch axis */
    attn_request request; /* everything but `layer` and the masks' places, which srv_ask_bind fills in */
    json_t *tokens, *context_tokens; /* passed through; NULL: absent */
    int precision;                   /* 1 … 9 significant digits; 0: the shortest text that reads back */
    bool base64;                     /* tensors of the answer as base64 instead of nested lists */
    bool half;                       /* … of binary16 instead of binary32 */
    bool packed;                     /* `lengths` were given: echoed */
    bool plan_only;                  /* no work: only what it would take */
    size_t timeout_ms;               /* from the last byte of the body; 0: none */
    const char *warnings[SRV_MAX_WARNINGS]; /* one-line hints for the client; static storage */
    size_t warning_count;
    /* The first 422 of the body. It waits for srv_ask_bind, because a model or layer that is not there (404)
     * goes before it; `model` and the layer are right in any case. */
    srv_problem problem;
    struct srv_ask_storage *storage; /* tensors, masks, selections: the decoder's */
} srv_ask;

/* Tells the problem that decoding found, if any. Checks what only the layer can tell (widths, mask ranks
 * against H, selections, causal against L and S is the plan's) and completes ask->request for this layer.
 * `model` and `layer_index` are for the error texts, such as "row has 3 numbers; layer 0 of model 'tiny'
 * takes 4". */
bool srv_ask_bind(srv_ask *ask, const attn_layer *layer, const char *model, size_t layer_index,
                  srv_problem *problem);

/* A problem that points to an option (`/return/heads/1`) which came from the query names the parameter
 * instead. srv_ask_bind has done so for its own; this is for those of the plan and the run. */
void srv_ask_point(const srv_ask *ask, srv_problem *problem);

/* Whether the query asks for a compressed answer, however large (`compress`). */
bool srv_ask_compresses(const srv_ask *ask);

/* A parameter of the answer's format as it stood in the query, decoded; NULL where it did not. */
const char *srv_ask_option(const srv_ask *ask, const char *name);

/* Gives the sequences of self-attention numbers for their tokens, equal ones for equal labels, where a statistic
 * compares tokens: srv_ask_bind does, and whoever asks for statistics later. False without memory. */
bool srv_ask_number_tokens(srv_ask *ask, srv_problem *problem);

void srv_ask_free(srv_ask *ask);

#endif
