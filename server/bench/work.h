/* Inside server/bench: a piece of work to time, and the clock and medians of all measurements. */
#ifndef SRV_BENCH_WORK_H
#define SRV_BENCH_WORK_H

#include "bench.h"

/* One request of seeded weights and made-up vectors, ready to run again and again. */
typedef struct srv_bench_work {
    attn_model *model;
    float *inputs, *context, *values; /* the last two NULL: self-attention */
    attn_sequence *sequences;
    attn_request request;
    attn_plan plan;
    double flops; /* that the answer needs */
} srv_bench_work;

/* Fails with ATTN_NO_MEMORY, ATTN_RANGE or what the plan says. `workers` as attn_plan_make takes it. */
attn_code srv_bench_work_new(const srv_bench_shape *shape, size_t workers, srv_bench_work *out,
                             attn_error *error);
/* `queries` vectors that ask `keys` others, one head without projections: keys and values are tensors of their own. */
attn_code srv_bench_work_few(size_t queries, size_t keys, size_t width, size_t workers, srv_bench_work *out,
                             attn_error *error);
void srv_bench_work_done(srv_bench_work *work);

/* Runs it once, from its plan to its freed results. False without memory, or where it failed. */
bool srv_bench_work_run(const srv_bench_work *work, attn_pool *pool);

/* Something that is timed. False: it failed, and no time counts. */
typedef bool srv_bench_action(void *context);

/* Seconds of one call, warm: one call is not counted unless it is a long one, then as many as fill some milliseconds
 * are. Negative where it failed. */
double srv_bench_seconds(srv_bench_action *action, void *context);

/* The median of `count` > 0 numbers, which are put in order. */
double srv_bench_median(double *values, size_t count);

/* What can be done at best: the limit's product, and reading `floats` once, by all workers of a pool. Negative
 * where there is no memory. */
double srv_bench_limit_seconds(attn_pool *pool);
double srv_bench_read_seconds(attn_pool *pool, const float *first, const float *second, size_t floats);
/* Flops of the limit's product. */
double srv_bench_limit_flops(void);

/* Each of the document's members. NULL with the error. */
json_t *srv_bench_row(const srv_bench_shape *shape, const srv_bench_options *options, size_t turns,
                      attn_error *error);
json_t *srv_bench_rows(const srv_bench_options *options, attn_error *error);
json_t *srv_bench_memory(const srv_bench_options *options, attn_error *error);
json_t *srv_bench_scaling(const srv_bench_options *options, attn_error *error);
json_t *srv_bench_callers(const srv_bench_options *options, attn_error *error);
json_t *srv_bench_few_queries(const srv_bench_options *options, attn_error *error);

#endif
