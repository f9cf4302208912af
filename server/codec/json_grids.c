/* The decoder's masks and bias: nested lists over (sequences ×) (heads ×) (queries ×) keys, axes of 1
 * broadcast.
 *
 * Which axes a rank has never depends on sizes. In a batch of sequences of different lengths a grid is a list
 * with one part for every sequence. The head axis is compared with H when the layer is known. */
#include "json_walk.h"

#include <stdio.h>
#include <stdlib.h>

enum { ONE_SEQUENCE, EVEN_BATCH, RAGGED_BATCH, SITUATIONS };

typedef struct grid_kind {
    bool (*read)(const struct grid_kind *kind, srv_grid *grid, size_t at, const json_t *value,
                 const srv_place *place, srv_problem *problem);
    const char *element;       /* what is expected of one */
    size_t lowest[SITUATIONS]; /* rank of one sequence's part */
    size_t highest;
    const char *accepted[SITUATIONS]; /* for the error of any other rank */
} grid_kind;

typedef struct reader {
    srv_ask *ask;
    const grid_kind *kind;
    srv_grid *grid;
    size_t used; /* elements so far */
} reader;

static bool fail_element(const grid_kind *kind, const json_t *value, const srv_place *place,
                         srv_problem *problem, srv_problem_id id) {
    char found[SRV_FOUND_SIZE];
    return srv_place_fail(place, problem, id, "found %s; %s", srv_json_found(value, found), kind->element);
}

/* Booleans only: numbers here are as often meant to be added as to be ignored. */
static bool read_padding(const grid_kind *kind, srv_grid *grid, size_t at, const json_t *value,
                         const srv_place *place, srv_problem *problem) {
    if (!json_is_boolean(value)) return fail_element(kind, value, place, problem, SRV_WRONG_TYPE);
    grid->flags[at] = json_is_true(value);
    return true;
}

static bool read_flag(const grid_kind *kind, srv_grid *grid, size_t at, const json_t *value,
                      const srv_place *place, srv_problem *problem) {
    if (json_is_boolean(value)) {
        grid->flags[at] = json_is_true(value);
        return true;
    }
    if (!json_is_number(value)) return fail_element(kind, value, place, problem, SRV_WRONG_TYPE);
    double number = json_number_value(value);
    if (number != 0 && number != 1) return fail_element(kind, value, place, problem, SRV_OUT_OF_RANGE);
    grid->flags[at] = number == 1;
    return true;
}

static bool read_number(const grid_kind *kind, srv_grid *grid, size_t at, const json_t *value,
                        const srv_place *place, srv_problem *problem) {
    if (!json_is_number(value)) return fail_element(kind, value, place, problem, SRV_WRONG_TYPE);
    return srv_json_float(value, place, problem, grid->numbers + at);
}

static const grid_kind padding_kind = {
    .read = read_padding,
    .element = "key_padding_mask takes booleans, true = ignore this key",
    .lowest = {1, 1, 1},
    .highest = 1,
    .accepted = {"S booleans for one sequence", "N×S booleans for a batch",
                 "N lists of S booleans for sequences of different lengths"},
};

static const grid_kind mask_kind = {
    .read = read_flag,
    .element = "attention_mask takes booleans or 0 and 1, 1 = may be attended; numbers to add go into bias",
    .lowest = {1, 1, 1},
    .highest = 3,
    .accepted = {"S, {L or 1}×S or {H or 1}×{L or 1}×S for one sequence",
                 "N×S, {N or 1}×{L or 1}×S or {N or 1}×{H or 1}×{L or 1}×S for a batch",
                 "a list of N for sequences of different lengths, each S, {L or 1}×S or {H or 1}×{L or 1}×S"},
};

static const grid_kind bias_kind = {
    .read = read_number,
    .element = "bias takes numbers, which are added to the scaled scores",
    .lowest = {2, 3, 2},
    .highest = 3,
    .accepted = {"{L or 1}×S or {H or 1}×{L or 1}×S for one sequence",
                 "{N or 1}×{H or 1}×{L or 1}×S for a batch",
                 "a list of N for sequences of different lengths, each {L or 1}×S or {H or 1}×{L or 1}×S"},
};

/* "found a list of 3; <before> 4 <after>" */
static bool fail_list(reader *in, const json_t *value, const srv_place *place, const char *before,
                      size_t number, const char *after) {
    char found[SRV_FOUND_SIZE];
    return srv_place_fail(place, &in->ask->problem,
                          json_is_array(value) ? SRV_SHAPE_MISMATCH : SRV_WRONG_TYPE, "found %s; %s %zu %s",
                          srv_json_found(value, found), before, number, after);
}

static bool read_keys(reader *in, const json_t *list, const srv_place *place, size_t keys) {
    if (!json_is_array(list) || json_array_size(list) != keys)
        return fail_list(in, list, place, "the sequence has", keys, "keys");
    for (size_t i = 0; i < keys; i++) {
        srv_place element = {place, NULL, i};
        const json_t *value = json_array_get(list, i);
        if (!in->kind->read(in->kind, in->grid, in->used, value, &element, &in->ask->problem)) return false;
        in->used++;
    }
    return true;
}

/* *rows: 0 where L or 1 are fine, else how many there must be; becomes the number found. */
static bool read_queries(reader *in, const json_t *list, const srv_place *place,
                         const attn_sequence *sequence, size_t *rows) {
    size_t count = json_array_size(list);
    if (*rows == 0 && count != 1 && count != sequence->queries)
        return fail_list(in, list, place, "the sequence has", sequence->queries,
                         "queries, so many rows or 1 are expected");
    if (*rows != 0 && count != *rows)
        return fail_list(in, list, place, "the first one has", *rows, "rows, so many are expected");
    for (size_t i = 0; i < count; i++) {
        srv_place row = {place, NULL, i};
        if (!read_keys(in, json_array_get(list, i), &row, sequence->keys)) return false;
    }
    *rows = count;
    return true;
}

static bool read_heads(reader *in, const json_t *list, const srv_place *place, const attn_sequence *sequence,
                       srv_block *block) {
    size_t count = json_array_size(list);
    if (count == 0) return fail_list(in, list, place, "at least", 1, "head is expected");
    if (block->heads != 0 && count != block->heads)
        return fail_list(in, list, place, "the first one has", block->heads, "heads, so many are expected");
    for (size_t i = 0; i < count; i++) {
        srv_place head = {place, NULL, i};
        if (!read_queries(in, json_array_get(list, i), &head, sequence, &block->queries)) return false;
    }
    block->heads = count;
    return true;
}

/* One sequence's part. `like`: the part whose axes it must share in an even batch, or NULL. */
static bool read_part(reader *in, const json_t *value, const srv_place *place, size_t index,
                      const srv_block *like) {
    const attn_sequence *sequence = in->ask->storage->sequences + index;
    srv_block block = {in->used, like == NULL ? 0 : like->heads, like == NULL ? 0 : like->queries};
    bool done = false;
    switch (in->grid->rank) {
    case 1: done = read_keys(in, value, place, sequence->keys); break;
    case 2: done = read_queries(in, value, place, sequence, &block.queries); break;
    default: done = read_heads(in, value, place, sequence, &block); break;
    }
    if (!done) return false;
    if (in->grid->rank < 3) block.heads = 1;
    if (in->grid->rank < 2) block.queries = 1;
    in->grid->blocks[index] = block;
    return true;
}

static int situation_of(const srv_ask *ask) {
    const attn_sequence *sequences = ask->storage->sequences;
    if (ask->single) return ONE_SEQUENCE;
    for (size_t i = 1; i < ask->request.sequence_count; i++)
        if (sequences[i].queries != sequences[0].queries || sequences[i].keys != sequences[0].keys)
            return RAGGED_BATCH;
    return EVEN_BATCH;
}

static bool read_batch(reader *in, const json_t *value, const srv_place *place, int situation) {
    size_t count = in->ask->request.sequence_count, parts = json_array_size(value);
    bool broadcasts = situation == EVEN_BATCH && in->grid->rank > 1;
    if (parts != count && !(broadcasts && parts == 1))
        return fail_list(in, value, place, "inputs has", count,
                         broadcasts ? "sequences, so many or 1 are expected"
                                    : "sequences, so many are expected");
    for (size_t i = 0; i < parts; i++) {
        srv_place part = {place, NULL, i};
        const srv_block *like = situation == EVEN_BATCH && i > 0 ? in->grid->blocks : NULL;
        if (!read_part(in, json_array_get(value, i), &part, i, like)) return false;
    }
    for (size_t i = parts; i < count; i++)
        in->grid->blocks[i] = in->grid->blocks[0];
    return true;
}

static bool allocate(srv_ask *ask, srv_grid *grid, const grid_kind *kind, size_t elements) {
    grid->blocks = calloc(ask->request.sequence_count, sizeof *grid->blocks);
    if (kind->read == read_number) {
        grid->numbers = calloc(elements, sizeof *grid->numbers);
    } else {
        grid->flags = calloc(elements, sizeof *grid->flags);
    }
    if (grid->blocks != NULL && (grid->numbers != NULL || grid->flags != NULL)) return true;
    return srv_problem_set(&ask->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the masks");
}

static bool read_grid(srv_ask *ask, const json_t *value, const srv_place *place, const grid_kind *kind,
                      srv_grid *grid) {
    int situation = situation_of(ask);
    const char *accepted = kind->accepted[situation];
    size_t rank, lists = situation == ONE_SEQUENCE ? 0 : 1; /* levels above one sequence's part */
    if (!srv_json_rank(value, place, &ask->problem, 4, accepted, &rank)) return false;
    /* The one form with a batch axis where inputs has none: a padding mask of 1×S. */
    srv_place only = {place, NULL, 0};
    if (kind == &padding_kind && situation == ONE_SEQUENCE && rank == 2 && json_array_size(value) == 1) {
        value = json_array_get(value, 0);
        place = &only;
        rank = 1;
    }
    if (rank < kind->lowest[situation] + lists || rank > kind->highest + lists)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found rank %zu%s; expected %s", rank,
                              rank > 4 ? " or more" : "", accepted);
    grid->rank = rank - lists;
    if (!allocate(ask, grid, kind, srv_json_count(value, rank))) return false;
    reader in = {ask, kind, grid, 0};
    return lists == 0 ? read_part(&in, value, place, 0, NULL) : read_batch(&in, value, place, situation);
}

/* Whether every query may see exactly the keys behind its own position: torch's triu(diagonal=1), in which
 * true means masked, handed in where 1 means attended. */
static bool looks_inverted(const uint8_t *flags, size_t size) {
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            if (flags[i * size + j] != (j > i)) return false;
    return size > 1;
}

static void hint_at_inversion(srv_ask *ask, const srv_grid *mask) {
    for (size_t i = 0; i < ask->request.sequence_count; i++) {
        size_t keys = ask->storage->sequences[i].keys;
        if (mask->blocks[i].queries != keys || !looks_inverted(mask->flags + mask->blocks[i].offset, keys))
            continue;
        srv_ask_warn(
            ask,
            "attention_mask shows every query only the keys after it; 1 means 'may be attended', so this "
            "looks like an inverted look-ahead mask");
        return;
    }
}

bool srv_json_set_padding(srv_ask *ask, json_t *value, const srv_place *place) {
    return read_grid(ask, value, place, &padding_kind, &ask->storage->padding);
}

bool srv_json_set_mask(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_grid *mask = &ask->storage->mask;
    if (!read_grid(ask, value, place, &mask_kind, mask)) return false;
    if (mask->rank == 1 && ask->storage->padding.flags != NULL)
        return srv_place_fail(
            place, &ask->problem, SRV_CONFLICT,
            "one flag for every key, beside key_padding_mask in which true means the opposite; "
            "one of the two is expected");
    hint_at_inversion(ask, mask);
    return true;
}

bool srv_json_set_bias(srv_ask *ask, json_t *value, const srv_place *place) {
    return read_grid(ask, value, place, &bias_kind, &ask->storage->bias);
}
