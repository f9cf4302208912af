/* The projections: y = x·Wᵀ + b in tiles of columns and, for long inputs, rows. Each tile writes its own rectangle of y,
 * in one of four ways: few rows read the weights from where they lie; more are packed themselves; many have the weights
 * packed for them; OpenBLAS, where nothing of ours packs, packs both. The first two may have rows of several requests. */
#include "geometry.h"

#include "../blas/blas.h"
#include "../tensor/finite.h"
#include "few.h"
#include "panel.h"
#include "run.h"

#include <stdint.h>

static size_t pieces(size_t whole, size_t piece) {
    return whole / piece + (whole % piece != 0);
}

static attn_span piece_of(size_t whole, size_t piece, size_t index) {
    size_t begin = index * piece, rest = whole - begin;
    return (attn_span){begin, begin + (rest < piece ? rest : piece)};
}

_Static_assert((int)ATTN_PANEL_TILE_ROWS <= (int)ATTN_PANEL_ROWS, "the rows of a tile are packed at once");

typedef enum linear_way { FEW_ROWS, PACKED_ROWS, PACKED_WEIGHTS, BLAS } linear_way;

static linear_way way_of(const attn_linear *linear) {
    if (linear->rows <= attn_few_kernels_in_use()->linear_rows) return FEW_ROWS;
    if (!attn_panel_kernels_in_use()) return BLAS;
    return linear->rows < ATTN_TALL_ROWS ? PACKED_ROWS : PACKED_WEIGHTS;
}

bool attn_linear_can_share(const attn_linear *linear) {
    linear_way way = way_of(linear);
    return way == FEW_ROWS || (way == PACKED_ROWS && linear->rows <= ATTN_PANEL_TILE_ROWS);
}

typedef struct tile_size {
    size_t rows, columns;
} tile_size;

static tile_size size_of_tiles(const attn_linear *linear) {
    if (attn_linear_can_share(linear)) return (tile_size){linear->rows, ATTN_FEW_COLUMNS};
    switch (way_of(linear)) {
    case PACKED_WEIGHTS: {
        /* Dealt out evenly: one row more would have the weights packed for itself. */
        size_t tiles = pieces(linear->rows, ATTN_TALL_TILE_ROWS);
        return (tile_size){pieces(linear->rows, tiles), ATTN_PANEL_ROWS};
    }
    case BLAS: return (tile_size){ATTN_BLAS_TILE_ROWS, ATTN_LINEAR_COLUMNS};
    default: return (tile_size){ATTN_PANEL_TILE_ROWS, ATTN_LINEAR_COLUMNS};
    }
}

size_t attn_linear_tiles(const attn_linear *linear) {
    tile_size size = size_of_tiles(linear);
    return pieces(linear->rows, size.rows) * pieces(linear->out, size.columns);
}

/* To one row of a tile, from its first column on. */
static void add_bias(const attn_linear *linear, attn_span columns, float *y) {
    for (size_t j = columns.begin; linear->b && j < columns.end; j++)
        y[j - columns.begin] += linear->b[j];
}

/* False where a part of the result holds a value that is not finite. */
static bool is_finite(const attn_linear *linear, attn_span rows, attn_span columns) {
    size_t not_finite = 0;
    for (size_t i = rows.begin; i < rows.end; i++)
        not_finite +=
            attn_count_not_finite(linear->y + i * linear->out + columns.begin, columns.end - columns.begin);
    return not_finite == 0;
}

/* Rows of several projections, computed some at a time. */
typedef struct row_list {
    const attn_linear *first; /* any of them: its weights are everyone's */
    attn_span columns;
    bool is_few;
    bool finite; /* of packed rows: false once a result was not; unused where is_few */
    size_t count;
    const float *x[ATTN_PANEL_TILE_ROWS];
    float *y[ATTN_PANEL_TILE_ROWS];
} row_list;

static void compute_few(row_list *list) {
    const attn_linear *l = list->first;
    size_t width = list->columns.end - list->columns.begin;
    attn_few_kernels_in_use()->dots(list->count, width, l->in, 1, list->x, l->w + list->columns.begin * l->in,
                                    l->in, list->y);
    for (size_t i = 0; i < list->count; i++)
        add_bias(l, list->columns, list->y[i]);
}

static void compute_packed(row_list *list) {
    const attn_panel_kernels *kernels = attn_panel_kernels_in_use();
    const attn_linear *l = list->first;
    const float *w = l->w + list->columns.begin * l->in, *bias = l->b ? l->b + list->columns.begin : NULL;
    attn_panel panel;
    for (size_t t = 0; t < l->in; t += ATTN_PANEL_DEPTH) {
        size_t rest = l->in - t, depth = rest < ATTN_PANEL_DEPTH ? rest : ATTN_PANEL_DEPTH;
        kernels->pack(list->count, t, depth, list->x, &panel);
        if (!kernels->columns(&panel, list->columns.end - list->columns.begin, w + t, l->in, bias, t > 0,
                              list->y))
            list->finite = false;
    }
}

static void compute_rows(row_list *list) {
    if (list->count > 0) (list->is_few ? compute_few : compute_packed)(list);
    list->count = 0;
}

/* Rows are computed when the list is full; what is left in it waits for compute_rows. */
static void add_rows(row_list *list, const attn_linear *linear, attn_span rows) {
    for (size_t i = rows.begin; i < rows.end; i++) {
        list->x[list->count] = linear->x + i * linear->in;
        list->y[list->count++] = linear->y + i * linear->out + list->columns.begin;
        if (list->count == ATTN_PANEL_TILE_ROWS) compute_rows(list);
    }
}

void attn_linear_run_together(const attn_linear *const *linears, size_t count, size_t tile, bool *finite) {
    row_list few = {
        .first = linears[0], .columns = piece_of(linears[0]->out, ATTN_FEW_COLUMNS, tile), .is_few = true};
    row_list packed = {.first = few.first, .columns = few.columns, .finite = true};
    for (size_t n = 0; n < count; n++)
        add_rows(way_of(linears[n]) == FEW_ROWS ? &few : &packed, linears[n],
                 (attn_span){0, linears[n]->rows});
    compute_rows(&few);
    compute_rows(&packed);
    for (size_t n = 0; n < count; n++)
        finite[n] = (packed.finite && way_of(linears[n]) != FEW_ROWS) ||
                    is_finite(linears[n], (attn_span){0, linears[n]->rows}, few.columns);
}

static bool run_blas(const attn_linear *linear, attn_span rows, attn_span columns) {
    attn_gemm(true, rows.end - rows.begin, columns.end - columns.begin, linear->in, 1,
              linear->x + rows.begin * linear->in, linear->in, linear->w + columns.begin * linear->in,
              linear->in, 0, linear->y + rows.begin * linear->out + columns.begin, linear->out);
    for (size_t i = rows.begin; i < rows.end; i++)
        add_bias(linear, columns, linear->y + i * linear->out + columns.begin);
    return is_finite(linear, rows, columns);
}

static bool run_packed_rows(const attn_linear *linear, attn_span rows, attn_span columns) {
    row_list list = {.first = linear, .columns = columns, .finite = true};
    add_rows(&list, linear, rows);
    compute_rows(&list);
    return list.finite;
}

/* At most ATTN_PANEL_ROWS columns: their weights are packed, once for all the rows of the tile. */
static bool run_packed_weights(const attn_linear *l, attn_span rows, attn_span columns) {
    const attn_panel_kernels *kernels = attn_panel_kernels_in_use();
    const float *w[ATTN_PANEL_ROWS], *bias = l->b ? l->b + columns.begin : NULL;
    size_t width = columns.end - columns.begin;
    bool finite = true;
    attn_panel panel;
    for (size_t j = 0; j < width; j++)
        w[j] = l->w + (columns.begin + j) * l->in;
    for (size_t t = 0; t < l->in; t += ATTN_PANEL_DEPTH) {
        size_t rest = l->in - t, depth = rest < ATTN_PANEL_DEPTH ? rest : ATTN_PANEL_DEPTH;
        kernels->pack(width, t, depth, w, &panel);
        /* The last part tells: what was not finite before stays so. */
        finite = kernels->rows(&panel, rows.end - rows.begin, l->x + rows.begin * l->in + t, l->in, 1, bias,
                               t > 0, l->y + rows.begin * l->out + columns.begin, l->out);
    }
    return finite;
}

bool attn_linear_run(const attn_linear *linear, size_t tile) {
    bool finite;
    if (attn_linear_can_share(linear)) {
        attn_linear_run_together(&linear, 1, tile, &finite);
        return finite;
    }
    /* Tiles of the same columns follow each other: their weights are in cache. */
    tile_size size = size_of_tiles(linear);
    size_t row_pieces = pieces(linear->rows, size.rows);
    attn_span rows = piece_of(linear->rows, size.rows, tile % row_pieces);
    attn_span columns = piece_of(linear->out, size.columns, tile / row_pieces);
    switch (way_of(linear)) {
    case PACKED_WEIGHTS: return run_packed_weights(linear, rows, columns);
    case BLAS: return run_blas(linear, rows, columns);
    default: return run_packed_rows(linear, rows, columns);
    }
}

/* The floats at a place, or nothing where only sizes are asked for. */
static float *place(const attn_run *run, size_t at) {
    return run && at != SIZE_MAX ? attn_run_floats(run, at) : NULL;
}

size_t attn_plan_projections(const attn_plan *plan, const attn_run *run, attn_linear out[ATTN_PROJECTIONS]) {
    const attn_request *r = &plan->request;
    const attn_layer *layer = r->layer;
    if (attn_layer_is_parameter_free(layer)) return 0;
    const float *context = r->context ? r->context : r->inputs;
    size_t keys_out = layer->kv_heads * plan->head_dim, values_out = layer->kv_heads * plan->value_dim;
    out[ATTN_PROJECT_Q] =
        (attn_linear){plan->total_queries, r->d_model, layer->heads * plan->head_dim, r->inputs,
                      layer->wq,           layer->bq,  place(run, plan->at_q)};
    out[ATTN_PROJECT_K] = (attn_linear){
        plan->total_keys, r->d_key, keys_out, context, layer->wk, layer->bk, place(run, plan->at_k)};
    if (plan->at_v == SIZE_MAX) return ATTN_PROJECT_V;
    out[ATTN_PROJECT_V] = (attn_linear){
        plan->total_keys,      r->d_value, values_out, r->values ? r->values : context, layer->wv, layer->bv,
        place(run, plan->at_v)};
    return ATTN_PROJECTIONS;
}

bool attn_plan_output(const attn_plan *plan, const attn_run *run, attn_linear *out) {
    const attn_layer *layer = plan->request.layer;
    if (!layer->wo || !(plan->request.want & ATTN_WANT_OUTPUTS)) return false;
    *out = (attn_linear){plan->total_queries,
                         layer->heads * plan->value_dim,
                         plan->d_out,
                         place(run, plan->at_context),
                         layer->wo,
                         layer->bo,
                         place(run, plan->at_outputs)};
    return true;
}
