/* The tensors of an answer by their names in binary formats, and how the sequences of a batch lie in them. Internal to
 * server/codec. Pure; any thread. */
#ifndef SRV_CODEC_RESULTS_H
#define SRV_CODEC_RESULTS_H

#include "codec.h"

typedef struct srv_result {
    const char *name; /* "outputs", "attention.index" … */
    attn_result what;
    bool is_index; /* the keys of the largest weights, in the shape of `what` */
} srv_result;

enum { SRV_RESULTS = 10 };

/* What a request asks for, in the contract's order; returns how many. */
size_t srv_results_list(const attn_request *request, srv_result out[SRV_RESULTS]);

/* How a batch lies in one tensor. */
typedef enum srv_layout {
    SRV_LAYOUT_SINGLE,   /* one sequence, no axis for it */
    SRV_LAYOUT_STACKED,  /* N × … */
    SRV_LAYOUT_PACKED,   /* ΣL × D_out: outputs of sequences of different lengths */
    SRV_LAYOUT_SEPARATE, /* a tensor for each sequence */
} srv_layout;

srv_layout srv_results_layout(const srv_ask *ask, const attn_request *request, attn_result what);

/* Adds one sequence's part as bytes: float32, or float16 where the ask says so; int32 of an index. */
void srv_results_add(const srv_outcome *outcome, const srv_result *result, size_t sequence, srv_parts *parts);

/* Hints at options that say nothing about bytes. */
void srv_results_hint(srv_ask *ask);

#endif
