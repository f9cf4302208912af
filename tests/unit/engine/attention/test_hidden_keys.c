/* Keys that no query of a block sees are not read: they lie in memory that may not be touched. And those that only some of
 * its rows see count for these. */
#include "engine/engine.h"

#include "compare.h"
#include "engine/attention/geometry.h"
#include "engine/sched/workspaces.h"
#include "suites.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

/* Whole tiles of keys, whichever way they are cut. */
enum { WIDTH = 16, TILE = 2 * ATTN_ONLINE_KEYS, TILES = 4, KEYS = TILES * TILE, MOST_QUERIES = 300 };
_Static_assert(TILE % ATTN_SPLIT_KEYS == 0, "splits of the keys do not reach into the next tile");

/* The vectors of the context; those of the middle tiles can be made untouchable. */
static float *context;
static float inputs[MOST_QUERIES * WIDTH];

static float wave(size_t i) {
    return (float)sin(0.7 * (double)i);
}

static void make_context(void) {
    context = mmap(NULL, KEYS * WIDTH * sizeof *context, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    ck_assert_ptr_ne(context, MAP_FAILED);
    for (size_t i = 0; i < (size_t)KEYS * WIDTH; i++)
        context[i] = wave(i);
    for (size_t i = 0; i < MOST_QUERIES * WIDTH; i++)
        inputs[i] = wave(3 * i + 1);
}

static void drop_context(void) {
    munmap(context, KEYS * WIDTH * sizeof *context);
}

/* The first and last tile are seen but for every third key, the two in between are not. */
static bool is_seen(size_t key) {
    return (key < TILE || key >= KEYS - TILE) && key % 3 != 1;
}

static void protect(int protection) {
    size_t bytes = TILE * WIDTH * sizeof *context;
    ck_assert_int_eq(mprotect((char *)context + bytes, (TILES - 2) * bytes, protection), 0);
}

static uint8_t padding[KEYS], allow[MOST_QUERIES * KEYS];
static float bias[MOST_QUERIES * KEYS];

/* Padding, one mask for all queries, a mask row for each, a bias row for each. */
static void mask_with(int way, size_t queries, attn_sequence *sequence) {
    *sequence = (attn_sequence){.queries = queries, .keys = KEYS};
    for (size_t i = 0; i < queries; i++)
        for (size_t j = 0; j < KEYS; j++) {
            padding[j] = !is_seen(j);
            allow[i * KEYS + j] = is_seen(j);
            bias[i * KEYS + j] = is_seen(j) ? wave(i + j) : -INFINITY;
        }
    if (way == 0) sequence->padding = padding;
    if (way == 1) sequence->mask = (attn_mask){.allow = allow};
    if (way == 2) sequence->mask = (attn_mask){.allow = allow, .query_stride = KEYS};
    if (way == 3) sequence->bias = (attn_bias){.values = bias, .query_stride = KEYS};
}

/* `untouched`: the middle tiles may not be. */
static void check(const attn_request *request, bool untouched) {
    attn_plan plan;
    attn_run *run = NULL;
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_plan_make(request, 2, &plan, NULL), ATTN_OK);
    ck_assert_int_eq(attn_run_new(&plan, &run, NULL), ATTN_OK);
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    if (untouched) protect(PROT_NONE);
    ck_assert_int_eq(attn_run_wait(run, pool), ATTN_OK);
    protect(PROT_READ | PROT_WRITE);
    attn_pool_free(pool);
    attn_reference right = {0};
    ck_assert_int_eq(attn_reference_compute(&plan, 0, &right, NULL), ATTN_OK);
    char text[COMPARE_TEXT_SIZE];
    attn_view outputs = attn_run_view(run, ATTN_OUTPUTS, 0);
    ck_assert_msg(
        compare_floats("outputs", outputs.data, right.outputs, attn_view_count(&outputs), 1e-5, text), "%s",
        text);
    if (request->want & ATTN_WANT_MAPS) {
        attn_view maps = attn_run_view(run, ATTN_MAPS, 0);
        ck_assert_msg(compare_floats("maps", maps.data, right.weights, attn_view_count(&maps), 1e-5, text),
                      "%s", text);
    }
    attn_reference_done(&right);
    attn_run_free(run);
}

/* The inputs' rows ask the context's, with one head and no projections. */
static attn_request request_of(const attn_sequence *sequence, unsigned want) {
    static const attn_layer layer = {.name = "layers.0", .heads = 1, .kv_heads = 1};
    return (attn_request){.layer = &layer,
                          .sequences = sequence,
                          .sequence_count = 1,
                          .inputs = inputs,
                          .context = context,
                          .d_model = WIDTH,
                          .d_key = WIDTH,
                          .want = want};
}

START_TEST(hidden_tiles_are_not_touched) {
    static const size_t lengths[] = {1, 5, MOST_QUERIES};
    static const unsigned wants[] = {ATTN_WANT_OUTPUTS, ATTN_WANT_OUTPUTS | ATTN_WANT_MAPS};
    for (size_t l = 0; l < 3; l++)
        for (size_t w = 0; w < 2; w++) {
            attn_sequence sequence;
            mask_with(_i, lengths[l], &sequence);
            const attn_request request = request_of(&sequence, wants[w]);
            check(&request, true);
        }
}
END_TEST

/* Fewer keys than queries, and more than are blended at a time: a few rows see none, or another part than the next ones.
 * Windows of causal order at both ends, with maps and without. */
START_TEST(parts_that_some_rows_do_not_see_are_left_out) {
    static const size_t windows[] = {0, 1, 47, 400, ATTN_ONLINE_KEYS, ATTN_ONLINE_KEYS + 1};
    static const size_t keys[] = {50, MOST_QUERIES, ATTN_ONLINE_KEYS + 15, TILE, 2 * TILE};
    attn_workspaces_keep(SIZE_MAX, 0); /* each run finds what the one before has left */
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            for (attn_causal causal = ATTN_CAUSAL_TOP_LEFT; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
                const attn_sequence sequence = {.queries = MOST_QUERIES, .keys = keys[k]};
                attn_request request =
                    request_of(&sequence, ATTN_WANT_OUTPUTS | (_i == 0 ? 0 : ATTN_WANT_MAPS));
                request.causal = causal;
                request.window_given = windows[w] > 0;
                request.window = windows[w];
                check(&request, false);
            }
    attn_workspaces_keep(0, 0);
}
END_TEST

ATTND_SUITE(hidden_keys) {
    Suite *suite = suite_create("hidden_keys");
    TCase *cases = tcase_create("hidden keys");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_checked_fixture(cases, make_context, drop_context);
    tcase_add_loop_test(cases, hidden_tiles_are_not_touched, 0, 4);
    tcase_add_loop_test(cases, parts_that_some_rows_do_not_see_are_left_out, 0, 2);
    suite_add_tcase(suite, cases);
    return suite;
}
