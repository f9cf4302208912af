/* The oracle's tensors of rows: inputs, context, values, as nested lists, as one base64 object or as a list
 * of them. Sequences may differ in length; rows of one tensor may not differ in width, which is told when the
 * layer's own width is known. With `lengths` the rows of a rank-2 tensor are those of all sequences. */
#include "oracle_parts.h"

#include <stdlib.h>
#include <string.h>

static const char expected[] = "L×D numbers for one sequence or N×L×D for a batch";
static const char expected_packed[] = "ΣL×D numbers for the sequences of 'lengths'";
static const char no_text[] = "; attention takes vectors (embeddings), not text";

typedef struct reader {
    srv_rows *rows;
    srv_problem *problem;
    const srv_place *place;     /* of the tensor */
    const srv_lengths *lengths; /* NULL: not packed */
} reader;

static bool allocate(reader *in, size_t sequences, size_t numbers) {
    srv_rows *rows = in->rows;
    rows->sequences = sequences;
    rows->lengths = calloc(sequences, sizeof *rows->lengths);
    rows->data = calloc(numbers, sizeof *rows->data);
    if (rows->lengths != NULL && rows->data != NULL) return true;
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

static bool fail_element(const json_t *value, const srv_place *place, srv_problem *problem,
                         const char *what) {
    char found[SRV_FOUND_SIZE];
    if (json_is_array(value))
        return srv_place_fail(place, problem, SRV_OUT_OF_RANGE, "found an empty list; %s is expected", what);
    return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; %s is expected",
                          srv_json_found(value, found), what);
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

static bool read_row(reader *in, const json_t *row, const srv_place *place, size_t sequence, size_t index) {
    srv_rows *rows = in->rows;
    size_t width = json_array_size(row);
    if (width == 0) return fail_element(row, place, in->problem, "a row of numbers");
    if (!check_width(rows, width, sequence, index)) return false;
    float *out = rows->data + rows->count * width;
    for (size_t i = 0; i < width; i++) {
        srv_place element = {place, NULL, i};
        if (!srv_json_float(json_array_get(row, i), &element, in->problem, out + i)) return false;
    }
    rows->count++;
    return true;
}

static bool read_list(reader *in, const json_t *list, const srv_place *place, size_t sequence) {
    size_t length = json_array_size(list);
    if (length == 0) return fail_element(list, place, in->problem, "a sequence of at least one row");
    for (size_t i = 0; i < length; i++) {
        srv_place row = {place, NULL, i};
        if (!read_row(in, json_array_get(list, i), &row, sequence, i)) return false;
    }
    return true;
}

static bool read_nested(reader *in, const json_t *value, bool *single) {
    size_t rank, count = json_array_size(value);
    const char *what = in->lengths != NULL ? expected_packed : expected;
    if (json_is_string(value))
        return srv_place_fail(in->place, in->problem, SRV_WRONG_TYPE, "found a string; expected %s%s", what,
                              no_text);
    if (!oracle_rank(value, in->place, in->problem, 3, what, &rank)) return false;
    srv_place first = {in->place, NULL, 0};
    if (rank == 1 && json_is_string(json_array_get(value, 0)))
        return srv_place_fail(&first, in->problem, SRV_WRONG_TYPE,
                              "found a string; a row of numbers is expected%s", no_text);
    if (!check_rank(in, in->place, rank, 3)) return false;
    *single = rank == 2 && in->lengths == NULL;
    size_t sequences = in->lengths != NULL ? in->lengths->count : *single ? 1 : count;
    if (!allocate(in, sequences, oracle_count(value, rank))) return false;
    if (rank == 2) return read_list(in, value, in->place, 0) && cut(in, in->place, count);
    for (size_t i = 0; i < count; i++) {
        srv_place sequence = {in->place, NULL, i};
        const json_t *list = json_array_get(value, i);
        if (!read_list(in, list, &sequence, i)) return false;
        in->rows->lengths[i] = json_array_size(list);
    }
    return true;
}

static bool read_tensor(reader *in, json_t *value, bool *single) {
    oracle_tensor tensor;
    srv_rows *rows = in->rows;
    srv_place shape = {in->place, "shape", 0};
    if (!oracle_read_tensor(value, in->place, in->problem, false, &tensor)) return false;
    if (!check_rank(in, &shape, tensor.rank, ATTN_MAX_RANK)) return false;
    *single = tensor.rank == 2 && in->lengths == NULL;
    size_t sequences = in->lengths != NULL ? in->lengths->count : *single ? 1 : tensor.shape[0];
    rows->binary = true;
    rows->width = tensor.shape[tensor.rank - 1];
    rows->count = tensor.count / rows->width;
    if (!allocate(in, sequences, tensor.count)) return false;
    if (tensor.rank == 2 && !cut(in, &shape, rows->count)) return false;
    for (size_t i = 0; tensor.rank == 3 && i < sequences; i++)
        rows->lengths[i] = tensor.shape[1];
    return oracle_floats(&tensor, in->place, in->problem, false, rows->data);
}

/* One sequence of a list of tensors. */
static bool read_listed(reader *in, json_t *value, const srv_place *place, oracle_tensor *out) {
    srv_place shape = {place, "shape", 0};
    if (!oracle_read_tensor(value, place, in->problem, false, out)) return false;
    if (out->rank == 2) return true;
    return srv_place_fail(&shape, in->problem, SRV_SHAPE_MISMATCH,
                          "found rank %zu; expected L×D numbers for each sequence of a list", out->rank);
}

static bool read_tensors(reader *in, json_t *value, bool *single) {
    size_t count = json_array_size(value), numbers = 0;
    srv_rows *rows = in->rows;
    oracle_tensor tensor;
    *single = false;
    rows->binary = rows->list = true;
    if (in->lengths != NULL)
        return srv_place_fail(in->place, in->problem, SRV_SHAPE_MISMATCH,
                              "found a list of tensors; expected %s", expected_packed);
    for (size_t i = 0; i < count; i++) {
        srv_place place = {in->place, NULL, i};
        if (!read_listed(in, json_array_get(value, i), &place, &tensor)) return false;
        if (!check_width(rows, tensor.shape[1], i, 0)) return false;
        numbers += tensor.count; /* their texts are in memory, so the sum fits */
    }
    if (!allocate(in, count, numbers)) return false;
    for (size_t i = 0; i < count; i++) {
        srv_place place = {in->place, NULL, i};
        if (!read_listed(in, json_array_get(value, i), &place, &tensor)) return false;
        float *out = rows->data + rows->count * rows->width;
        if (!oracle_floats(&tensor, &place, in->problem, false, out)) return false;
        rows->lengths[i] = tensor.shape[0];
        rows->count += tensor.shape[0];
    }
    return true;
}

static bool read_rows(srv_ask *ask, json_t *value, const srv_place *place, const srv_lengths *lengths,
                      srv_rows *rows, bool *single) {
    reader in = {rows, &ask->problem, place, ask->packed ? lengths : NULL};
    if (oracle_is_tensor(value)) return read_tensor(&in, value, single);
    if (oracle_is_tensor_list(value)) return read_tensors(&in, value, single);
    return read_nested(&in, value, single);
}

bool oracle_set_inputs(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_rows *rows = &ask->storage->inputs;
    if (!read_rows(ask, value, place, &ask->storage->lengths, rows, &ask->single)) return false;
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
static bool read_beside(srv_ask *ask, json_t *value, const srv_place *place, srv_rows *rows) {
    bool single;
    const srv_lengths *lengths = &ask->storage->context_lengths;
    if (ask->packed && lengths->list == NULL) {
        srv_place missing = {NULL, "context_lengths", 0};
        return srv_place_fail(&missing, &ask->problem, SRV_MISSING_FIELD,
                              "'%s' beside 'lengths'; 'context_lengths' is required", place->name);
    }
    if (!read_rows(ask, value, place, lengths, rows, &single)) return false;
    if (single != ask->single)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found rank %d; inputs has rank %d",
                              single ? 2 : 3, ask->single ? 2 : 3);
    if (rows->sequences != ask->request.sequence_count)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found %zu sequences; inputs has %zu",
                              rows->sequences, ask->request.sequence_count);
    return true;
}

bool oracle_set_context(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_rows *rows = &ask->storage->context;
    if (!read_beside(ask, value, place, rows)) return false;
    for (size_t i = 0; i < rows->sequences; i++)
        ask->storage->sequences[i].keys = rows->lengths[i];
    ask->request.context = rows->data;
    ask->request.d_key = rows->width;
    return true;
}

bool oracle_set_values(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_rows *rows = &ask->storage->values;
    if (ask->request.context == NULL)
        return srv_place_fail(place, &ask->problem, SRV_CONFLICT,
                              "'values' without 'context'; keys of their own are expected beside them");
    if (!read_beside(ask, value, place, rows)) return false;
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
