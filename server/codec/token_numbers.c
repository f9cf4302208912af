/* Labels → numbers that the engine can compare (ask.h). */
#include "ask_storage.h"

#include <stdlib.h>

/* The number that a label has in the table, the next one where it is new; UINT32_MAX without memory. */
static uint32_t number_of(json_t *table, const json_t *label) {
    const char *text = json_string_value(label);
    size_t size = json_string_length(label);
    json_t *known = json_object_getn(table, text, size);
    if (known != NULL) return (uint32_t)json_integer_value(known);
    size_t next = json_object_size(table);
    return json_object_setn_new(table, text, size, json_integer((json_int_t)next)) == 0 ? (uint32_t)next
                                                                                        : UINT32_MAX;
}

/* The label of one position, whichever way they came: one list, or one a sequence. */
static const json_t *label_at(const srv_ask *ask, size_t sequence, size_t position, size_t first) {
    if (ask->single || ask->packed) return json_array_get(ask->tokens, first + position);
    return json_array_get(json_array_get(ask->tokens, sequence), position);
}

static bool number_all(srv_ask *ask, json_t *table) {
    struct srv_ask_storage *storage = ask->storage;
    size_t first = 0;
    for (size_t n = 0; n < ask->request.sequence_count; n++) {
        uint32_t *numbers = storage->token_numbers + first;
        for (size_t i = 0; i < storage->sequences[n].queries; i++) {
            numbers[i] = number_of(table, label_at(ask, n, i, first));
            if (numbers[i] == UINT32_MAX) return false;
        }
        storage->sequences[n].tokens = numbers;
        first += storage->sequences[n].queries;
    }
    return true;
}

bool srv_ask_number_tokens(srv_ask *ask, srv_problem *problem) {
    const uint64_t compared = ATTN_STATISTIC(ATTN_DUPLICATE_TOKEN) | ATTN_STATISTIC(ATTN_INDUCTION);
    if ((ask->request.statistics & compared) == 0 || ask->tokens == NULL || ask->request.context != NULL)
        return true;
    if (ask->storage->token_numbers != NULL) return true;
    size_t total = 0;
    for (size_t n = 0; n < ask->request.sequence_count; n++)
        total += ask->request.sequences[n].queries;
    json_t *table = json_object();
    ask->storage->token_numbers = malloc(total * sizeof(uint32_t));
    bool is_done = table != NULL && ask->storage->token_numbers != NULL && number_all(ask, table);
    json_decref(table);
    return is_done ||
           srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the tokens");
}
