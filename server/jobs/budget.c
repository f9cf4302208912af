/* The shared limit: one atomic counter that never passes its limit. */
#include "budget.h"

void srv_budget_init(srv_budget *budget, size_t limit) {
    budget->limit = limit;
    budget->trim = NULL;
    atomic_init(&budget->taken, 0);
}

bool srv_budget_take(srv_budget *budget, size_t amount) {
    size_t taken = atomic_load(&budget->taken);
    do {
        if (amount > budget->limit - taken) return false;
    } while (!atomic_compare_exchange_weak(&budget->taken, &taken, taken + amount));
    if (budget->trim && amount > 0) budget->trim(budget->limit - taken - amount);
    return true;
}

void srv_budget_give(srv_budget *budget, size_t amount) {
    atomic_fetch_sub(&budget->taken, amount);
}

bool srv_budget_change(srv_budget *budget, size_t *held, size_t amount) {
    if (amount > *held) {
        if (!srv_budget_take(budget, amount - *held)) return false;
    } else {
        srv_budget_give(budget, *held - amount);
    }
    *held = amount;
    return true;
}

size_t srv_budget_taken(srv_budget *budget) {
    return atomic_load(&budget->taken);
}
