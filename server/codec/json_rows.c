/* The tensors of rows: inputs, context, values, as nested lists, as one tensor or as a list of them. Sequences may
 * differ in length; rows of one tensor may not differ in width, which is told when the layer's own width is known.
 * With `lengths` the rows of a rank-2 tensor are those of all sequences. */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

static const char expected[] = "L×D numbers for one sequence or N×L×D for a batch";
static const char expected_packed[] = "ΣL×D numbers for the sequences of 'lengths'";
static const char no_text[] = "; attention takes vectors (embeddings), not text";

typedef struct reader {
    srv_ask *ask;
    srv_rows *rows;
    srv_problem *problem;
    const srv_place *place;     /* of the tensor */
    const srv_lengths *lengths; /* NULL: not packed */
} reader;

/* Room for the sequences' lengths and, unless the rows lie somewhere already, for their numbers. */
static bool allocate(reader *in, size_t sequences, size_t numbers) {
    srv_rows *rows = in->rows;
    rows->sequences = sequences;
    size_t bytes, more = rows->is_borrowed ? 0 : numbers;
    if (!attn_size_mul(sequences, sizeof *rows->lengths, &bytes) ||
        !attn_size_mul(more, sizeof *rows->data, &more) || !attn_size_add(bytes, more, &bytes))
        bytes = SIZE_MAX;
    if (!srv_ask_take(in->ask, bytes)) return false;
    rows->lengths = calloc(sequences, sizeof *rows->lengths);
    if (!rows->is_borrowed) rows->data = calloc(numbers, sizeof *rows->data);
    if (rows->lengths != NULL && (rows->is_borrowed || rows->data != NULL)) return true;
    return srv_problem_set(in->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for '%s'",
                           in->place->name);
}

static bool fail_rank(reader *in, const srv_place *place, size_t rank, size_t highest) {
    return srv_place_fail(place, in->problem, SRV_SHAPE_MISMATCH, "found rank %zu%s; expected %s", rank,
                          rank > highest ? " or more" : "", in->lengths != NULL ? expected_packed : expected);
}

/* Which ranks there are: 2, and 3 where the rows are not packed. */
static bool check_rank(reader *in, const srv_place *place, size_t rank, size_t highest) {
    return rank == 2 || (rank == 3 && in->lengths == NULL) || fail_rank(in, place, rank, highest);
}

/* The sequences of a rank-2 tensor of `count` rows: one, or those that the lengths cut. */
static bool cut(reader *in, const srv_place *place, size_t count) {
    if (in->lengths == NULL) {
        in->rows->lengths[0] = count;
        return true;
    }
    if (in->lengths->sum != count)
        return srv_place_fail(place, in->problem, SRV_SHAPE_MISMATCH,
                              "found %zu row%s; the lengths add up to %zu", count, attn_plural(count),
                              in->lengths->sum);
    memcpy(in->rows->lengths, in->lengths->list, in->lengths->count * sizeof *in->lengths->list);
    return true;
}

static bool fail_odd(reader *in, const srv_odd *odd, const srv_place *place, const char *what) {
    char found[SRV_FOUND_SIZE];
    return srv_place_fail(place, in->problem, SRV_WRONG_TYPE, "found %s; %s is expected",
                          srv_odd_found(odd, found), what);
}

static bool fail_empty(reader *in, const srv_place *place, const char *what) {
    return srv_place_fail(place, in->problem, SRV_OUT_OF_RANGE, "found an empty list; %s is expected", what);
}

static bool fail_number(reader *in, const srv_odd *odd, const srv_place *row) {
    char found[SRV_FOUND_SIZE];
    srv_place place = {row, NULL, odd->index};
    if (odd->kind != SRV_KIND_NUMBER) return fail_odd(in, odd, &place, "a number");
    return srv_place_fail(&place, in->problem, SRV_OUT_OF_RANGE,
                          "found %s; float32 holds magnitudes up to 3.4028235e38", srv_odd_found(odd, found));
}

/* False where the row at a place is not as wide as the first one: rows->odd_width says so, not a problem. */
static bool check_width(srv_rows *rows, size_t width, size_t sequence, size_t row) {
    if (rows->width == 0) rows->width = width;
    if (width == rows->width) return true;
    rows->odd_width = width;
    rows->odd_sequence = sequence;
    rows->odd_row = row;
    return false;
}

/* The next row: element `index` of the list above it. */
static bool read_row(reader *in, srv_walk *walk, const srv_place *place, size_t sequence, size_t index) {
    static const char what[] = "a row of numbers";
    size_t level = walk->nest->rank;
    const srv_odd *odd = srv_walk_odd(walk, level - 1, index);
    if (odd != NULL) return fail_odd(in, odd, place, what);
    size_t width = srv_walk_next(walk, level);
    if (width == 0) return fail_empty(in, place, what);
    if (!check_width(in->rows, width, sequence, index)) return false;
    odd = srv_walk_any_odd(walk, level);
    if (odd != NULL) return fail_number(in, odd, place);
    in->rows->count++;
    return true;
}

static bool read_list(reader *in, srv_walk *walk, const srv_place *place, size_t sequence, size_t length) {
    for (size_t i = 0; i < length; i++) {
        srv_place row = {place, NULL, i};
        if (!read_row(in, walk, &row, sequence, i)) return false;
    }
    return true;
}

static bool read_sequence(reader *in, srv_walk *walk, size_t index) {
    static const char what[] = "a sequence of at least one row";
    srv_place place = {in->place, NULL, index};
    const srv_odd *odd = srv_walk_odd(walk, 1, index);
    if (odd != NULL) return fail_odd(in, odd, &place, what);
    size_t length = srv_walk_next(walk, 2);
    if (length == 0) return fail_empty(in, &place, what);
    in->rows->lengths[index] = length;
    return read_list(in, walk, &place, index, length);
}

/* A list of words. */
static bool fail_text(reader *in) {
    srv_place first = {in->place, NULL, 0};
    return srv_place_fail(&first, in->problem, SRV_WRONG_TYPE,
                          "found a string; a row of numbers is expected%s", no_text);
}

static bool read_nested(reader *in, const srv_nest *nest, bool *single) {
    const char *what = in->lengths != NULL ? expected_packed : expected;
    size_t rank;
    srv_walk walk = {.nest = nest};
    if (!srv_nest_rank(nest, in->place, in->problem, 3, what, &rank)) return false;
    if (rank == 1 && nest->odd.kind == SRV_KIND_STRING && nest->odd.index == 0) return fail_text(in);
    if (!check_rank(in, in->place, rank, 3)) return false;
    *single = rank == 2 && in->lengths == NULL;
    size_t count = srv_walk_next(&walk, 1);
    size_t sequences = in->lengths != NULL ? in->lengths->count : *single ? 1 : count;
    in->rows->data = (float *)(void *)nest->elements.data;
    in->rows->is_borrowed = true;
    if (!allocate(in, sequences, 0)) return false;
    if (rank == 2) return read_list(in, &walk, in->place, 0, count) && cut(in, in->place, count);
    for (size_t i = 0; i < count; i++)
        if (!read_sequence(in, &walk, i)) return false;
    return true;
}

static bool fail_other(reader *in, const json_t *value) {
    char found[SRV_FOUND_SIZE];
    return srv_place_fail(in->place, in->problem, SRV_WRONG_TYPE, "found %s; expected %s%s",
                          srv_json_found(value, found), in->lengths != NULL ? expected_packed : expected,
                          json_is_string(value) ? no_text : "");
}

static bool read_tensor(reader *in, const srv_tensors *given, bool *single) {
    srv_tensor tensor;
    srv_rows *rows = in->rows;
    srv_place shape = {in->place, "shape", 0};
    if (!given->at(given, 0, in->place, in->problem, false, &tensor)) return false;
    if (!check_rank(in, &shape, tensor.rank, ATTN_MAX_RANK)) return false;
    *single = tensor.rank == 2 && in->lengths == NULL;
    size_t sequences = in->lengths != NULL ? in->lengths->count : *single ? 1 : tensor.shape[0];
    rows->binary = true;
    rows->width = tensor.shape[tensor.rank - 1];
    rows->count = tensor.count / rows->width;
    rows->data = srv_tensor_floats_in_place(&tensor);
    rows->is_borrowed = rows->data != NULL;
    if (!allocate(in, sequences, tensor.count)) return false;
    if (tensor.rank == 2 && !cut(in, &shape, rows->count)) return false;
    for (size_t i = 0; tensor.rank == 3 && i < sequences; i++)
        rows->lengths[i] = tensor.shape[1];
    return srv_tensor_floats(&tensor, in->place, in->problem, false, rows->data);
}

/* One sequence of a list of tensors. */
static bool read_listed(reader *in, const srv_tensors *given, size_t index, const srv_place *place,
                        srv_tensor *out) {
    srv_place shape = {place, "shape", 0};
    if (!given->at(given, index, place, in->problem, false, out)) return false;
    if (out->rank == 2) return true;
    return srv_place_fail(&shape, in->problem, SRV_SHAPE_MISMATCH,
                          "found rank %zu; expected L×D numbers for each sequence of a list", out->rank);
}

static bool read_tensors(reader *in, const srv_tensors *given, bool *single) {
    size_t count = given->count, numbers = 0;
    srv_rows *rows = in->rows;
    srv_tensor tensor;
    void *lies = NULL; /* where all of them do, one behind the other */
    *single = false;
    rows->binary = rows->list = true;
    if (in->lengths != NULL)
        return srv_place_fail(in->place, in->problem, SRV_SHAPE_MISMATCH,
                              "found a list of tensors; expected %s", expected_packed);
    for (size_t i = 0; i < count; i++) {
        srv_place place = {in->place, NULL, i};
        if (!read_listed(in, given, i, &place, &tensor)) return false;
        if (!check_width(rows, tensor.shape[1], i, 0)) return false;
        srv_tensor_join(&tensor, false, numbers, &lies);
        numbers += tensor.count; /* their data is in memory, so the sum fits */
    }
    rows->data = lies;
    rows->is_borrowed = lies != NULL;
    if (!allocate(in, count, numbers)) return false;
    for (size_t i = 0; i < count; i++) {
        srv_place place = {in->place, NULL, i};
        if (!read_listed(in, given, i, &place, &tensor)) return false;
        float *out = rows->data + rows->count * rows->width;
        if (!srv_tensor_floats(&tensor, &place, in->problem, false, out)) return false;
        rows->lengths[i] = tensor.shape[0];
        rows->count += tensor.shape[0];
    }
    return true;
}

static bool read_rows(srv_ask *ask, const srv_given *given, const srv_place *place,
                      const srv_lengths *lengths, srv_rows *rows, bool *single) {
    reader in = {ask, rows, &ask->problem, place, ask->packed ? lengths : NULL};
    if (given->other != NULL) return fail_other(&in, given->other);
    if (given->nest != NULL) return read_nested(&in, given->nest, single);
    return given->tensors.is_list ? read_tensors(&in, &given->tensors, single)
                                  : read_tensor(&in, &given->tensors, single);
}

bool srv_set_inputs(srv_ask *ask, const srv_given *given, const srv_place *place) {
    srv_rows *rows = &ask->storage->inputs;
    if (!read_rows(ask, given, place, &ask->storage->lengths, rows, &ask->single)) return false;
    size_t bytes;
    if (!attn_size_mul(rows->sequences, sizeof(attn_sequence), &bytes)) bytes = SIZE_MAX;
    if (!srv_ask_take(ask, bytes)) return false;
    attn_sequence *sequences = calloc(rows->sequences, sizeof *sequences);
    if (sequences == NULL)
        return srv_problem_set(&ask->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for 'inputs'");
    for (size_t i = 0; i < rows->sequences; i++)
        sequences[i].queries = sequences[i].keys = rows->lengths[i];
    ask->storage->sequences = sequences;
    ask->request.sequences = sequences;
    ask->request.sequence_count = rows->sequences;
    ask->request.inputs = rows->data;
    ask->request.d_model = rows->width;
    return true;
}

/* A second tensor must have the rank and the number of sequences of inputs. */
static bool read_beside(srv_ask *ask, const srv_given *given, const srv_place *place, srv_rows *rows) {
    bool single;
    const srv_lengths *lengths = &ask->storage->context_lengths;
    if (ask->packed && lengths->list == NULL) {
        srv_place missing = {NULL, "context_lengths", 0};
        return srv_place_fail(&missing, &ask->problem, SRV_MISSING_FIELD,
                              "'%s' beside 'lengths'; 'context_lengths' is required", place->name);
    }
    if (!read_rows(ask, given, place, lengths, rows, &single)) return false;
    if (single != ask->single)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found rank %d; inputs has rank %d",
                              single ? 2 : 3, ask->single ? 2 : 3);
    if (rows->sequences != ask->request.sequence_count)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found %zu sequences; inputs has %zu",
                              rows->sequences, ask->request.sequence_count);
    return true;
}

bool srv_set_context(srv_ask *ask, const srv_given *given, const srv_place *place) {
    srv_rows *rows = &ask->storage->context;
    if (!read_beside(ask, given, place, rows)) return false;
    for (size_t i = 0; i < rows->sequences; i++)
        ask->storage->sequences[i].keys = rows->lengths[i];
    ask->request.context = rows->data;
    ask->request.d_key = rows->width;
    return true;
}

bool srv_set_values(srv_ask *ask, const srv_given *given, const srv_place *place) {
    srv_rows *rows = &ask->storage->values;
    if (ask->request.context == NULL)
        return srv_place_fail(place, &ask->problem, SRV_CONFLICT,
                              "'values' without 'context'; keys of their own are expected beside them");
    if (!read_beside(ask, given, place, rows)) return false;
    for (size_t i = 0; i < rows->sequences; i++) {
        srv_place sequence = {place, NULL, i};
        if (rows->lengths[i] != ask->storage->context.lengths[i])
            return srv_place_fail(ask->single ? place : &sequence, &ask->problem, SRV_SHAPE_MISMATCH,
                                  "sequence has %zu row%s; context has %zu", rows->lengths[i],
                                  attn_plural(rows->lengths[i]), ask->storage->context.lengths[i]);
    }
    ask->request.values = rows->data;
    ask->request.d_value = rows->width;
    return true;
}
