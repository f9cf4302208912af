#include "random_body.h"

#include "wire_tensor.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct writer {
    random_request *random;
    random_body *text;
    FILE *body, *query;
} writer;

static bool one_in(writer *to, size_t count) {
    return random_below(to->random, count) == 0;
}

static const attn_request *request_of(const writer *to) {
    return &to->random->request;
}

/* Where an option's value goes. */
typedef struct option {
    FILE *out;
    bool in_query;
} option;

/* Starts an option in the body (outside or inside `return`) or in the query. */
static option begin(writer *to, const char *name, FILE *body) {
    if (one_in(to, 2)) {
        fprintf(to->query, "%s%s=", ftell(to->query) > 0 ? "&" : "", name);
        return (option){to->query, true};
    }
    fprintf(body, ",\"%s\":", name);
    return (option){body, false};
}

static void put_number(writer *to, FILE *body, const char *name, double number) {
    option at = begin(to, name, body);
    fprintf(at.out, "%.17g", number);
}

static void put_boolean(writer *to, FILE *body, const char *name, bool value) {
    option at = begin(to, name, body);
    if (at.in_query && one_in(to, 2)) {
        fputs(value ? "1" : "0", at.out);
    } else {
        fputs(value ? "true" : "false", at.out);
    }
}

static void put_word(writer *to, FILE *body, const char *name, const char *word) {
    option at = begin(to, name, body);
    fprintf(at.out, at.in_query ? "%s" : "\"%s\"", word);
}

static void put_list(writer *to, FILE *body, const char *name, const size_t *list, size_t count) {
    option at = begin(to, name, body);
    if (!at.in_query) putc('[', at.out);
    for (size_t i = 0; i < count; i++)
        fprintf(at.out, i == 0 ? "%zu" : ",%zu", list[i]);
    if (!at.in_query) putc(']', at.out);
}

static wire_form number_form(writer *to) {
    static const wire_form forms[] = {WIRE_LISTS, WIRE_LISTS, WIRE_F32, WIRE_F64};
    return forms[random_below(to->random, 4)];
}

static bool is_even(const writer *to) {
    const attn_request *request = request_of(to);
    for (size_t i = 1; i < request->sequence_count; i++)
        if (request->sequences[i].queries != request->sequences[0].queries ||
            request->sequences[i].keys != request->sequences[0].keys)
            return false;
    return true;
}

/* inputs, context or values: of ΣL or ΣS rows. */
static void put_rows(writer *to, const char *name, const float *data, size_t width, bool of_keys) {
    const attn_request *request = request_of(to);
    size_t count = request->sequence_count, total = 0;
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        size_t rows = of_keys ? request->sequences[i].keys : request->sequences[i].queries;
        same = same && rows == (of_keys ? request->sequences[0].keys : request->sequences[0].queries);
        total += rows;
    }
    fprintf(to->body, ",\"%s\":", name);
    wire_form form = number_form(to);
    if (to->text->single || to->text->packed) {
        wire_put(to->body, form, data, (size_t[]){total, width}, 2);
        return;
    }
    if (same && form != WIRE_LISTS && one_in(to, 2)) {
        wire_put(to->body, form, data, (size_t[]){count, total / count, width}, 3);
        return;
    }
    putc('[', to->body);
    for (size_t i = 0; i < count; i++) {
        size_t rows = of_keys ? request->sequences[i].keys : request->sequences[i].queries;
        if (i > 0) putc(',', to->body);
        wire_put(to->body, form, data, (size_t[]){rows, width}, 2);
        data += rows * width;
    }
    putc(']', to->body);
}

static void put_padding(writer *to) {
    const attn_request *request = request_of(to);
    size_t total = 0, given = 0, at = 0;
    for (size_t i = 0; i < request->sequence_count; i++) {
        total += request->sequences[i].keys;
        given += request->sequences[i].padding != NULL;
    }
    if (given == 0) return;
    float *flags = calloc(total, sizeof *flags);
    for (size_t i = 0; i < request->sequence_count; i++)
        for (size_t j = 0; j < request->sequences[i].keys; j++, at++)
            flags[at] = request->sequences[i].padding != NULL && request->sequences[i].padding[j] != 0;
    static const wire_form forms[] = {WIRE_BOOLEANS, WIRE_BOOL, WIRE_U8};
    wire_form form = forms[random_below(to->random, 3)];
    fputs(",\"key_padding_mask\":", to->body);
    if (to->text->packed) {
        wire_put(to->body, form, flags, &total, 1);
    } else if (to->text->single) {
        bool row = one_in(to, 2);
        wire_put(to->body, form, flags, (size_t[]){1, total} + !row, 1 + row);
    } else {
        at = 0;
        putc('[', to->body);
        for (size_t i = 0; i < request->sequence_count; at += request->sequences[i++].keys) {
            if (i > 0) putc(',', to->body);
            wire_put(to->body, form, flags + at, &request->sequences[i].keys, 1);
        }
        putc(']', to->body);
    }
    free(flags);
}

/* One element of a sequence's mask or bias; what is absent lets through. */
static float element(const attn_sequence *sequence, bool of_bias, size_t h, size_t i, size_t j) {
    const attn_mask *mask = &sequence->mask;
    const attn_bias *bias = &sequence->bias;
    if (of_bias)
        return bias->values == NULL ? 0 : bias->values[h * bias->head_stride + i * bias->query_stride + j];
    return mask->allow == NULL || mask->allow[h * mask->head_stride + i * mask->query_stride + j] != 0;
}

/* Which axes all sequences' masks can do without. */
static void needed_axes(const writer *to, bool of_bias, bool *given, bool *heads, bool *queries) {
    const attn_request *request = request_of(to);
    *given = *heads = *queries = false;
    for (size_t n = 0; n < request->sequence_count; n++) {
        const attn_sequence *s = &request->sequences[n];
        *given = *given || (of_bias ? s->bias.values != NULL : s->mask.allow != NULL);
        *heads = *heads || (of_bias ? s->bias.head_stride : s->mask.head_stride) > 0;
        *queries = *queries || (of_bias ? s->bias.query_stride : s->mask.query_stride) > 0;
    }
}

static bool any_infinite(const writer *to) {
    const attn_request *request = request_of(to);
    for (size_t n = 0; n < request->sequence_count; n++)
        for (size_t h = 0; h < request->layer->heads; h++)
            for (size_t i = 0; i < request->sequences[n].queries; i++)
                for (size_t j = 0; j < request->sequences[n].keys; j++)
                    if (isinf(element(&request->sequences[n], true, h, i, j))) return true;
    return false;
}

static void put_part(writer *to, const attn_sequence *s, bool of_bias, wire_form form, const size_t shape[3],
                     size_t rank) {
    float *values = calloc(shape[0] * shape[1] * shape[2], sizeof *values), *at = values;
    for (size_t h = 0; h < shape[0]; h++)
        for (size_t i = 0; i < shape[1]; i++)
            for (size_t j = 0; j < shape[2]; j++)
                *at++ = element(s, of_bias, h, i, j);
    wire_put(to->body, form, values, shape + 3 - rank, rank);
    free(values);
}

/* The smallest rank that holds the needed axes, or a larger one. */
static size_t choose_rank(writer *to, bool of_bias, bool heads, bool queries) {
    size_t lowest = heads ? 3 : queries || of_bias ? 2 : 1;
    bool even_batch = !to->text->single && is_even(to);
    if (of_bias && even_batch) lowest = 3;
    bool padded = false;
    for (size_t n = 0; n < request_of(to)->sequence_count; n++)
        padded = padded || request_of(to)->sequences[n].padding != NULL;
    if (padded && lowest == 1) lowest = 2;
    return lowest + random_below(to->random, 4 - lowest);
}

static void put_grid(writer *to, const char *name, bool of_bias) {
    const attn_request *request = request_of(to);
    bool given, heads, queries;
    needed_axes(to, of_bias, &given, &heads, &queries);
    if (!given) return;
    static const wire_form flag_forms[] = {WIRE_LISTS, WIRE_BOOLEANS, WIRE_BOOL, WIRE_U8};
    wire_form form = !of_bias           ? flag_forms[random_below(to->random, 4)]
                     : any_infinite(to) ? (one_in(to, 2) ? WIRE_F32 : WIRE_F64)
                                        : number_form(to);
    size_t rank = choose_rank(to, of_bias, heads, queries);
    fprintf(to->body, ",\"%s\":", name);
    if (!to->text->single) putc('[', to->body);
    for (size_t n = 0; n < request->sequence_count; n++) {
        const attn_sequence *s = &request->sequences[n];
        size_t shape[3] = {heads ? request->layer->heads : 1, queries ? s->queries : 1, s->keys};
        if (n > 0) putc(',', to->body);
        put_part(to, s, of_bias, form, shape, rank);
    }
    if (!to->text->single) putc(']', to->body);
}

static void put_rules(writer *to) {
    const attn_request *request = request_of(to);
    switch (request->causal) {
    case ATTN_CAUSAL_LAYER: break;
    case ATTN_CAUSAL_OFF: put_boolean(to, to->body, "causal", false); break;
    case ATTN_CAUSAL_SQUARE: put_boolean(to, to->body, "causal", true); break;
    case ATTN_CAUSAL_TOP_LEFT: put_word(to, to->body, "causal", "top_left"); break;
    case ATTN_CAUSAL_BOTTOM_RIGHT: put_word(to, to->body, "causal", "bottom_right"); break;
    }
    if (request->window_given) put_number(to, to->body, "window", (double)request->window);
    if (request->scale_given) put_number(to, to->body, "scale", (double)request->scale);
}

static void put_returns(writer *to) {
    const attn_request *request = request_of(to);
    random_body *text = to->text;
    char *members = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&members, &size);
    ck_assert_ptr_nonnull(out);
    put_boolean(to, out, "outputs", (request->want & ATTN_WANT_OUTPUTS) != 0);
    put_boolean(to, out, "attention", (request->want & ATTN_WANT_MAPS) != 0);
    if (request->want & ATTN_WANT_SCORES) put_boolean(to, out, "scores", true);
    if (request->want & ATTN_WANT_PROJECTIONS) put_boolean(to, out, "projections", true);
    if (request->heads) put_list(to, out, "heads", request->heads, request->head_count);
    if (request->queries) put_list(to, out, "queries", request->queries, request->query_count);
    if (request->average_heads) put_boolean(to, out, "average_heads", true);
    if (request->top_k > 0) put_number(to, out, "top_k", (double)request->top_k);
    if (text->base64) put_word(to, out, "encoding", "base64");
    if (text->half) put_word(to, out, "dtype", "f16");
    if (text->precision > 0) put_number(to, out, "precision", (double)text->precision);
    fclose(out);
    if (size > 0) fprintf(to->body, ",\"return\":{%s}", members + 1);
    free(members);
}

static void put_lengths(writer *to) {
    const attn_request *request = request_of(to);
    size_t *lengths = calloc(request->sequence_count, sizeof *lengths);
    for (size_t i = 0; i < request->sequence_count; i++)
        lengths[i] = request->sequences[i].queries;
    put_list(to, to->body, "lengths", lengths, request->sequence_count);
    for (size_t i = 0; i < request->sequence_count; i++)
        lengths[i] = request->sequences[i].keys;
    if (request->context) put_list(to, to->body, "context_lengths", lengths, request->sequence_count);
    free(lengths);
}

static void choose(writer *to) {
    attn_request *request = &to->random->request;
    random_body *text = to->text;
    bool has_grid = false;
    for (size_t n = 0; n < request->sequence_count; n++)
        has_grid = has_grid || request->sequences[n].mask.allow || request->sequences[n].bias.values;
    text->single = request->sequence_count == 1 && one_in(to, 2);
    text->packed = !text->single && !has_grid && one_in(to, 2);
    text->base64 = one_in(to, 2);
    text->half = text->base64 && one_in(to, 2);
    text->precision = one_in(to, 4) ? 4 + random_below(to->random, 6) : 0;
    bool maps = (request->want & ATTN_WANT_MAPS) != 0;
    request->average_heads = maps && !(request->want & ATTN_WANT_SCORES) && one_in(to, 2);
    if (maps && one_in(to, 2)) request->top_k = 1 + random_below(to->random, 12);
}

void random_body_init(random_body *text, random_request *random) {
    size_t body_size, query_size;
    *text = (random_body){0};
    writer to = {random, text, open_memstream(&text->body, &body_size),
                 open_memstream(&text->query, &query_size)};
    ck_assert(to.body != NULL && to.query != NULL);
    const attn_request *request = &random->request;
    choose(&to);
    fputs("{\"model\":null", to.body);
    put_returns(&to);
    put_grid(&to, "bias", true);
    put_grid(&to, "attention_mask", false);
    put_padding(&to);
    put_rules(&to);
    if (request->values) put_rows(&to, "values", request->values, request->d_value, true);
    if (request->context) put_rows(&to, "context", request->context, request->d_key, true);
    put_rows(&to, "inputs", request->inputs, request->d_model, false);
    if (text->packed) put_lengths(&to);
    fputs("}", to.body);
    fclose(to.body);
    fclose(to.query);
}

void random_body_done(random_body *text) {
    free(text->body);
    free(text->query);
    *text = (random_body){0};
}
