/* Measuring the engine on this machine: how near it comes to what the matrix library can do at best, and how that
 * changes with the size of the work.
 *
 * "The limit" is one product, 1024×2304×768, its columns split over all workers. Whatever is compared is measured in
 * turns within one run, and what is told is the median over the turns: absolute times move from minute to minute,
 * ratios less. Flops are those that the answer needs, masked pairs not counted. One thread; nothing else should run. */
#ifndef SRV_BENCH_BENCH_H
#define SRV_BENCH_BENCH_H

#include "engine/engine.h"

#include <jansson.h>
#include <stdio.h>

/* Self-attention over `batch` sequences of `length` vectors, `width` wide. */
typedef struct srv_bench_shape {
    size_t batch, length, width, heads;
    bool maps, causal;
} srv_bench_shape;

/* Another implementation to compare with, which takes its turn beside ours. */
typedef struct srv_bench_peer {
    const char *name; /* "torch 2.13.0" */
    /* Seconds for one forward pass, warm; negative where it cannot tell any more. */
    double (*seconds)(void *context, const srv_bench_shape *shape);
    void *context;
} srv_bench_peer;

typedef struct srv_bench_options {
    attn_pool *pool;            /* at rest; as many workers as measured with */
    bool quick;                 /* few turns, short series: seconds instead of minutes */
    const srv_bench_peer *peer; /* NULL: none */
} srv_bench_options;

/* Measures everything, which is, as JSON, in milliseconds, GFLOP/s, bytes and ratios:
 *   limit {shape, gflops}
 *   rows [{shape …, ms, gflops, share of the limit, peer_ms and times_peer where there is a peer}]
 *   memory {shape, bytes: the most beyond inputs, q, k, v, outputs and weights, planned_bytes likewise}
 *   scaling {length, batch, heads, width: [rows], workers: [{workers, ms, times}]}
 *   callers {shape, callers, requests_per_second, share}
 *   few_queries [{queries, keys, width, ms, gigabytes_per_second, share of reading the same bytes once}]
 * NULL with the error where memory or a worker is missing. */
json_t *srv_bench_measure(const srv_bench_options *options, attn_error *error);

/* The same as a table. */
void srv_bench_print(const json_t *measured, FILE *out);

#endif
