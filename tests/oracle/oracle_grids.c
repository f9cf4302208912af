/* The oracle's masks and bias: (sequences ×) (heads ×) (queries ×) keys, axes of 1 broadcast; nested lists,
 * one base64 object, or a list of them in which each is one sequence's part.
 *
 * Which axes a rank has never depends on sizes. In a batch of sequences of different lengths a grid is a list
 * with one part for every sequence. The head axis is compared with H when the layer is known. */
#include "oracle_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { ONE_SEQUENCE, EVEN_BATCH, RAGGED_BATCH, PACKED_BATCH, SITUATIONS };

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
    int situation;
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
    .lowest = {1, 1, 1, 1},
    .highest = 1,
    .accepted = {"S booleans for one sequence", "N×S booleans for a batch",
                 "N lists of S booleans for sequences of different lengths",
                 "ΣS booleans for a packed batch"},
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
        return fail_list(in, list, place, "the sequence has", keys, keys == 1 ? "key" : "keys");
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
                         sequence->queries == 1 ? "query, so 1 row is expected"
                                                : "queries, so many rows or 1 are expected");
    if (*rows != 0 && count != *rows)
        return fail_list(in, list, place, "the first one has", *rows,
                         *rows == 1 ? "row, so 1 is expected" : "rows, so many are expected");
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
    if (ask->packed) return PACKED_BATCH;
    if (ask->single) return ONE_SEQUENCE;
    for (size_t i = 1; i < ask->request.sequence_count; i++)
        if (sequences[i].queries != sequences[0].queries || sequences[i].keys != sequences[0].keys)
            return RAGGED_BATCH;
    return EVEN_BATCH;
}

/* How many parts a batch has: N, or 1 for all where the rank has a batch axis. */
static bool check_parts(reader *in, const srv_place *place, size_t parts) {
    size_t count = in->ask->request.sequence_count;
    bool broadcasts = in->situation == EVEN_BATCH && in->grid->rank > 1;
    if (parts == count || (broadcasts && parts == 1)) return true;
    return srv_place_fail(place, &in->ask->problem, SRV_SHAPE_MISMATCH,
                          "found a list of %zu; inputs has %zu sequences, so many%s are expected", parts,
                          count, broadcasts ? " or 1" : "");
}

/* The part whose axes the next one must share. */
static const srv_block *like_first(const reader *in, size_t index) {
    return in->situation == EVEN_BATCH && index > 0 ? in->grid->blocks : NULL;
}

static void repeat_first(reader *in, size_t parts) {
    for (size_t i = parts; i < in->ask->request.sequence_count; i++)
        in->grid->blocks[i] = in->grid->blocks[0];
}

static bool read_batch(reader *in, const json_t *value, const srv_place *place) {
    size_t parts = json_array_size(value);
    if (!check_parts(in, place, parts)) return false;
    for (size_t i = 0; i < parts; i++) {
        srv_place part = {place, NULL, i};
        if (!read_part(in, json_array_get(value, i), &part, i, like_first(in, i))) return false;
    }
    repeat_first(in, parts);
    return true;
}

/* The parts of a packed padding mask lie one behind the other. */
static bool cut_packed(reader *in, const srv_place *place, size_t found) {
    size_t at = 0;
    for (size_t i = 0; i < in->ask->request.sequence_count; i++) {
        in->grid->blocks[i] = (srv_block){at, 1, 1};
        at += in->ask->storage->sequences[i].keys;
    }
    if (found == at) return true;
    return srv_place_fail(place, &in->ask->problem, SRV_SHAPE_MISMATCH,
                          "found a list of %zu; the sequences have %zu key%s together", found, at,
                          attn_plural(at));
}

static bool read_packed(reader *in, const json_t *list, const srv_place *place) {
    return cut_packed(in, place, json_array_size(list)) && read_keys(in, list, place, json_array_size(list));
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

/* Levels above one sequence's part. */
static size_t batch_axes(int situation) {
    return situation == EVEN_BATCH || situation == RAGGED_BATCH ? 1 : 0;
}

/* Sets the grid's rank from the whole value's. */
static bool check_rank(reader *in, const srv_place *place, size_t rank) {
    const grid_kind *kind = in->kind;
    size_t above = batch_axes(in->situation);
    in->grid->rank = rank - above;
    if (rank >= kind->lowest[in->situation] + above && rank <= kind->highest + above) return true;
    return srv_place_fail(place, &in->ask->problem, SRV_SHAPE_MISMATCH, "found rank %zu%s; expected %s", rank,
                          rank > 4 ? " or more" : "", kind->accepted[in->situation]);
}

static bool read_nested(reader *in, const json_t *value, const srv_place *place) {
    size_t rank;
    if (!oracle_rank(value, place, &in->ask->problem, 4, in->kind->accepted[in->situation], &rank))
        return false;
    /* The one form with a batch axis where inputs has none: a padding mask of 1×S. */
    srv_place only = {place, NULL, 0};
    if (in->kind == &padding_kind && in->situation == ONE_SEQUENCE && rank == 2 &&
        json_array_size(value) == 1) {
        value = json_array_get(value, 0);
        place = &only;
        rank = 1;
    }
    if (!check_rank(in, place, rank)) return false;
    if (!allocate(in->ask, in->grid, in->kind, oracle_count(value, rank))) return false;
    if (in->situation == PACKED_BATCH) return read_packed(in, value, place);
    return in->situation == ONE_SEQUENCE ? read_part(in, value, place, 0, NULL)
                                         : read_batch(in, value, place);
}

/* One sequence's part by its shape alone: as many axes as the grid's rank. */
static bool place_part(reader *in, const size_t *shape, const srv_place *place, size_t index,
                       const srv_block *like) {
    const attn_sequence *sequence = in->ask->storage->sequences + index;
    size_t rank = in->grid->rank, keys = shape[rank - 1];
    srv_block block = {in->used, rank > 2 ? shape[0] : 1, rank > 1 ? shape[rank - 2] : 1};
    srv_problem *problem = &in->ask->problem;
    if (keys != sequence->keys)
        return srv_place_fail(place, problem, SRV_SHAPE_MISMATCH, "found %zu key%s; the sequence has %zu",
                              keys, attn_plural(keys), sequence->keys);
    if (block.queries != 1 && block.queries != sequence->queries)
        return srv_place_fail(place, problem, SRV_SHAPE_MISMATCH,
                              "found %zu row%s; the sequence has %zu %s, so many rows or 1 are expected",
                              block.queries, attn_plural(block.queries), sequence->queries,
                              attn_queries(sequence->queries));
    if (like != NULL && (like->heads != block.heads || like->queries != block.queries))
        return srv_place_fail(place, problem, SRV_SHAPE_MISMATCH,
                              "found %zu head%s of %zu row%s; the first one has %zu of %zu", block.heads,
                              attn_plural(block.heads), block.queries, attn_plural(block.queries),
                              like->heads, like->queries);
    in->grid->blocks[index] = block;
    in->used += block.heads * block.queries * keys;
    return true;
}

static bool decode(reader *in, const oracle_tensor *tensor, const srv_place *place, size_t at) {
    srv_problem *problem = &in->ask->problem;
    return in->grid->numbers != NULL ? oracle_floats(tensor, place, problem, true, in->grid->numbers + at)
                                     : oracle_flags(tensor, place, problem, in->grid->flags + at);
}

static bool is_flags(const reader *in) {
    return in->kind->read != read_number;
}

/* The whole grid as one object: for sequences of one length only, or packed. */
static bool read_tensor(reader *in, json_t *value, const srv_place *place) {
    oracle_tensor tensor;
    srv_place shape = {place, "shape", 0};
    if (in->situation == RAGGED_BATCH)
        return srv_place_fail(place, &in->ask->problem, SRV_SHAPE_MISMATCH, "found one tensor; expected %s",
                              in->kind->accepted[RAGGED_BATCH]);
    if (!oracle_read_tensor(value, place, &in->ask->problem, is_flags(in), &tensor)) return false;
    const size_t *axes = tensor.shape;
    size_t rank = tensor.rank, parts = 1;
    if (in->kind == &padding_kind && in->situation == ONE_SEQUENCE && rank == 2 && axes[0] == 1) {
        axes++;
        rank--;
    }
    if (!check_rank(in, &shape, rank) || !allocate(in->ask, in->grid, in->kind, tensor.count)) return false;
    if (in->situation == PACKED_BATCH) {
        if (!cut_packed(in, &shape, tensor.count)) return false;
    } else if (in->situation == EVEN_BATCH) {
        parts = *axes++;
        if (!check_parts(in, &shape, parts)) return false;
    }
    for (size_t i = 0; i < parts && in->situation != PACKED_BATCH; i++)
        if (!place_part(in, axes, &shape, i, like_first(in, i))) return false;
    if (in->situation == EVEN_BATCH) repeat_first(in, parts);
    return decode(in, &tensor, place, 0);
}

/* One object for each sequence: first all of them for the size, then each for its data. */
static bool read_tensors(reader *in, json_t *value, const srv_place *place) {
    size_t parts = json_array_size(value), elements = 0;
    srv_problem *problem = &in->ask->problem;
    oracle_tensor tensor;
    if (batch_axes(in->situation) == 0)
        return srv_place_fail(place, problem, SRV_SHAPE_MISMATCH, "found a list of tensors; expected %s",
                              in->kind->accepted[in->situation]);
    for (size_t i = 0; i < parts; i++) {
        srv_place part = {place, NULL, i}, shape = {&part, "shape", 0};
        if (!oracle_read_tensor(json_array_get(value, i), &part, problem, is_flags(in), &tensor))
            return false;
        if (i > 0 && tensor.rank != in->grid->rank)
            return srv_place_fail(&shape, problem, SRV_SHAPE_MISMATCH,
                                  "found rank %zu; the first one has rank %zu", tensor.rank, in->grid->rank);
        if (i == 0 && !check_rank(in, &shape, tensor.rank + 1)) return false;
        elements += tensor.count; /* their texts are in memory, so the sum fits */
    }
    if (!check_parts(in, place, parts) || !allocate(in->ask, in->grid, in->kind, elements)) return false;
    for (size_t i = 0; i < parts; i++) {
        srv_place part = {place, NULL, i}, shape = {&part, "shape", 0};
        size_t at = in->used;
        if (!oracle_read_tensor(json_array_get(value, i), &part, problem, is_flags(in), &tensor) ||
            !place_part(in, tensor.shape, &shape, i, like_first(in, i)) || !decode(in, &tensor, &part, at))
            return false;
    }
    repeat_first(in, parts);
    return true;
}

static bool read_grid(srv_ask *ask, json_t *value, const srv_place *place, const grid_kind *kind,
                      srv_grid *grid) {
    reader in = {ask, kind, grid, situation_of(ask), 0};
    if (in.situation == PACKED_BATCH && kind != &padding_kind)
        return srv_place_fail(place, &ask->problem, SRV_CONFLICT,
                              "'%s' beside 'lengths'; a packed batch takes key_padding_mask only",
                              place->name);
    grid->list = oracle_is_tensor_list(value);
    grid->binary = grid->list || oracle_is_tensor(value);
    if (grid->list) return read_tensors(&in, value, place);
    return grid->binary ? read_tensor(&in, value, place) : read_nested(&in, value, place);
}

bool oracle_set_padding(srv_ask *ask, json_t *value, const srv_place *place) {
    return read_grid(ask, value, place, &padding_kind, &ask->storage->padding);
}

bool oracle_set_mask(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_grid *mask = &ask->storage->mask;
    if (!read_grid(ask, value, place, &mask_kind, mask)) return false;
    if (mask->rank == 1 && ask->storage->padding.flags != NULL)
        return srv_place_fail(
            place, &ask->problem, SRV_CONFLICT,
            "one flag for every key, beside key_padding_mask in which true means the opposite; "
            "one of the two is expected");
    return true;
}

bool oracle_set_bias(srv_ask *ask, json_t *value, const srv_place *place) {
    return read_grid(ask, value, place, &bias_kind, &ask->storage->bias);
}
