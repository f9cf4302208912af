/* What one request has of the budget (share.h). */
#include "share.h"

#include "engine/engine.h"

#include <stdint.h>

enum {
    /* Numbers of nine digits take a third of their text, base64 takes three quarters, short integers up to twice. */
    TEXT_BYTES_A_BYTE = 2,
    /* So much of a body tells what the rest is like. */
    SAMPLE = 64 << 10,
};

static bool hold(srv_share *share, size_t amount, srv_problem *problem) {
    srv_budget *budget = share->budget;
    if (amount > budget->limit)
        return srv_problem_set(problem, SRV_NEEDS_TOO_MUCH_MEMORY, SRV_WHERE_NONE, NULL,
                               "reading this body needs up to %zu bytes; the limit is %zu (setting "
                               "limits.memory); fewer numbers need less",
                               amount, budget->limit);
    if (srv_budget_change(budget, &share->held, amount)) return true;
    srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                    "reading this body needs up to %zu bytes; other requests hold %zu of %zu at this moment",
                    amount, srv_budget_taken(budget) - share->held, budget->limit);
    problem->retry_after = 1;
    return false;
}

bool srv_share_expect(srv_share *share, size_t declared, srv_problem *problem) {
    share->declared = declared;
    return hold(share, declared / TEXT_BYTES_A_BYTE, problem);
}

void srv_share_receive(srv_share *share, size_t size) {
    share->received += size;
    if (share->held == share->used || share->received < SAMPLE) return;
    size_t rest = share->declared > share->received ? share->declared - share->received : 0;
    double expected = (double)share->used * (1 + (double)rest / (double)share->received);
    if (expected < (double)share->held) srv_budget_change(share->budget, &share->held, (size_t)expected);
}

bool srv_share_take(srv_share *share, size_t amount, srv_problem *problem) {
    size_t used;
    if (!attn_size_add(share->used, amount, &used)) used = SIZE_MAX;
    if (used > share->held && !hold(share, used, problem)) return false;
    share->used = used;
    return true;
}

void srv_share_give(srv_share *share, size_t amount) {
    share->used -= amount;
}

void srv_share_settle(srv_share *share) {
    srv_budget_change(share->budget, &share->held, share->used);
}
