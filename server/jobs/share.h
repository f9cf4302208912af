/* One request's part of the memory budget, from its headers to its answer: what it really has, and before that what
 * it is expected to need.
 *
 * One thread at a time; the budget is everybody's. */
#ifndef SRV_JOBS_SHARE_H
#define SRV_JOBS_SHARE_H

#include "budget.h"
#include "server/problem.h"

typedef struct srv_share {
    srv_budget *budget;
    size_t held; /* bytes of the budget */
    size_t used; /* bytes that are allocated; never more than held */
    size_t declared, received;
} srv_share;

/* Before anything is allocated: takes what a body of `declared` bytes (0: not told) is expected to need. False with a
 * problem, here and below: SRV_NEEDS_TOO_MUCH_MEMORY where the whole budget would not do, SRV_MEMORY_TAKEN where
 * others have it. */
bool srv_share_expect(srv_share *share, size_t declared, srv_problem *problem);
/* `size` more bytes of the body have come: from what the ones before needed follows what the rest will, and what is
 * held beyond that goes back. */
void srv_share_receive(srv_share *share, size_t size);

/* Before `amount` bytes are allocated. */
bool srv_share_take(srv_share *share, size_t amount, srv_problem *problem);
/* After they have been freed. */
void srv_share_give(srv_share *share, size_t amount);
/* Holds what is used and nothing more. */
void srv_share_settle(srv_share *share);

#endif
