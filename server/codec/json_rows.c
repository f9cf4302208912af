/* The decoder's tensors of rows: inputs, context, values. Sequences may differ in length; rows of one tensor
 * may not differ in width, which is told when the layer's own width is known. */
#include "json_walk.h"

#include <stdlib.h>

static const char expected[] = "L×D numbers for one sequence or N×L×D for a batch";

typedef struct reader {
    srv_rows *rows;
    srv_problem *problem;
} reader;

static bool fail_element(const json_t *value, const srv_place *place, srv_problem *problem,
                         const char *what) {
    char found[SRV_FOUND_SIZE];
    if (json_is_array(value))
        return srv_place_fail(place, problem, SRV_OUT_OF_RANGE, "found an empty list; %s is expected", what);
    return srv_place_fail(place, problem, SRV_WRONG_TYPE, "found %s; %s is expected",
                          srv_json_found(value, found), what);
}

/* False at a row of another width as well: rows->odd_width says so, not a problem. */
static bool read_row(reader *in, const json_t *row, const srv_place *place, size_t sequence, size_t index) {
    srv_rows *rows = in->rows;
    size_t width = json_array_size(row);
    if (width == 0) return fail_element(row, place, in->problem, "a row of numbers");
    if (rows->width == 0) rows->width = width;
    if (width != rows->width) {
        rows->odd_width = width;
        rows->odd_sequence = sequence;
        rows->odd_row = index;
        return false;
    }
    float *out = rows->data + rows->count * width;
    for (size_t i = 0; i < width; i++) {
        srv_place element = {place, NULL, i};
        if (!srv_json_float(json_array_get(row, i), &element, in->problem, out + i)) return false;
    }
    rows->count++;
    return true;
}

static bool read_sequence(reader *in, const json_t *list, const srv_place *place, size_t sequence) {
    size_t length = json_array_size(list);
    if (length == 0) return fail_element(list, place, in->problem, "a sequence of at least one row");
    for (size_t i = 0; i < length; i++) {
        srv_place row = {place, NULL, i};
        if (!read_row(in, json_array_get(list, i), &row, sequence, i)) return false;
    }
    in->rows->lengths[sequence] = length;
    return true;
}

static bool read_rows(srv_ask *ask, const json_t *value, const srv_place *place, srv_rows *rows,
                      bool *single) {
    size_t rank;
    if (!srv_json_rank(value, place, &ask->problem, 3, expected, &rank)) return false;
    if (rank != 2 && rank != 3)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found rank %zu%s; expected %s", rank,
                              rank > 3 ? " or more" : "", expected);
    *single = rank == 2;
    rows->sequences = *single ? 1 : json_array_size(value);
    rows->lengths = calloc(rows->sequences, sizeof *rows->lengths);
    rows->data = calloc(srv_json_count(value, rank), sizeof *rows->data);
    if (rows->lengths == NULL || rows->data == NULL)
        return srv_problem_set(&ask->problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for '%s'",
                               place->name);
    reader in = {rows, &ask->problem};
    if (*single) return read_sequence(&in, value, place, 0);
    for (size_t i = 0; i < rows->sequences; i++) {
        srv_place sequence = {place, NULL, i};
        if (!read_sequence(&in, json_array_get(value, i), &sequence, i)) return false;
    }
    return true;
}

bool srv_json_set_inputs(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_rows *rows = &ask->storage->inputs;
    if (!read_rows(ask, value, place, rows, &ask->single)) return false;
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
static bool read_beside(srv_ask *ask, const json_t *value, const srv_place *place, srv_rows *rows) {
    bool single;
    if (!read_rows(ask, value, place, rows, &single)) return false;
    if (single != ask->single)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found rank %d; inputs has rank %d",
                              single ? 2 : 3, ask->single ? 2 : 3);
    if (rows->sequences != ask->request.sequence_count)
        return srv_place_fail(place, &ask->problem, SRV_SHAPE_MISMATCH, "found %zu sequences; inputs has %zu",
                              rows->sequences, ask->request.sequence_count);
    return true;
}

bool srv_json_set_context(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_rows *rows = &ask->storage->context;
    if (!read_beside(ask, value, place, rows)) return false;
    for (size_t i = 0; i < rows->sequences; i++)
        ask->storage->sequences[i].keys = rows->lengths[i];
    ask->request.context = rows->data;
    ask->request.d_key = rows->width;
    return true;
}

bool srv_json_set_values(srv_ask *ask, json_t *value, const srv_place *place) {
    srv_rows *rows = &ask->storage->values;
    if (ask->request.context == NULL)
        return srv_place_fail(place, &ask->problem, SRV_CONFLICT,
                              "'values' without 'context'; keys of their own are expected beside them");
    if (!read_beside(ask, value, place, rows)) return false;
    for (size_t i = 0; i < rows->sequences; i++) {
        srv_place sequence = {place, NULL, i};
        if (rows->lengths[i] != ask->storage->context.lengths[i])
            return srv_place_fail(ask->single ? place : &sequence, &ask->problem, SRV_SHAPE_MISMATCH,
                                  "sequence has %zu rows; context has %zu", rows->lengths[i],
                                  ask->storage->context.lengths[i]);
    }
    ask->request.values = rows->data;
    ask->request.d_value = rows->width;
    return true;
}
