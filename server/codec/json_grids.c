/* The masks and the bias: (sequences ×) (heads ×) (queries ×) keys, axes of 1 broadcast; nested lists, one
 * tensor, or a list of them in which each is one sequence's part.
 *
 * Which axes a rank has never depends on sizes. In a batch of sequences of different lengths a grid is a list
 * with one part for every sequence. The head axis is compared with H when the layer is known. */
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>

enum { ONE_SEQUENCE, EVEN_BATCH, RAGGED_BATCH, PACKED_BATCH, SITUATIONS };

typedef struct grid_kind {
    bool is_numbers;
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
    size_t used;   /* elements so far */
    srv_walk walk; /* through nested lists */
} reader;

static const grid_kind padding_kind = {
    .element = "key_padding_mask takes booleans, true = ignore this key",
    .lowest = {1, 1, 1, 1},
    .highest = 1,
    .accepted = {"S booleans for one sequence", "N×S booleans for a batch",
                 "N lists of S booleans for sequences of different lengths",
                 "ΣS booleans for a packed batch"},
};

static const grid_kind mask_kind = {
    .element = "attention_mask takes booleans or 0 and 1, 1 = may be attended; numbers to add go into bias",
    .lowest = {1, 1, 1},
    .highest = 3,
    .accepted = {"S, {L or 1}×S or {H or 1}×{L or 1}×S for one sequence",
                 "N×S, {N or 1}×{L or 1}×S or {N or 1}×{H or 1}×{L or 1}×S for a batch",
                 "a list of N for sequences of different lengths, each S, {L or 1}×S or {H or 1}×{L or 1}×S"},
};

static const grid_kind bias_kind = {
    .is_numbers = true,
    .element = "bias takes numbers, which are added to the scaled scores",
    .lowest = {2, 3, 2},
    .highest = 3,
    .accepted = {"{L or 1}×S or {H or 1}×{L or 1}×S for one sequence",
                 "{N or 1}×{H or 1}×{L or 1}×S for a batch",
                 "a list of N for sequences of different lengths, each {L or 1}×S or {H or 1}×{L or 1}×S"},
};

/* An element of one of the nested lists, where a list belongs. */
typedef struct item {
    const srv_odd *odd; /* it is none; NULL: it is */
    size_t length;
} item;

/* Element `index` of the list above a level. */
static item next_item(reader *in, size_t level, size_t index) {
    const srv_odd *odd = srv_walk_odd(&in->walk, level - 1, index);
    return odd != NULL ? (item){odd, 0} : (item){NULL, srv_walk_next(&in->walk, level)};
}

/* "found a list of 3; <before> 4 <after>" */
static bool fail_list(reader *in, item list, const srv_place *place, const char *before, size_t number,
                      const char *after) {
    char found[SRV_FOUND_SIZE];
    const srv_odd as_list = {.kind = SRV_KIND_LIST, .length = list.length};
    return srv_place_fail(place, &in->ask->problem, list.odd == NULL ? SRV_SHAPE_MISMATCH : SRV_WRONG_TYPE,
                          "found %s; %s %zu %s", srv_odd_found(list.odd == NULL ? &as_list : list.odd, found),
                          before, number, after);
}

/* Booleans alone are padding: numbers there are as often meant to be added as to be ignored. */
static bool fail_element(reader *in, const srv_odd *odd, const srv_place *list) {
    char found[SRV_FOUND_SIZE];
    srv_place place = {list, NULL, odd->index};
    bool is_number = odd->kind == SRV_KIND_NUMBER && in->kind != &padding_kind;
    if (is_number && in->kind->is_numbers)
        return srv_place_fail(&place, &in->ask->problem, SRV_OUT_OF_RANGE,
                              "found %s; float32 holds magnitudes up to 3.4028235e38",
                              srv_odd_found(odd, found));
    return srv_place_fail(&place, &in->ask->problem, is_number ? SRV_OUT_OF_RANGE : SRV_WRONG_TYPE,
                          "found %s; %s", srv_odd_found(odd, found), in->kind->element);
}

static bool read_keys(reader *in, item list, const srv_place *place, size_t keys) {
    if (list.odd != NULL || list.length != keys)
        return fail_list(in, list, place, "the sequence has", keys, keys == 1 ? "key" : "keys");
    const srv_odd *odd = srv_walk_any_odd(&in->walk, in->walk.nest->rank);
    if (odd != NULL) return fail_element(in, odd, place);
    in->used += keys;
    return true;
}

/* *rows: 0 where L or 1 are fine, else how many there must be; becomes the number found. */
static bool read_queries(reader *in, item list, const srv_place *place, const attn_sequence *sequence,
                         size_t *rows) {
    size_t count = list.length;
    if (*rows == 0 && count != 1 && count != sequence->queries)
        return fail_list(in, list, place, "the sequence has", sequence->queries,
                         sequence->queries == 1 ? "query, so 1 row is expected"
                                                : "queries, so many rows or 1 are expected");
    if (*rows != 0 && count != *rows)
        return fail_list(in, list, place, "the first one has", *rows,
                         *rows == 1 ? "row, so 1 is expected" : "rows, so many are expected");
    for (size_t i = 0; i < count; i++) {
        srv_place row = {place, NULL, i};
        if (!read_keys(in, next_item(in, in->walk.nest->rank, i), &row, sequence->keys)) return false;
    }
    *rows = count;
    return true;
}

static bool read_heads(reader *in, item list, const srv_place *place, const attn_sequence *sequence,
                       srv_block *block) {
    size_t count = list.length;
    if (count == 0) return fail_list(in, list, place, "at least", 1, "head is expected");
    if (block->heads != 0 && count != block->heads)
        return fail_list(in, list, place, "the first one has", block->heads, "heads, so many are expected");
    for (size_t i = 0; i < count; i++) {
        srv_place head = {place, NULL, i};
        item rows = next_item(in, in->walk.nest->rank - 1, i);
        if (!read_queries(in, rows, &head, sequence, &block->queries)) return false;
    }
    block->heads = count;
    return true;
}

/* One sequence's part. `like`: the part whose axes it must share in an even batch, or NULL. */
static bool read_part(reader *in, item list, const srv_place *place, size_t index, const srv_block *like) {
    const attn_sequence *sequence = in->ask->storage->sequences + index;
    srv_block block = {in->used, like == NULL ? 0 : like->heads, like == NULL ? 0 : like->queries};
    bool done = false;
    switch (in->grid->rank) {
    case 1: done = read_keys(in, list, place, sequence->keys); break;
    case 2: done = read_queries(in, list, place, sequence, &block.queries); break;
    default: done = read_heads(in, list, place, sequence, &block); break;
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

static bool read_batch(reader *in, size_t parts, const srv_place *place) {
    if (!check_parts(in, place, parts)) return false;
    for (size_t i = 0; i < parts; i++) {
        srv_place part = {place, NULL, i};
        if (!read_part(in, next_item(in, 2, i), &part, i, like_first(in, i))) return false;
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

static bool allocate(srv_ask *ask, srv_grid *grid, const grid_kind *kind, size_t elements) {
    size_t count = ask->request.sequence_count, bytes;
    size_t more = grid->is_borrowed ? 0 : elements, size = kind->is_numbers ? sizeof(float) : 1;
    if (!attn_size_mul(count, sizeof *grid->blocks, &bytes) || !attn_size_mul(more, size, &more) ||
        !attn_size_add(bytes, more, &bytes))
        bytes = SIZE_MAX;
    if (!srv_ask_take(ask, bytes)) return false;
    grid->blocks = calloc(count, sizeof *grid->blocks);
    if (grid->is_borrowed) {
        /* the elements lie where they are */
    } else if (kind->is_numbers) {
        grid->numbers = calloc(elements, size);
    } else {
        grid->flags = calloc(elements, size);
    }
    bool has_elements = grid->is_borrowed || grid->numbers != NULL || grid->flags != NULL;
    if (grid->blocks != NULL && has_elements) return true;
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

static bool is_flags(const reader *in) {
    return !in->kind->is_numbers;
}

/* The elements lie there and stay there. */
static void borrow(reader *in, void *lies) {
    in->grid->is_borrowed = true;
    if (is_flags(in))
        in->grid->flags = lies;
    else
        in->grid->numbers = lies;
}

static bool read_nested(reader *in, const srv_nest *nest, const srv_place *place) {
    size_t rank;
    if (!srv_nest_rank(nest, place, &in->ask->problem, 4, in->kind->accepted[in->situation], &rank))
        return false;
    in->walk = (srv_walk){.nest = nest};
    item whole = {NULL, srv_walk_next(&in->walk, 1)};
    /* The one form with a batch axis where inputs has none: a padding mask of 1×S. */
    srv_place only = {place, NULL, 0};
    if (in->kind == &padding_kind && in->situation == ONE_SEQUENCE && rank == 2 && whole.length == 1) {
        whole = next_item(in, 2, 0);
        place = &only;
        rank = 1;
    }
    if (!check_rank(in, place, rank)) return false;
    borrow(in, nest->elements.data);
    if (!allocate(in->ask, in->grid, in->kind, 0)) return false;
    if (in->situation == PACKED_BATCH)
        return cut_packed(in, place, whole.length) && read_keys(in, whole, place, whole.length);
    return in->situation == ONE_SEQUENCE ? read_part(in, whole, place, 0, NULL)
                                         : read_batch(in, whole.length, place);
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

static bool decode(reader *in, const srv_tensor *tensor, const srv_place *place, size_t at) {
    srv_problem *problem = &in->ask->problem;
    return in->grid->numbers != NULL ? srv_tensor_floats(tensor, place, problem, true, in->grid->numbers + at)
                                     : srv_tensor_flags(tensor, place, problem, in->grid->flags + at);
}

/* The whole grid as one tensor: for sequences of one length only, or packed. */
static bool read_tensor(reader *in, const srv_tensors *given, const srv_place *place) {
    srv_tensor tensor;
    void *lies;
    srv_place shape = {place, "shape", 0};
    if (in->situation == RAGGED_BATCH)
        return srv_place_fail(place, &in->ask->problem, SRV_SHAPE_MISMATCH, "found one tensor; expected %s",
                              in->kind->accepted[RAGGED_BATCH]);
    if (!given->at(given, 0, place, &in->ask->problem, is_flags(in), &tensor)) return false;
    srv_tensor_join(&tensor, is_flags(in), 0, &lies);
    if (lies != NULL) borrow(in, lies);
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

/* One tensor for each sequence: first all of them for the size, then each for its data. */
static bool read_tensors(reader *in, const srv_tensors *given, const srv_place *place) {
    size_t parts = given->count, elements = 0;
    srv_problem *problem = &in->ask->problem;
    srv_tensor tensor;
    void *lies = NULL; /* where all of them do, one behind the other */
    if (batch_axes(in->situation) == 0)
        return srv_place_fail(place, problem, SRV_SHAPE_MISMATCH, "found a list of tensors; expected %s",
                              in->kind->accepted[in->situation]);
    for (size_t i = 0; i < parts; i++) {
        srv_place part = {place, NULL, i}, shape = {&part, "shape", 0};
        if (!given->at(given, i, &part, problem, is_flags(in), &tensor)) return false;
        if (i > 0 && tensor.rank != in->grid->rank)
            return srv_place_fail(&shape, problem, SRV_SHAPE_MISMATCH,
                                  "found rank %zu; the first one has rank %zu", tensor.rank, in->grid->rank);
        if (i == 0 && !check_rank(in, &shape, tensor.rank + 1)) return false;
        srv_tensor_join(&tensor, is_flags(in), elements, &lies);
        elements += tensor.count; /* their data is in memory, so the sum fits */
    }
    if (lies != NULL) borrow(in, lies);
    if (!check_parts(in, place, parts) || !allocate(in->ask, in->grid, in->kind, elements)) return false;
    for (size_t i = 0; i < parts; i++) {
        srv_place part = {place, NULL, i}, shape = {&part, "shape", 0};
        size_t at = in->used;
        if (!given->at(given, i, &part, problem, is_flags(in), &tensor) ||
            !place_part(in, tensor.shape, &shape, i, like_first(in, i)) || !decode(in, &tensor, &part, at))
            return false;
    }
    repeat_first(in, parts);
    return true;
}

static bool fail_other(reader *in, const json_t *value, const srv_place *place) {
    char found[SRV_FOUND_SIZE];
    return srv_place_fail(place, &in->ask->problem, SRV_WRONG_TYPE, "found %s; expected %s",
                          srv_json_found(value, found), in->kind->accepted[in->situation]);
}

static bool read_grid(srv_ask *ask, const srv_given *given, const srv_place *place, const grid_kind *kind,
                      srv_grid *grid) {
    reader in = {.ask = ask, .kind = kind, .grid = grid, .situation = situation_of(ask)};
    if (in.situation == PACKED_BATCH && kind != &padding_kind)
        return srv_place_fail(place, &ask->problem, SRV_CONFLICT,
                              "'%s' beside 'lengths'; a packed batch takes key_padding_mask only",
                              place->name);
    if (given->other != NULL) return fail_other(&in, given->other, place);
    if (given->nest != NULL) return read_nested(&in, given->nest, place);
    grid->binary = true;
    grid->list = given->tensors.is_list;
    return grid->list ? read_tensors(&in, &given->tensors, place) : read_tensor(&in, &given->tensors, place);
}

bool srv_set_padding(srv_ask *ask, const srv_given *given, const srv_place *place) {
    return read_grid(ask, given, place, &padding_kind, &ask->storage->padding);
}

bool srv_set_mask(srv_ask *ask, const srv_given *given, const srv_place *place) {
    srv_grid *mask = &ask->storage->mask;
    if (!read_grid(ask, given, place, &mask_kind, mask)) return false;
    if (mask->rank == 1 && ask->storage->padding.flags != NULL)
        return srv_place_fail(
            place, &ask->problem, SRV_CONFLICT,
            "one flag for every key, beside key_padding_mask in which true means the opposite; "
            "one of the two is expected");
    return true;
}

bool srv_set_bias(srv_ask *ask, const srv_given *given, const srv_place *place) {
    return read_grid(ask, given, place, &bias_kind, &ask->storage->bias);
}
