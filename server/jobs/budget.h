/* A limit that requests share: bytes they may hold together, or how many of them there may be at a time.
 *
 * Any thread; no locks and no waiting: taking either succeeds at once or not at all. */
#ifndef SRV_JOBS_BUDGET_H
#define SRV_JOBS_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Frees what is kept without need until at most `most` is left of it. */
typedef void srv_budget_trim(size_t most);

typedef struct srv_budget {
    size_t limit;
    atomic_size_t taken;
    srv_budget_trim *trim; /* told after every taking what may be kept beside; NULL: nobody */
} srv_budget;

void srv_budget_init(srv_budget *budget, size_t limit);
/* Takes `amount`; false, and nothing is taken, where it does not fit now. */
bool srv_budget_take(srv_budget *budget, size_t amount);
/* Gives back what was taken. */
void srv_budget_give(srv_budget *budget, size_t amount);
/* Changes what a holder holds from `*held` to `amount`, and *held with it; false, and nothing changes, where
 * more is needed and does not fit now. */
bool srv_budget_change(srv_budget *budget, size_t *held, size_t amount);
size_t srv_budget_taken(srv_budget *budget);

#endif
