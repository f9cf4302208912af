/* The projections: y = x·Wᵀ + b in tiles of columns (so that each tile packs its part of the weights once)
 * and, for long inputs, rows. Each tile writes its own rectangle of y. Few rows need no packing at all, and may come
 * from several requests. */
#include "geometry.h"

#include "../blas/blas.h"
#include "../tensor/finite.h"
#include "few.h"

#include <stdint.h>

static size_t pieces(size_t whole, size_t piece) {
    return whole / piece + (whole % piece != 0);
}

static attn_span piece_of(size_t whole, size_t piece, size_t index) {
    size_t begin = index * piece, rest = whole - begin;
    return (attn_span){begin, begin + (rest < piece ? rest : piece)};
}

bool attn_linear_has_few_rows(const attn_linear *linear) {
    return linear->rows <= attn_few_kernels_in_use()->linear_rows;
}

size_t attn_linear_tiles(const attn_linear *linear) {
    if (attn_linear_has_few_rows(linear)) return pieces(linear->out, ATTN_FEW_COLUMNS);
    return pieces(linear->rows, ATTN_LINEAR_ROWS) * pieces(linear->out, ATTN_LINEAR_COLUMNS);
}

/* Adds the bias to a tile. False when it holds a value that is not finite. */
static bool finish_tile(const attn_linear *linear, attn_span rows, attn_span columns) {
    size_t not_finite = 0, width = columns.end - columns.begin;
    for (size_t i = rows.begin; i < rows.end; i++) {
        float *y = linear->y + i * linear->out + columns.begin;
        if (linear->b)
            for (size_t j = 0; j < width; j++)
                y[j] += linear->b[columns.begin + j];
        not_finite += attn_count_not_finite(y, width);
    }
    return not_finite == 0;
}

/* Rows of several projections, computed some at a time. */
typedef struct row_list {
    const attn_linear *first; /* any of them: its weights are everyone's */
    attn_span columns;
    size_t count;
    const float *x[ATTN_FEW_AT_ONCE];
    float *y[ATTN_FEW_AT_ONCE];
} row_list;

static void compute_rows(row_list *list) {
    const attn_linear *l = list->first;
    attn_few_kernels_in_use()->dots(list->count, list->columns.end - list->columns.begin, l->in, 1, list->x,
                                    l->w + list->columns.begin * l->in, l->in, list->y);
    list->count = 0;
}

void attn_linear_run_together(const attn_linear *const *linears, size_t count, size_t tile, bool *finite) {
    row_list list = {.first = linears[0], .columns = piece_of(linears[0]->out, ATTN_FEW_COLUMNS, tile)};
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < linears[n]->rows; i++) {
            list.x[list.count] = linears[n]->x + i * linears[n]->in;
            list.y[list.count++] = linears[n]->y + i * linears[n]->out + list.columns.begin;
            if (list.count == ATTN_FEW_AT_ONCE) compute_rows(&list);
        }
    compute_rows(&list);
    for (size_t n = 0; n < count; n++)
        finite[n] = finish_tile(linears[n], (attn_span){0, linears[n]->rows}, list.columns);
}

static bool run_packed(const attn_linear *linear, size_t tile) {
    size_t column_pieces = pieces(linear->out, ATTN_LINEAR_COLUMNS);
    attn_span rows = piece_of(linear->rows, ATTN_LINEAR_ROWS, tile / column_pieces);
    attn_span columns = piece_of(linear->out, ATTN_LINEAR_COLUMNS, tile % column_pieces);
    attn_gemm(true, rows.end - rows.begin, columns.end - columns.begin, linear->in, 1,
              linear->x + rows.begin * linear->in, linear->in, linear->w + columns.begin * linear->in,
              linear->in, 0, linear->y + rows.begin * linear->out + columns.begin, linear->out);
    return finish_tile(linear, rows, columns);
}

bool attn_linear_run(const attn_linear *linear, size_t tile) {
    if (!attn_linear_has_few_rows(linear)) return run_packed(linear, tile);
    bool finite;
    attn_linear_run_together(&linear, 1, tile, &finite);
    return finite;
}

/* `workspace` + `at`, or nothing where only sizes are asked for. */
static float *place(float *workspace, size_t at) {
    return workspace && at != SIZE_MAX ? workspace + at : NULL;
}

size_t attn_plan_projections(const attn_plan *plan, float *workspace, attn_linear out[ATTN_PROJECTIONS]) {
    const attn_request *r = &plan->request;
    const attn_layer *layer = r->layer;
    if (attn_layer_is_parameter_free(layer)) return 0;
    const float *context = r->context ? r->context : r->inputs;
    size_t keys_out = layer->kv_heads * plan->head_dim, values_out = layer->kv_heads * plan->value_dim;
    out[ATTN_PROJECT_Q] =
        (attn_linear){plan->total_queries, r->d_model, layer->heads * plan->head_dim, r->inputs,
                      layer->wq,           layer->bq,  place(workspace, plan->at_q)};
    out[ATTN_PROJECT_K] = (attn_linear){
        plan->total_keys, r->d_key, keys_out, context, layer->wk, layer->bk, place(workspace, plan->at_k)};
    if (plan->at_v == SIZE_MAX) return ATTN_PROJECT_V;
    out[ATTN_PROJECT_V] = (attn_linear){plan->total_keys,
                                        r->d_value,
                                        values_out,
                                        r->values ? r->values : context,
                                        layer->wv,
                                        layer->bv,
                                        place(workspace, plan->at_v)};
    return ATTN_PROJECTIONS;
}

bool attn_plan_output(const attn_plan *plan, float *workspace, attn_linear *out) {
    const attn_layer *layer = plan->request.layer;
    if (!layer->wo || !(plan->request.want & ATTN_WANT_OUTPUTS)) return false;
    *out = (attn_linear){plan->total_queries,
                         layer->heads * plan->value_dim,
                         plan->d_out,
                         place(workspace, plan->at_context),
                         layer->wo,
                         layer->bo,
                         place(workspace, plan->at_outputs)};
    return true;
}
