/* Work to time, and how it is timed (work.h). */
#include "work.h"

#include "server/obs/clock.h"

#include <stdlib.h>

/* Numbers that are neither equal nor small, so that no kernel finds a short way. */
static float *made_up(size_t count) {
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = (float)(i * 7919 % 2003) / 1001.5F - 1;
    return values;
}

static attn_code no_memory(srv_bench_work *work, attn_error *error) {
    srv_bench_work_done(work);
    return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for what is measured");
}

static attn_code make_plan(srv_bench_work *work, size_t workers, attn_error *error) {
    work->request.layer = attn_model_layer(work->model, 0);
    work->request.sequences = work->sequences;
    work->request.inputs = work->inputs;
    work->request.context = work->context;
    work->request.values = work->values;
    attn_code code = attn_plan_make(&work->request, workers, &work->plan, error);
    if (code != ATTN_OK) srv_bench_work_done(work);
    return code;
}

/* Four projections, and the pairs of query and key that a mask leaves. */
static double flops_of(const srv_bench_shape *shape) {
    double rows = (double)(shape->batch * shape->length), length = (double)shape->length,
           width = (double)shape->width;
    double pairs = (double)shape->batch * length * (shape->causal ? (length + 1) / 2 : length);
    return 8 * rows * width * width + 4 * pairs * width;
}

attn_code srv_bench_work_new(const srv_bench_shape *shape, size_t workers, srv_bench_work *out,
                             attn_error *error) {
    const attn_seed_spec spec = {.d_model = shape->width, .heads = shape->heads, .layers = 1, .seed = 42};
    *out = (srv_bench_work){.flops = flops_of(shape)};
    attn_code code = attn_model_seeded("bench", &spec, &out->model, error);
    if (code != ATTN_OK) return code;
    out->inputs = made_up(shape->batch * shape->length * shape->width);
    out->sequences = calloc(shape->batch, sizeof *out->sequences);
    if (!out->inputs || !out->sequences) return no_memory(out, error);
    for (size_t n = 0; n < shape->batch; n++)
        out->sequences[n] = (attn_sequence){.queries = shape->length, .keys = shape->length};
    out->request = (attn_request){.sequence_count = shape->batch,
                                  .d_model = shape->width,
                                  .causal = shape->causal ? ATTN_CAUSAL_SQUARE : ATTN_CAUSAL_OFF,
                                  .want = ATTN_WANT_OUTPUTS | (shape->maps ? ATTN_WANT_MAPS : 0)};
    return make_plan(out, workers, error);
}

attn_code srv_bench_work_few(size_t queries, size_t keys, size_t width, size_t workers, srv_bench_work *out,
                             attn_error *error) {
    *out = (srv_bench_work){.flops = 4 * (double)queries * (double)keys * (double)width};
    attn_code code = attn_model_parameter_free("bench", &out->model, error);
    if (code != ATTN_OK) return code;
    out->inputs = made_up(queries * width);
    out->context = made_up(keys * width);
    out->values = made_up(keys * width);
    out->sequences = calloc(1, sizeof *out->sequences);
    if (!out->inputs || !out->context || !out->values || !out->sequences) return no_memory(out, error);
    out->sequences[0] = (attn_sequence){.queries = queries, .keys = keys};
    out->request = (attn_request){
        .sequence_count = 1, .d_model = width, .d_key = width, .d_value = width, .want = ATTN_WANT_OUTPUTS};
    return make_plan(out, workers, error);
}

void srv_bench_work_done(srv_bench_work *work) {
    attn_model_free(work->model);
    free(work->inputs);
    free(work->context);
    free(work->values);
    free(work->sequences);
    *work = (srv_bench_work){0};
}

bool srv_bench_work_run(const srv_bench_work *work, attn_pool *pool) {
    attn_run *run;
    if (attn_run_new(&work->plan, &run, NULL) != ATTN_OK) return false;
    attn_code code = attn_run_wait(run, pool);
    attn_run_free(run);
    return code == ATTN_OK;
}

double srv_bench_seconds(srv_bench_action *action, void *context) {
    enum { ENOUGH_MS = 4, LONG_MS = 100, MOST_CALLS = 10000 };
    double began = srv_clock_ms(), now;
    if (!action(context)) return -1;
    now = srv_clock_ms();
    /* Cold caches do not show in what takes so long. */
    if (now - began > (double)LONG_MS) return (now - began) / 1e3;
    int calls = 0;
    for (began = now; calls < MOST_CALLS && now - began < (double)ENOUGH_MS; calls++) {
        if (!action(context)) return -1;
        now = srv_clock_ms();
    }
    return (now - began) / calls / 1e3;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double srv_bench_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
