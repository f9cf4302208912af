/* What was asked by the Open Inference Protocol, counted for each name that a model has there (statistics extension:
 * https://github.com/triton-inference-server/server, docs/protocol/extension_statistics.md).
 *
 * Any thread; one lock. */
#ifndef SRV_OBS_INFERENCE_H
#define SRV_OBS_INFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct srv_inference srv_inference;

/* Parts of a request's life. */
typedef enum srv_inference_part {
    SRV_INFERENCE_QUEUE,
    SRV_INFERENCE_INPUT, /* bytes to tensors */
    SRV_INFERENCE_INFER,
    SRV_INFERENCE_OUTPUT, /* tensors to bytes, until the first can be sent */
    SRV_INFERENCE_PARTS
} srv_inference_part;

/* How one request went. */
typedef struct srv_inference_sample {
    bool succeeded;
    size_t batch;                      /* sequences */
    double parts[SRV_INFERENCE_PARTS]; /* milliseconds */
} srv_inference_sample;

/* So many requests, and nanoseconds together. */
typedef struct srv_inference_sum {
    uint64_t count, nanoseconds;
} srv_inference_sum;

enum { SRV_INFERENCE_BATCHES = 64 }; /* different batch sizes that are told apart: the first ones that came */

typedef struct srv_inference_batch {
    size_t size;
    srv_inference_sum parts[SRV_INFERENCE_PARTS];
} srv_inference_batch;

typedef struct srv_inference_counts {
    uint64_t last;      /* when the last one succeeded, milliseconds since 1970; 0: none has */
    uint64_t sequences; /* of those that succeeded */
    srv_inference_sum success, fail, parts[SRV_INFERENCE_PARTS]; /* parts: of those that succeeded */
    srv_inference_batch batches[SRV_INFERENCE_BATCHES];
    size_t batch_count;
} srv_inference_counts;

/* For `count` names; NULL without memory. */
srv_inference *srv_inference_new(size_t count);
void srv_inference_free(srv_inference *inference);

void srv_inference_add(srv_inference *inference, size_t name, const srv_inference_sample *sample);
void srv_inference_read(srv_inference *inference, size_t name, srv_inference_counts *out);

#endif
