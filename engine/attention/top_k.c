/* A heap of the k best so far with the worst at its root (Williams 1964), sorted at the end: O(count · log
 * k), in the answer's own memory. */
#include "top_k.h"

#include <stdbool.h>

typedef struct heap {
    int32_t *keys;
    float *weights;
    size_t size;
} heap;

static bool is_worse(const heap *h, size_t a, size_t b) {
    if (h->weights[a] != h->weights[b]) return h->weights[a] < h->weights[b];
    return h->keys[a] > h->keys[b];
}

static void swap(heap *h, size_t a, size_t b) {
    int32_t key = h->keys[a];
    float weight = h->weights[a];
    h->keys[a] = h->keys[b];
    h->weights[a] = h->weights[b];
    h->keys[b] = key;
    h->weights[b] = weight;
}

static void sift_down(heap *h, size_t at) {
    for (size_t child; (child = 2 * at + 1) < h->size; at = child) {
        if (child + 1 < h->size && is_worse(h, child + 1, child)) child++;
        if (!is_worse(h, child, at)) return;
        swap(h, child, at);
    }
}

static void sift_up(heap *h, size_t at) {
    for (; at > 0 && is_worse(h, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(h, at, (at - 1) / 2);
}

/* Takes an entry in and returns the weight that this leaves out: its own, the worst one's, or none. Keys
 * arrive in rising order, so an entry that only equals the worst one is no better. */
static float offer(heap *h, size_t k, int32_t key, float weight) {
    if (h->size < k) {
        h->keys[h->size] = key;
        h->weights[h->size] = weight;
        sift_up(h, h->size++);
        return 0;
    }
    float worst = h->weights[0];
    if (weight <= worst) return weight;
    h->keys[0] = key;
    h->weights[0] = weight;
    sift_down(h, 0);
    return worst;
}

/* Takes the worst out again and again: what remains is in falling order. */
static void sort_falling(heap *h) {
    for (size_t size = h->size; size > 1; size--) {
        h->size = size - 1;
        swap(h, 0, size - 1);
        sift_down(h, 0);
    }
}

float attn_top_k(const float *row, size_t count, size_t k, int32_t *keys, float *weights) {
    heap best = {.keys = keys, .weights = weights};
    double rest = 0;
    for (size_t j = 0; j < count; j++)
        if (row[j] != 0) rest += (double)offer(&best, k, (int32_t)j, row[j]);
    size_t found = best.size;
    sort_falling(&best);
    for (size_t i = found; i < k; i++) {
        keys[i] = -1;
        weights[i] = 0;
    }
    return (float)rest;
}
