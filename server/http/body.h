/* A request body as it is collected: it grows as the bytes arrive, and every byte of it is counted in a
 * budget before it is allocated. One thread at a time. */
#ifndef SRV_HTTP_BODY_H
#define SRV_HTTP_BODY_H

#include "engine/engine.h"
#include "server/jobs/budget.h"
#include "server/problem.h"

typedef struct srv_body {
    char *data; /* malloc'ed */
    size_t size, capacity;
    size_t held;     /* bytes of the budget */
    size_t expected; /* as declared; 0: unknown */
} srv_body;

/* Prepares for `expected` bytes (0: unknown), which are taken from the budget at once: who is let in has
 * room. */
bool srv_body_expect(srv_body *body, srv_budget *budget, size_t expected, srv_problem *problem);
/* Appends. False with a problem when there is no room. */
bool srv_body_append(srv_body *body, srv_budget *budget, const char *bytes, size_t size,
                     srv_problem *problem);
/* Frees and gives back. */
void srv_body_done(srv_body *body, srv_budget *budget);

#endif
