/* Counting (inference.h). */
#include "inference.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct srv_inference {
    pthread_mutex_t lock;
    srv_inference_counts names[];
};

srv_inference *srv_inference_new(size_t count) {
    srv_inference *inference = calloc(1, sizeof *inference + count * sizeof *inference->names);
    if (inference) pthread_mutex_init(&inference->lock, NULL);
    return inference;
}

void srv_inference_free(srv_inference *inference) {
    if (inference) pthread_mutex_destroy(&inference->lock);
    free(inference);
}

static void add(srv_inference_sum *sum, double milliseconds) {
    sum->count++;
    sum->nanoseconds += (uint64_t)(milliseconds * 1e6);
}

static srv_inference_batch *batch_of(srv_inference_counts *counts, size_t size) {
    for (size_t i = 0; i < counts->batch_count; i++)
        if (counts->batches[i].size == size) return &counts->batches[i];
    if (counts->batch_count == SRV_INFERENCE_BATCHES) return NULL;
    srv_inference_batch *batch = &counts->batches[counts->batch_count++];
    batch->size = size;
    return batch;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void add_success(srv_inference_counts *counts, const srv_inference_sample *sample) {
    srv_inference_batch *batch = batch_of(counts, sample->batch);
    counts->last = now();
    counts->sequences += sample->batch;
    for (size_t i = 0; i < SRV_INFERENCE_PARTS; i++) {
        add(&counts->parts[i], sample->parts[i]);
        if (batch) add(&batch->parts[i], sample->parts[i]);
    }
}

void srv_inference_add(srv_inference *inference, size_t name, const srv_inference_sample *sample) {
    srv_inference_counts *counts = &inference->names[name];
    double total = 0;
    for (size_t i = 0; i < SRV_INFERENCE_PARTS; i++)
        total += sample->parts[i];
    pthread_mutex_lock(&inference->lock);
    add(sample->succeeded ? &counts->success : &counts->fail, total);
    if (sample->succeeded) add_success(counts, sample);
    pthread_mutex_unlock(&inference->lock);
}

void srv_inference_read(srv_inference *inference, size_t name, srv_inference_counts *out) {
    pthread_mutex_lock(&inference->lock);
    *out = inference->names[name];
    pthread_mutex_unlock(&inference->lock);
}
