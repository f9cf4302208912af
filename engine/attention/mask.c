/* Masks (mask.h). A masked score is overwritten, never added to: neither a huge score nor a NaN survives
 * it. */
#include "mask.h"

#include <math.h>
#include <string.h>

/* One row's masks; a NULL pointer masks nothing. */
typedef struct row_masks {
    const uint8_t *padding, *allow;
    const float *bias;
} row_masks;

static row_masks masks_of(const attn_sequence *s, size_t head, size_t row) {
    const attn_mask *mask = &s->mask;
    const attn_bias *bias = &s->bias;
    return (row_masks){
        .padding = s->padding,
        .allow = mask->allow ? mask->allow + head * mask->head_stride + row * mask->query_stride : NULL,
        .bias = bias->values ? bias->values + head * bias->head_stride + row * bias->query_stride : NULL,
    };
}

static bool is_allowed(const row_masks *masks, size_t key) {
    return !(masks->padding && masks->padding[key]) && !(masks->allow && !masks->allow[key]) &&
           !(masks->bias && masks->bias[key] == -INFINITY);
}

static bool masks_nothing(const row_masks *masks) {
    return !masks->padding && !masks->allow && !masks->bias;
}

size_t attn_mask_row(const attn_sequence *sequence, size_t head, size_t row, attn_span keys, float *scores) {
    row_masks masks = masks_of(sequence, head, row);
    if (masks_nothing(&masks)) return keys.end - keys.begin;
    size_t allowed = 0;
    for (size_t j = keys.begin; j < keys.end; j++) {
        bool visible = is_allowed(&masks, j);
        float *score = &scores[j - keys.begin];
        float biased = masks.bias ? *score + masks.bias[j] : *score;
        *score = visible ? biased : -INFINITY;
        allowed += visible;
    }
    return allowed;
}

bool attn_mask_sees_any(const attn_sequence *sequence, size_t head, size_t row, attn_span keys) {
    row_masks masks = masks_of(sequence, head, row);
    size_t begin = keys.begin, count = keys.begin < keys.end ? keys.end - keys.begin : 0;
    /* A library's comparison of each byte with the next is many times as fast as the loop. */
    if (count > 0 && masks.allow && masks.allow[begin] == 0 &&
        memcmp(masks.allow + begin, masks.allow + begin + 1, count - 1) == 0)
        return false;
    for (size_t j = keys.begin; j < keys.end; j++)
        if (is_allowed(&masks, j)) return true;
    return false;
}

size_t attn_mask_count(const attn_sequence *sequence, size_t head, size_t row, attn_span keys) {
    row_masks masks = masks_of(sequence, head, row);
    if (masks_nothing(&masks)) return keys.end - keys.begin;
    size_t allowed = 0;
    for (size_t j = keys.begin; j < keys.end; j++)
        allowed += is_allowed(&masks, j);
    return allowed;
}

bool attn_mask_removes(const attn_sequence *sequence, size_t head, size_t key) {
    row_masks masks = masks_of(sequence, head, 0);
    if (sequence->mask.query_stride > 0) masks.allow = NULL;
    if (sequence->bias.query_stride > 0) masks.bias = NULL;
    return !is_allowed(&masks, key);
}

void attn_plan_visible(const attn_plan *plan, size_t sequence, size_t head, size_t query, uint8_t *visible) {
    const attn_sequence *s = &plan->request.sequences[sequence];
    attn_span keys = attn_row_keys(plan, s, query);
    row_masks masks = masks_of(s, head, query);
    memset(visible, 0, s->keys);
    memset(visible + s->keys, 1, plan->request.layer->extra_keys);
    for (size_t key = keys.begin; key < keys.end; key++)
        visible[key] = is_allowed(&masks, key);
}
