/* The slow, obvious attention in double precision: plain loops that follow the formulas. It decides what is
 * right: the tests hold the fast path to it. */
#ifndef ATTN_ATTENTION_REFERENCE_H
#define ATTN_ATTENTION_REFERENCE_H

#include "request.h"

/* One sequence's stages in double; every array is malloc'ed, row-major and of the full size: no selection. */
typedef struct attn_reference {
    double *q;       /* L × H·dk */
    double *k;       /* (S + E) × Hkv·dk */
    double *v;       /* (S + E) × Hkv·dv */
    double *scores;  /* H × L × (S + E); masked: −Infinity */
    double *weights; /* H × L × (S + E) */
    double *context; /* L × H·dv */
    double *outputs; /* L × d_out */
    size_t rows_without_keys;
} attn_reference;

/* Computes one sequence of a planned request. Source of the formula: Vaswani et al. 2017, section 3.2.
 * Error: ATTN_NO_MEMORY. */
attn_code attn_reference_compute(const attn_plan *plan, size_t sequence, attn_reference *out,
                                 attn_error *error);

/* Frees the arrays; a zeroed value is fine. */
void attn_reference_done(attn_reference *reference);

#endif
