/* Row blocks and the keys that causal order and window leave, counted by the definition itself. */
#include "engine/attention/geometry.h"
#include "suites.h"

#include <stdint.h>

static void check_blocks(const attn_plan *plan, size_t queries, size_t most) {
    size_t next = 0;
    for (size_t block = 0; block < attn_row_blocks(plan, queries); block++) {
        attn_span rows = attn_row_block(plan, queries, block);
        ck_assert_uint_eq(rows.begin, next);
        ck_assert_uint_gt(rows.end, rows.begin);
        ck_assert_uint_le(rows.end - rows.begin, most);
        next = rows.end;
    }
    ck_assert_uint_eq(next, queries);
}

START_TEST(blocks_cover_every_row_once) {
    const size_t lengths[] = {1, 127, 128, 129, 255, 256, 257, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        attn_plan plan = {.request.want = ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS};
        check_blocks(&plan, lengths[i], ATTN_TILE_ROWS);
        plan.request.want = ATTN_WANT_OUTPUTS;
        check_blocks(&plan, lengths[i], ATTN_ONLINE_ROWS);
    }
}
END_TEST

/* The contract's words: p − j < W and j − p < W where not causal, j <= p where causal. */
static bool in_reach(attn_causal causal, size_t window, size_t queries, size_t keys, size_t row, size_t key) {
    intmax_t p = (intmax_t)row, j = (intmax_t)key, w = (intmax_t)window;
    if (causal == ATTN_CAUSAL_BOTTOM_RIGHT) p += (intmax_t)keys - (intmax_t)queries;
    if (causal != ATTN_CAUSAL_OFF && j > p) return false;
    if (window > 0 && p - j >= w) return false;
    return !(window > 0 && causal == ATTN_CAUSAL_OFF && j - p >= w);
}

START_TEST(key_ranges_follow_the_definition) {
    const attn_causal causals[] = {ATTN_CAUSAL_OFF, ATTN_CAUSAL_TOP_LEFT, ATTN_CAUSAL_BOTTOM_RIGHT};
    for (size_t c = 0; c < 3; c++)
        for (size_t queries = 1; queries <= 9; queries++)
            for (size_t keys = 1; keys <= 9; keys++)
                for (size_t window = 0; window <= 12; window++) {
                    attn_plan plan = {.request = {.causal = causals[c], .window = window}};
                    attn_sequence sequence = {.queries = queries, .keys = keys};
                    for (size_t row = 0; row < queries; row++) {
                        attn_span span = attn_row_keys(&plan, &sequence, row);
                        ck_assert_uint_le(span.end, keys);
                        for (size_t key = 0; key < keys; key++)
                            ck_assert_msg((key >= span.begin && key < span.end) ==
                                              in_reach(causals[c], window, queries, keys, row, key),
                                          "causal %d window %zu L %zu S %zu row %zu key %zu: span %zu-%zu",
                                          (int)causals[c], window, queries, keys, row, key, span.begin,
                                          span.end);
                    }
                }
}
END_TEST

START_TEST(a_huge_window_does_not_wrap) {
    attn_plan plan = {.request = {.causal = ATTN_CAUSAL_TOP_LEFT, .window = SIZE_MAX}};
    attn_sequence sequence = {.queries = 5, .keys = 5};
    attn_span span = attn_row_keys(&plan, &sequence, 3);
    ck_assert_uint_eq(span.begin, 0);
    ck_assert_uint_eq(span.end, 4);
}
END_TEST

ATTND_SUITE(geometry) {
    Suite *suite = suite_create("geometry");
    TCase *tcase = tcase_create("geometry");
    tcase_add_test(tcase, blocks_cover_every_row_once);
    tcase_add_test(tcase, key_ranges_follow_the_definition);
    tcase_add_test(tcase, a_huge_window_does_not_wrap);
    suite_add_tcase(suite, tcase);
    return suite;
}
