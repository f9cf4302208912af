/* The reference (reference.h): one function a formula, in the order of the formulas, nothing shared with the
 * fast path but the plan's resolved options. */
#include "reference.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Everything a stage needs to know of one sequence. */
typedef struct stage {
    const attn_plan *plan;
    const attn_request *request;
    const attn_layer *layer;
    const attn_sequence *sequence;
    size_t queries, keys, width; /* L, S, S + E */
    size_t first_query, first_key;
} stage;

static stage stage_of(const attn_plan *plan, size_t sequence) {
    const attn_request *r = &plan->request;
    stage st = {.plan = plan, .request = r, .layer = r->layer, .sequence = &r->sequences[sequence]};
    for (size_t n = 0; n < sequence; n++) {
        st.first_query += r->sequences[n].queries;
        st.first_key += r->sequences[n].keys;
    }
    st.queries = st.sequence->queries;
    st.keys = st.sequence->keys;
    st.width = st.keys + r->layer->extra_keys;
    return st;
}

/* y (rows × out) = x (rows × in) · wᵀ + b */
static void project(size_t rows, size_t in, size_t out, const float *x, const float *w, const float *b,
                    double *y) {
    for (size_t i = 0; i < rows; i++)
        for (size_t o = 0; o < out; o++) {
            double sum = b ? (double)b[o] : 0;
            for (size_t c = 0; c < in; c++)
                sum += (double)x[i * in + c] * (double)w[o * in + c];
            y[i * out + o] = sum;
        }
}

static void widen(const float *from, size_t count, double *to) {
    for (size_t i = 0; i < count; i++)
        to[i] = (double)from[i];
}

static void compute_qkv(const stage *st, attn_reference *out) {
    const attn_request *r = st->request;
    const attn_layer *layer = st->layer;
    size_t dk = st->plan->head_dim, dv = st->plan->value_dim;
    size_t q_width = layer->heads * dk, k_width = layer->kv_heads * dk, v_width = layer->kv_heads * dv;
    const float *context = r->context ? r->context : r->inputs, *values = r->values ? r->values : context;
    const float *x = r->inputs + st->first_query * r->d_model;
    const float *xk = context + st->first_key * r->d_key, *xv = values + st->first_key * r->d_value;
    if (attn_layer_is_parameter_free(layer)) {
        widen(x, st->queries * q_width, out->q);
        widen(xk, st->keys * k_width, out->k);
        widen(xv, st->keys * v_width, out->v);
        return;
    }
    project(st->queries, r->d_model, q_width, x, layer->wq, layer->bq, out->q);
    project(st->keys, r->d_key, k_width, xk, layer->wk, layer->bk, out->k);
    project(st->keys, r->d_value, v_width, xv, layer->wv, layer->bv, out->v);
    if (layer->extra_keys == 0) return;
    widen(layer->extra_k, layer->extra_keys * k_width, out->k + st->keys * k_width);
    widen(layer->extra_v, layer->extra_keys * v_width, out->v + st->keys * v_width);
}

/* Whether query i of head h may see key j: causal order, window, padding, mask and bias, all by AND. */
static bool may_see(const stage *st, size_t h, size_t i, size_t j) {
    const attn_request *r = st->request;
    const attn_sequence *s = st->sequence;
    if (j >= st->keys) return true; /* the layer's own keys */
    intmax_t p = (intmax_t)i;
    if (r->causal == ATTN_CAUSAL_BOTTOM_RIGHT) p += (intmax_t)st->keys - (intmax_t)st->queries;
    intmax_t ahead = (intmax_t)j - p, window = r->window < PTRDIFF_MAX ? (intmax_t)r->window : PTRDIFF_MAX;
    if (r->causal != ATTN_CAUSAL_OFF && ahead > 0) return false;
    if (window > 0 && -ahead >= window) return false;
    if (window > 0 && r->causal == ATTN_CAUSAL_OFF && ahead >= window) return false;
    if (s->padding && s->padding[j]) return false;
    if (s->mask.allow && !s->mask.allow[h * s->mask.head_stride + i * s->mask.query_stride + j]) return false;
    return !(s->bias.values &&
             s->bias.values[h * s->bias.head_stride + i * s->bias.query_stride + j] == -INFINITY);
}

/* scores = scale · q·k + bias, or −Infinity */
static void compute_scores(const stage *st, attn_reference *out) {
    const attn_layer *layer = st->layer;
    const attn_bias *bias = &st->sequence->bias;
    size_t dk = st->plan->head_dim, group = layer->heads / layer->kv_heads;
    for (size_t h = 0; h < layer->heads; h++)
        for (size_t i = 0; i < st->queries; i++)
            for (size_t j = 0; j < st->width; j++) {
                const double *q = out->q + (i * layer->heads + h) * dk;
                const double *k = out->k + (j * layer->kv_heads + h / group) * dk;
                double dot = 0;
                for (size_t c = 0; c < dk; c++)
                    dot += q[c] * k[c];
                double score = (double)st->request->scale * dot;
                if (bias->values && j < st->keys)
                    score += (double)bias->values[h * bias->head_stride + i * bias->query_stride + j];
                out->scores[(h * st->queries + i) * st->width + j] = may_see(st, h, i, j) ? score : -INFINITY;
            }
}

/* weights = exp(s − max) / Σ exp(s − max); a row without keys is all zeros */
static void compute_weights(const stage *st, attn_reference *out) {
    for (size_t row = 0; row < st->layer->heads * st->queries; row++) {
        const double *scores = out->scores + row * st->width;
        double *weights = out->weights + row * st->width;
        double max = -INFINITY, sum = 0;
        for (size_t j = 0; j < st->width; j++)
            max = fmax(max, scores[j]);
        for (size_t j = 0; j < st->width; j++) {
            weights[j] = scores[j] == -INFINITY ? 0 : exp(scores[j] - max);
            sum += weights[j];
        }
        out->rows_without_keys += sum == 0;
        for (size_t j = 0; sum != 0 && j < st->width; j++)
            weights[j] /= sum;
    }
}

/* context = weights · v over the keys that may be seen */
static void compute_context(const stage *st, attn_reference *out) {
    const attn_layer *layer = st->layer;
    size_t dv = st->plan->value_dim, group = layer->heads / layer->kv_heads;
    for (size_t h = 0; h < layer->heads; h++)
        for (size_t i = 0; i < st->queries; i++)
            for (size_t c = 0; c < dv; c++) {
                const double *weights = out->weights + (h * st->queries + i) * st->width;
                double sum = 0;
                for (size_t j = 0; j < st->width; j++)
                    if (weights[j] != 0)
                        sum += weights[j] * out->v[(j * layer->kv_heads + h / group) * dv + c];
                out->context[(i * layer->heads + h) * dv + c] = sum;
            }
}

/* outputs = context · Woᵀ + bo, or the concatenated heads themselves */
static void compute_outputs(const stage *st, attn_reference *out) {
    const attn_layer *layer = st->layer;
    size_t in = layer->heads * st->plan->value_dim, d_out = st->plan->d_out;
    for (size_t i = 0; i < st->queries; i++)
        for (size_t o = 0; o < d_out; o++) {
            double sum = layer->bo ? (double)layer->bo[o] : 0;
            for (size_t c = 0; layer->wo && c < in; c++)
                sum += out->context[i * in + c] * (double)layer->wo[o * in + c];
            out->outputs[i * d_out + o] = layer->wo ? sum : out->context[i * in + o];
        }
}

static bool allocate(const stage *st, attn_reference *out) {
    const attn_layer *layer = st->layer;
    size_t dk = st->plan->head_dim, dv = st->plan->value_dim, maps = layer->heads * st->queries * st->width;
    out->q = calloc(st->queries * layer->heads * dk, sizeof(double));
    out->k = calloc(st->width * layer->kv_heads * dk, sizeof(double));
    out->v = calloc(st->width * layer->kv_heads * dv, sizeof(double));
    out->scores = calloc(maps, sizeof(double));
    out->weights = calloc(maps, sizeof(double));
    out->context = calloc(st->queries * layer->heads * dv, sizeof(double));
    out->outputs = calloc(st->queries * st->plan->d_out, sizeof(double));
    return out->q && out->k && out->v && out->scores && out->weights && out->context && out->outputs;
}

attn_code attn_reference_compute(const attn_plan *plan, size_t sequence, attn_reference *out,
                                 attn_error *error) {
    stage st = stage_of(plan, sequence);
    attn_reference reference = {0};
    if (!allocate(&st, &reference)) {
        attn_reference_done(&reference);
        return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the reference of sequence %zu",
                              sequence);
    }
    compute_qkv(&st, &reference);
    compute_scores(&st, &reference);
    compute_weights(&st, &reference);
    compute_context(&st, &reference);
    compute_outputs(&st, &reference);
    *out = reference;
    return ATTN_OK;
}

void attn_reference_done(attn_reference *reference) {
    free(reference->q);
    free(reference->k);
    free(reference->v);
    free(reference->scores);
    free(reference->weights);
    free(reference->context);
    free(reference->outputs);
    *reference = (attn_reference){0};
}
