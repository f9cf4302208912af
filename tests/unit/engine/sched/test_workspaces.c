/* Memory that is kept between runs: what is used again, how much stays, when it goes. */
#include "engine/engine.h"
#include "suites.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { BLOCK = 1 << 20, PAGE = 4096 };

static attn_workspace take(size_t bytes) {
    attn_workspace block = {0};
    ck_assert(attn_workspace_take(bytes, &block));
    ck_assert_uint_eq((uintptr_t)block.memory % 64, 0);
    ck_assert_uint_ge(block.capacity, bytes);
    ck_assert_uint_eq(block.used, bytes);
    memset(block.memory, 'x', bytes);
    return block;
}

static void empty(void) {
    attn_workspaces_keep(0, 0);
    ck_assert_uint_eq(attn_workspaces_kept(), 0);
}

START_TEST(nothing_is_kept_unless_allowed) {
    attn_workspace block = take(BLOCK);
    attn_workspace_give(&block);
    ck_assert_uint_eq(attn_workspaces_kept(), 0);
    attn_workspaces_keep(BLOCK - 1, 0);
    block = take(BLOCK);
    attn_workspace_give(&block);
    ck_assert_uint_eq(attn_workspaces_kept(), 0);
    attn_workspace nothing = {0};
    attn_workspace_give(&nothing);
}
END_TEST

START_TEST(a_block_is_used_again) {
    attn_workspaces_keep(4 * BLOCK, 0);
    attn_workspace small = take(BLOCK), large = take(2 * BLOCK);
    void *const first = small.memory, *const second = large.memory;
    attn_workspace_give(&large);
    attn_workspace_give(&small);
    ck_assert_uint_eq(attn_workspaces_kept(), 3 * BLOCK);
    /* The smallest that suffices, whichever came last. */
    attn_workspace again = take(BLOCK - 100), other = take(BLOCK + 1);
    ck_assert_ptr_eq(again.memory, first);
    ck_assert_ptr_eq(other.memory, second);
    ck_assert_uint_eq(attn_workspaces_kept(), 0);
    attn_workspace_give(&again);
    attn_workspace_give(&other);
    ck_assert_uint_eq(attn_workspaces_high_water(), 3 * BLOCK); /* never more at a time */
    empty();
}
END_TEST

/* What lies behind the bytes asked for is the system's again: it reads as zeros, and counts for nothing. */
START_TEST(a_block_for_less_holds_no_more) {
    attn_workspaces_keep(4 * BLOCK, 0);
    attn_workspace block = take(BLOCK);
    const char *memory = block.memory;
    attn_workspace_give(&block);
    block = take(BLOCK / 2 + 1);
    ck_assert_ptr_eq(block.memory, memory);
    ck_assert_int_eq(memory[BLOCK / 2], 'x');
    ck_assert_int_eq(memory[BLOCK / 2 + PAGE], 0);
    ck_assert_int_eq(memory[BLOCK - 1], 0);
    attn_workspace_give(&block);
    ck_assert_uint_eq(attn_workspaces_kept(), BLOCK / 2 + 1);
    empty();
}
END_TEST

START_TEST(a_large_block_is_left_to_those_that_need_it) {
    attn_workspaces_keep(8 * BLOCK, 0);
    attn_workspace large = take(4 * BLOCK);
    void *const memory = large.memory;
    attn_workspace_give(&large);
    attn_workspace small = take(BLOCK - 1);
    ck_assert_ptr_ne(small.memory, memory);
    ck_assert_uint_eq(attn_workspaces_kept(), 4 * BLOCK);
    large = take(BLOCK); /* of a quarter */
    ck_assert_ptr_eq(large.memory, memory);
    attn_workspace_give(&large);
    attn_workspace_give(&small);
    empty();
}
END_TEST

START_TEST(the_oldest_gives_way) {
    attn_workspaces_keep(3 * BLOCK, 0);
    attn_workspace blocks[4];
    for (size_t i = 0; i < 4; i++)
        blocks[i] = take(BLOCK + i * PAGE);
    void *const second = blocks[1].memory;
    attn_workspaces_keep(3 * BLOCK + 6 * PAGE, 0);
    for (size_t i = 0; i < 4; i++)
        attn_workspace_give(&blocks[i]);
    ck_assert_uint_eq(attn_workspaces_kept(), 3 * BLOCK + 6 * PAGE); /* all but the first */
    attn_workspaces_trim(3 * BLOCK);
    ck_assert_uint_eq(attn_workspaces_kept(), 2 * BLOCK + 5 * PAGE); /* and but the second */
    attn_workspace block = take(BLOCK);
    ck_assert_ptr_ne(block.memory, second);
    attn_workspace_give(&block);
    attn_workspaces_trim(0);
    ck_assert_uint_eq(attn_workspaces_kept(), 0);
    empty();
}
END_TEST

/* More blocks than the list has places. */
START_TEST(many_blocks_at_once) {
    enum { MANY = 200 };
    attn_workspaces_keep(SIZE_MAX, 0);
    static attn_workspace blocks[MANY];
    for (size_t i = 0; i < MANY; i++)
        blocks[i] = take(i + 1);
    ck_assert_uint_ge(attn_workspaces_high_water(), MANY * (MANY + 1) / 2);
    for (size_t i = 0; i < MANY; i++)
        attn_workspace_give(&blocks[i]);
    size_t kept = attn_workspaces_kept();
    ck_assert_uint_ge(kept, MANY);
    ck_assert_uint_lt(kept, MANY * (MANY + 1) / 2);
    empty();
}
END_TEST

START_TEST(more_than_there_is_leaves_no_trace) {
    attn_workspaces_keep(SIZE_MAX, 0);
    attn_workspace block = take(BLOCK), none = {0};
    attn_workspace_give(&block);
    size_t high_water = attn_workspaces_high_water();
    ck_assert(!attn_workspace_take(SIZE_MAX - 10, &none));
    ck_assert_ptr_null(none.memory);
    ck_assert_uint_eq(attn_workspaces_kept(), 0); /* given up in vain */
    ck_assert_uint_eq(attn_workspaces_high_water(), high_water);
    empty();
}
END_TEST

START_TEST(a_pool_without_work_gives_it_back) {
    attn_workspaces_keep(SIZE_MAX, 1);
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    for (int round = 0; round < 3; round++) {
        attn_workspace block = take(BLOCK);
        attn_workspace_give(&block);
        while (attn_workspaces_kept() > 0) /* the test's time limit ends this */
            sched_yield();
    }
    attn_pool_free(pool);
    empty();
}
END_TEST

ATTND_SUITE(workspaces) {
    Suite *suite = suite_create("workspaces");
    TCase *cases = tcase_create("workspaces");
    tcase_add_test(cases, nothing_is_kept_unless_allowed);
    tcase_add_test(cases, a_block_is_used_again);
    tcase_add_test(cases, a_block_for_less_holds_no_more);
    tcase_add_test(cases, a_large_block_is_left_to_those_that_need_it);
    tcase_add_test(cases, the_oldest_gives_way);
    tcase_add_test(cases, many_blocks_at_once);
    tcase_add_test(cases, more_than_there_is_leaves_no_trace);
    tcase_add_test(cases, a_pool_without_work_gives_it_back);
    suite_add_tcase(suite, cases);
    return suite;
}
