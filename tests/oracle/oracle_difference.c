/* Two asks beside each other (oracle.h). */
#include "oracle.h"

#include "oracle_parts.h"

#include <string.h>

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_bytes(const void *a, const void *b, size_t size) {
    return a == NULL || b == NULL ? a == b : memcmp(a, b, size) == 0;
}

/* Without the token that Jansson quotes last: of a number within a tensor it gets to see no more than where it ends. */
static bool same_words(const srv_problem *a, const srv_problem *b) {
    const char *near_a = strstr(a->detail, " near '"), *near_b = strstr(b->detail, " near '");
    size_t size_a = near_a == NULL ? strlen(a->detail) : (size_t)(near_a - a->detail);
    size_t size_b = near_b == NULL ? strlen(b->detail) : (size_t)(near_b - b->detail);
    if (a->id != SRV_BAD_JSON || strstr(a->detail, "unable to decode byte") == NULL)
        return strcmp(a->detail, b->detail) == 0;
    return size_a == size_b && memcmp(a->detail, b->detail, size_a) == 0;
}

static bool same_problem(const srv_problem *a, const srv_problem *b) {
    return a->id == b->id && a->where_kind == b->where_kind && same_text(a->where, b->where) &&
           same_words(a, b);
}

static bool same_rows(const srv_rows *a, const srv_rows *b) {
    return a->count == b->count && a->width == b->width && a->sequences == b->sequences &&
           a->binary == b->binary && a->list == b->list &&
           same_bytes(a->lengths, b->lengths, a->sequences * sizeof *a->lengths) &&
           same_bytes(a->data, b->data, a->count * a->width * sizeof *a->data);
}

/* Where a row is too short or long nothing behind it counts. */
static bool same_odd(const srv_rows *a, const srv_rows *b) {
    return a->odd_width == b->odd_width && a->width == b->width && a->odd_sequence == b->odd_sequence &&
           a->odd_row == b->odd_row;
}

static bool same_grid(const srv_ask *ask, const srv_grid *a, const srv_grid *b) {
    size_t count = ask->request.sequence_count, elements = 0;
    if ((a->blocks == NULL) != (b->blocks == NULL) || a->rank != b->rank || a->list != b->list ||
        a->binary != b->binary || !same_bytes(a->blocks, b->blocks, count * sizeof *a->blocks))
        return false;
    for (size_t i = 0; a->blocks != NULL && i < count; i++) {
        size_t end =
            a->blocks[i].offset + a->blocks[i].heads * a->blocks[i].queries * ask->storage->sequences[i].keys;
        if (end > elements) elements = end;
    }
    return same_bytes(a->flags, b->flags, elements) &&
           same_bytes(a->numbers, b->numbers, elements * sizeof(float));
}

static const char *in_tensors(const srv_ask *a, const srv_ask *b) {
    const struct srv_ask_storage *x = a->storage, *y = b->storage;
    if (!same_rows(&x->inputs, &y->inputs)) return "inputs";
    if (!same_rows(&x->context, &y->context)) return "context";
    if (!same_rows(&x->values, &y->values)) return "values";
    if (!same_grid(a, &x->padding, &y->padding)) return "key_padding_mask";
    if (!same_grid(a, &x->mask, &y->mask)) return "attention_mask";
    if (!same_grid(a, &x->bias, &y->bias)) return "bias";
    if (x->positions != y->positions || x->context_positions != y->context_positions) return "positions";
    return NULL;
}

static const char *in_options(const srv_ask *a, const srv_ask *b) {
    const attn_request *x = &a->request, *y = &b->request;
    if (a->single != b->single || a->packed != b->packed) return "rank";
    if (x->sequence_count != y->sequence_count || x->want != y->want || x->causal != y->causal ||
        x->window != y->window || x->scale != y->scale || x->top_k != y->top_k)
        return "options";
    if (a->precision != b->precision || a->base64 != b->base64 || a->half != b->half ||
        a->plan_only != b->plan_only || a->timeout_ms != b->timeout_ms)
        return "form of the answer";
    if (a->warning_count != b->warning_count ||
        !same_bytes(a->warnings, b->warnings, a->warning_count * sizeof *a->warnings))
        return "warnings";
    if (!json_equal(a->tokens, b->tokens) && a->tokens != b->tokens) return "tokens";
    if (!json_equal(a->context_tokens, b->context_tokens) && a->context_tokens != b->context_tokens)
        return "context_tokens";
    return NULL;
}

const char *oracle_difference(const srv_ask *a, const srv_problem *why_a, const srv_ask *b,
                              const srv_problem *why_b) {
    if ((a == NULL) != (b == NULL)) return "verdict";
    if (a == NULL) return same_problem(why_a, why_b) ? NULL : "error";
    if (!same_text(a->model, b->model) || !same_text(a->layer_name, b->layer_name) ||
        a->layer_index != b->layer_index)
        return "names";
    const struct srv_ask_storage *x = a->storage, *y = b->storage;
    if (!same_problem(&a->problem, &b->problem)) return "problem";
    bool odd = !same_odd(&x->inputs, &y->inputs) || !same_odd(&x->context, &y->context) ||
               !same_odd(&x->values, &y->values);
    if (odd) return "rows of other widths";
    bool is_refused = a->problem.id != SRV_NO_PROBLEM ||
                      x->inputs.odd_width + x->context.odd_width + x->values.odd_width > 0;
    if (is_refused) return NULL;
    const char *tensors = in_tensors(a, b);
    return tensors != NULL ? tensors : in_options(a, b);
}
