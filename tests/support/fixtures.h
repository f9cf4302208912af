/* The small weights files of the cases: safetensors with torch.nn.MultiheadAttention's names, D = 2,
 * num_heads in the metadata. */
#ifndef TESTS_SUPPORT_FIXTURES_H
#define TESTS_SUPPORT_FIXTURES_H

#include <stddef.h>

/* ID1, ID2: everything is the identity. out_bias: 2 floats, or NULL for zeros. */
void fixture_identity(const char *path, size_t heads, const float *out_bias);
/* SEL, 2 heads: head 0 of token (a, b) has q = k = a, v = b; head 1 is uniform. The output projection is
 * out_factor·I. */
void fixture_select(const char *path, float out_factor);
/* ASYM: no two entries play the same part. */
void fixture_asymmetric(const char *path, size_t heads);
/* OWN, of D = 1: 1 head, identities, and two keys of the layer's own: bias_k = 4, and add_zero_attn. */
void fixture_own_keys(const char *path);
/* GROUPED, of D = 4: identities, of which k and v have the first half: for 4 query heads two of theirs. */
void fixture_grouped(const char *path);

/* ASYM's arrays in torch's layout, for other namings and dtypes: 6×2, 6, 2×2, 2. All exact in F16 and BF16
 * but for 0.1 and 0.2. */
extern const float fixture_asymmetric_in_weight[12], fixture_asymmetric_in_bias[6],
    fixture_asymmetric_out_weight[4], fixture_asymmetric_out_bias[2];

#endif
