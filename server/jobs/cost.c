/* The estimates behind admission. They err on the large side: a request may be refused that would just have
 * fitted, never the other way round. */
#include "cost.h"

#include <stdint.h>

enum {
    /* A number or string of Jansson: its struct with malloc's rounding (32 … 48), its place in an array whose
     * table has doubled (16), and the float32 that it becomes. */
    BYTES_A_VALUE = 72,
    /* An array or object: the struct, and the table that even an empty one gets (8 places, or 8 hash buckets
     * and the keys). */
    BYTES_A_CONTAINER = 256,
    /* "-1.17549435e-38," and the brackets that rows of one number have. */
    BYTES_A_NUMBER = 20,
    /* The small fields of an answer, warnings included. */
    BYTES_OF_FIELDS = 8192,
    /* A sequence's lengths in the shape, a selected head or query: a number each. */
    BYTES_A_LENGTH = 48,
    /* A token label back as text: at worst each byte as \uXXXX. */
    LONGEST_ESCAPE = 6,
};

size_t srv_cost_of_tree(const char *body, size_t size) {
    size_t commas = 0, containers = 0;
    for (size_t i = 0; i < size; i++) {
        commas += body[i] == ',';
        containers += body[i] == '[' || body[i] == '{';
    }
    size_t values, tree, total;
    /* As many values as commas, and one more in each container. */
    if (!attn_size_add(commas, containers, &values) || !attn_size_mul(values, BYTES_A_VALUE, &values) ||
        !attn_size_mul(containers, BYTES_A_CONTAINER, &tree) || !attn_size_add(values, tree, &total) ||
        !attn_size_add(total, size, &total))
        return SIZE_MAX;
    return total;
}

/* The text length of labels, at most. */
static size_t labels_cost(const json_t *labels) {
    if (json_is_string(labels)) return json_string_length(labels) * LONGEST_ESCAPE + 3;
    size_t total = 2;
    for (size_t i = 0; i < json_array_size(labels); i++)
        total += labels_cost(json_array_get(labels, i)) + 1;
    return total;
}

size_t srv_cost_of_answer(const srv_ask *ask, const attn_plan *plan) {
    size_t numbers, lengths, total;
    size_t listed = plan->request.sequence_count;
    if (!attn_size_add(listed, plan->request.head_count + plan->request.query_count, &listed) ||
        !attn_size_mul(plan->result_floats, BYTES_A_NUMBER, &numbers) ||
        /* With top_k an index stands beside each weight. */
        !attn_size_add(numbers, plan->request.top_k > 0 ? numbers : 0, &numbers) ||
        !attn_size_mul(listed, BYTES_A_LENGTH, &lengths) || !attn_size_add(numbers, lengths, &total) ||
        !attn_size_add(total, labels_cost(ask->tokens) + labels_cost(ask->context_tokens) + BYTES_OF_FIELDS,
                       &total))
        return SIZE_MAX;
    return total;
}
