/* Collecting a body (body.h). Nothing of a declared size is allocated before bytes arrive: the buffer
 * doubles. */
#include "body.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096 };

static bool hold(srv_body *body, srv_budget *budget, size_t amount, srv_problem *problem) {
    if (amount > budget->limit) {
        return srv_problem_set(problem, SRV_NEEDS_TOO_MUCH_MEMORY, SRV_WHERE_NONE, NULL,
                               "a body of %zu bytes; requests may hold %zu together (setting limits.memory)",
                               amount, budget->limit);
    }
    if (srv_budget_change(budget, &body->held, amount)) return true;
    srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                    "a body of %zu bytes; other requests hold %zu of %zu bytes at this moment", amount,
                    srv_budget_taken(budget) - body->held, budget->limit);
    problem->retry_after = 1;
    return false;
}

bool srv_body_expect(srv_body *body, srv_budget *budget, size_t expected, srv_problem *problem) {
    body->expected = expected;
    return hold(body, budget, expected, problem);
}

static bool grow(srv_body *body, srv_budget *budget, size_t needed, srv_problem *problem) {
    size_t capacity = body->capacity ? body->capacity : FIRST_CAPACITY;
    while (capacity < needed) {
        if (!attn_size_mul(capacity, 2, &capacity)) capacity = needed;
    }
    if (body->expected >= needed && capacity > body->expected) capacity = body->expected;
    if (capacity > body->held && !hold(body, budget, capacity, problem)) return false;
    char *data = realloc(body->data, capacity);
    if (!data) {
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for a body of %zu bytes",
                        needed);
        problem->retry_after = 1;
        return false;
    }
    body->data = data;
    body->capacity = capacity;
    return true;
}

bool srv_body_append(srv_body *body, srv_budget *budget, const char *bytes, size_t size,
                     srv_problem *problem) {
    size_t needed;
    if (!attn_size_add(body->size, size, &needed)) needed = SIZE_MAX;
    if (needed > body->capacity && !grow(body, budget, needed, problem)) return false;
    memcpy(body->data + body->size, bytes, size);
    body->size = needed;
    return true;
}

void srv_body_done(srv_body *body, srv_budget *budget) {
    free(body->data);
    srv_budget_give(budget, body->held);
    *body = (srv_body){0};
}
