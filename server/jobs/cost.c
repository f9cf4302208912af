/* The estimates behind admission. They err on the large side: a request may be refused that would just have
 * fitted, never the other way round. */
#include "cost.h"

#include "server/codec/json_stats.h"
#include "stream.h"

#include <stdint.h>

enum {
    /* A number or string of Jansson: its struct with malloc's rounding (32 … 48), its place in an array whose
     * table has doubled (16), and the index that it becomes. */
    BYTES_A_VALUE = 72,
    /* An array or object: the struct, and the table that even an empty one gets (8 places, or 8 hash buckets
     * and the keys). */
    BYTES_A_CONTAINER = 256,
    /* A string of Jansson beyond that: its characters have a block of their own, as many bytes. */
    BYTES_A_STRING = 32,
    /* A character of any token: its buffer, which has doubled, beside the one before that. */
    BYTES_A_CHARACTER = 3,
    /* What any text takes, however short: the root, the first buffer of a token. */
    BYTES_OF_PARSER = 512,
    /* "-1.17549435e-38," and the brackets that rows of one number have. */
    BYTES_A_NUMBER = 20,
    /* The same where it is written, with a row's brackets around each. */
    BYTES_A_ROOM = 26,
    /* The bookkeeping of a stream. */
    BYTES_OF_STREAM = 2048,
    /* Four bytes as base64: five and a third. */
    BYTES_A_CODE = 6,
    /* The small fields of an answer, warnings included. */
    BYTES_OF_FIELDS = 8192,
    /* A sequence's lengths in the shape, a selected head or query: a number each. */
    BYTES_A_LENGTH = 48,
    /* The members around one sequence's tensors: names, and dtype, shape and quotes of base64. */
    BYTES_A_SEQUENCE = 1024,
    /* A token label back as text: at worst each byte as \uXXXX. */
    LONGEST_ESCAPE = 6,
};

size_t srv_cost_of_tree(const char *text, size_t size) {
    size_t commas = 0, colons = 0, containers = 0, strings = 0, characters = 0;
    bool inside = false; /* a string */
    for (size_t i = 0; i < size; i++) {
        commas += text[i] == ',';
        colons += text[i] == ':';
        containers += text[i] == '[' || text[i] == '{';
        if (text[i] == '"') {
            inside = !inside;
            strings += inside;
        }
        characters += inside;
        if (inside && text[i] == '\\' && i + 1 < size) { /* what it escapes ends no string */
            characters++;
            i++;
        }
    }
    size_t values, tree, tokens, total;
    /* As many values as commas, and one more in each container; a member's name takes as much again. */
    if (!attn_size_add(commas, containers, &values) || !attn_size_add(values, colons, &values) ||
        !attn_size_mul(values, BYTES_A_VALUE, &values) ||
        !attn_size_mul(containers, BYTES_A_CONTAINER, &tree) || !attn_size_add(values, tree, &total) ||
        !attn_size_mul(size, BYTES_A_CHARACTER, &tokens) || !attn_size_add(total, tokens, &total) ||
        !attn_size_mul(strings, BYTES_A_STRING, &strings) || !attn_size_add(total, characters, &total) ||
        !attn_size_add(total, strings, &total) || !attn_size_add(total, BYTES_OF_PARSER, &total))
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

size_t srv_cost_of_small_text(const srv_ask *ask, const attn_plan *plan) {
    const attn_request *request = &plan->request;
    size_t sequence = ask->base64 || request->top_k > 0 ? BYTES_A_SEQUENCE : BYTES_A_LENGTH;
    size_t labels = labels_cost(ask->tokens) + labels_cost(ask->context_tokens), lengths, listed, total;
    if (!attn_size_mul(request->sequence_count, sequence, &lengths) ||
        !attn_size_mul(request->head_count + request->query_count, BYTES_A_LENGTH, &listed) ||
        !attn_size_add(lengths, listed, &total) || !attn_size_add(total, srv_json_stats_size(plan), &total) ||
        !attn_size_add(total, labels + BYTES_OF_FIELDS, &total))
        return SIZE_MAX;
    return total;
}

size_t srv_cost_of_answer(const srv_ask *ask, const attn_plan *plan) {
    size_t numbers, total;
    if (!attn_size_mul(plan->result_floats, ask->base64 ? BYTES_A_CODE : BYTES_A_NUMBER, &numbers) ||
        !attn_size_add(numbers, srv_cost_of_small_text(ask, plan), &total))
        return SIZE_MAX;
    return total;
}

/* How many tensors an answer lists. */
static size_t tensors_of(const attn_request *request) {
    size_t maps = request->top_k > 0 ? 4 : 1, count;
    size_t each = (request->want & ATTN_WANT_OUTPUTS ? 1 : 0) + (request->want & ATTN_WANT_MAPS ? maps : 0) +
                  (request->want & ATTN_WANT_SCORES ? 1 : 0) +
                  (request->want & ATTN_WANT_PROJECTIONS ? 3 : 0);
    return attn_size_mul(request->sequence_count, each, &count) ? count : SIZE_MAX;
}

size_t srv_cost_of_sending(const srv_ask *ask, const attn_plan *plan) {
    size_t text = srv_cost_of_small_text(ask, plan), numbers, ahead, listing, total;
    if (!attn_size_mul(plan->result_floats, BYTES_A_ROOM, &numbers)) return SIZE_MAX;
    listing = srv_parts_cost(tensors_of(&plan->request), text, numbers);
    /* Blocks are at least half full. */
    if (!attn_size_add(text, numbers, &ahead) || !attn_size_mul(ahead, 2, &ahead)) return SIZE_MAX;
    if (ahead > SRV_STREAM_AHEAD) ahead = SRV_STREAM_AHEAD;
    return attn_size_add(listing, ahead + BYTES_OF_STREAM, &total) ? total : SIZE_MAX;
}
