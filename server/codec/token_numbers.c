/* Labels → numbers that the engine can compare (ask.h): the labels are sorted, and equal ones then stand together. */
#include "ask_storage.h"

#include <stdlib.h>
#include <string.h>

/* A label and whose it is. */
typedef struct entry {
    const char *text;
    size_t size;
    size_t position; /* of ΣS */
} entry;

static int compare(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* The label of one position, whichever way they came: one list, or one a sequence. */
static const json_t *label_at(const srv_ask *ask, size_t sequence, size_t position, size_t first) {
    if (ask->single || ask->packed) return json_array_get(ask->tokens, first + position);
    return json_array_get(json_array_get(ask->tokens, sequence), position);
}

/* Every position's label, and each sequence's place for its numbers. */
static void list_labels(srv_ask *ask, entry *entries) {
    struct srv_ask_storage *storage = ask->storage;
    size_t first = 0;
    for (size_t n = 0; n < ask->request.sequence_count; n++) {
        for (size_t i = 0; i < storage->sequences[n].queries; i++) {
            const json_t *label = label_at(ask, n, i, first);
            entries[first + i] = (entry){json_string_value(label), json_string_length(label), first + i};
        }
        storage->sequences[n].tokens = storage->token_numbers + first;
        first += storage->sequences[n].queries;
    }
}

/* qsort may take as much again as what it sorts. */
size_t srv_ask_cost_of_numbers(size_t labels) {
    size_t bytes;
    return attn_size_mul(labels, 2 * sizeof(entry) + sizeof(uint32_t), &bytes) ? bytes : SIZE_MAX;
}

bool srv_ask_number_tokens(srv_ask *ask, srv_problem *problem) {
    const uint64_t compared = ATTN_STATISTIC(ATTN_DUPLICATE_TOKEN) | ATTN_STATISTIC(ATTN_INDUCTION);
    if ((ask->request.statistics & compared) == 0 || ask->tokens == NULL || ask->request.context != NULL)
        return true;
    if (ask->storage->token_numbers != NULL) return true;
    size_t total = 0;
    for (size_t n = 0; n < ask->request.sequence_count; n++)
        total += ask->request.sequences[n].queries;
    entry *entries = calloc(total, sizeof *entries);
    uint32_t *numbers = calloc(total, sizeof *numbers), number = 0;
    ask->storage->token_numbers = numbers;
    if (entries == NULL || numbers == NULL) {
        free(entries);
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the tokens");
    }
    list_labels(ask, entries);
    qsort(entries, total, sizeof *entries, compare);
    for (size_t i = 0; i < total; i++) {
        number += i > 0 && compare(entries + i - 1, entries + i) != 0;
        numbers[entries[i].position] = number;
    }
    free(entries);
    return true;
}
