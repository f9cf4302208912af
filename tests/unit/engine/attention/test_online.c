/* Softmax over tiles of keys: several tiles in a row, maxima that rise from tile to tile, keys that nobody sees, and
 * sums that leave float32's range although their quotients do not. All against the reference. */
#include "engine/attention/geometry.h"

#include "compare.h"
#include "engine/attention/reference.h"
#include "engine/blas/blas.h"
#include "engine/sched/workspaces.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two whole tiles of keys, and some keys of a third. */
enum { TILE = ATTN_ONLINE_KEYS, QUERIES = 300, KEYS = 2 * TILE + 76, WIDTH = 8, HEADS = 2, EXTRA = 3 };

/* A layer that hands its inputs through, and a request to it. */
typedef struct long_row {
    attn_layer layer;
    attn_sequence sequence;
    attn_request request;
    float identity[WIDTH * WIDTH], extra[EXTRA * WIDTH];
    float inputs[QUERIES * WIDTH], context[KEYS * WIDTH], values[KEYS * WIDTH], bias[KEYS];
    uint8_t padding[KEYS];
} long_row;

static float wave(size_t i, float most) {
    return most * (float)sin(1.7 * (double)i + 0.3 * (double)(i % 97));
}

static long_row *long_row_new(void) {
    long_row *l = calloc(1, sizeof *l);
    ck_assert_ptr_nonnull(l);
    for (size_t i = 0; i < WIDTH; i++)
        l->identity[i * WIDTH + i] = 1;
    for (size_t i = 0; i < QUERIES * WIDTH; i++)
        l->inputs[i] = wave(i, 2);
    for (size_t i = 0; i < KEYS * WIDTH; i++) {
        l->context[i] = wave(i + 5, 2);
        l->values[i] = wave(i + 11, 1);
    }
    for (size_t i = 0; i < EXTRA * WIDTH; i++)
        l->extra[i] = wave(i + 17, 2);
    l->layer = (attn_layer){.name = "layers.0",
                            .d_model = WIDTH,
                            .d_key = WIDTH,
                            .d_value = WIDTH,
                            .d_out = WIDTH,
                            .heads = HEADS,
                            .kv_heads = HEADS,
                            .head_dim = WIDTH / HEADS,
                            .value_dim = WIDTH / HEADS,
                            .scale = 1,
                            .causal = ATTN_CAUSAL_OFF,
                            .wq = l->identity,
                            .wk = l->identity,
                            .wv = l->identity};
    l->sequence = (attn_sequence){.queries = QUERIES, .keys = KEYS};
    l->request = (attn_request){.layer = &l->layer,
                                .sequences = &l->sequence,
                                .sequence_count = 1,
                                .inputs = l->inputs,
                                .context = l->context,
                                .values = l->values,
                                .d_model = WIDTH,
                                .d_key = WIDTH,
                                .d_value = WIDTH,
                                .want = ATTN_WANT_OUTPUTS};
    return l;
}

static void nothing(long_row *l) {
    (void)l;
}

static void extra_keys(long_row *l) {
    l->layer.extra_keys = EXTRA;
    l->layer.extra_k = l->layer.extra_v = l->extra;
}

static void causal(long_row *l) {
    l->request.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
}

/* The first rows see no key at all. */
static void window(long_row *l) {
    l->sequence.queries = QUERIES;
    l->sequence.keys = 200;
    l->request.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    l->request.window_given = true;
    l->request.window = 37;
}

static void rising_maxima(long_row *l) {
    for (size_t j = 0; j < KEYS; j++)
        l->bias[j] = (float)j * 0.13F;
    l->sequence.bias.values = l->bias;
}

static void falling_maxima(long_row *l) {
    for (size_t j = 0; j < KEYS; j++)
        l->bias[j] = (float)j * -0.13F;
    l->sequence.bias.values = l->bias;
}

/* The first tile of keys, and the last, are all masked by the bias: nothing to trim, nothing to sum. */
static void empty_tiles(long_row *l) {
    for (size_t j = 0; j < KEYS; j++)
        l->bias[j] = j < TILE + 88 || j >= 2 * TILE ? -INFINITY : 0;
    l->sequence.bias.values = l->bias;
}

static void padded_at_both_ends(long_row *l) {
    for (size_t j = 0; j < KEYS; j++)
        l->padding[j] = j < TILE + 18 || j == TILE + 88 || j >= 2 * TILE - 24;
    l->sequence.padding = l->padding;
    for (size_t j = 0; j < TILE * WIDTH; j++)
        l->context[j] = l->values[j] = 3e38F;
}

static void padded_throughout(long_row *l) {
    memset(l->padding, 1, sizeof l->padding);
    l->sequence.padding = l->padding;
}

/* A thousand weights times 1e38 leave float32; their mean does not. */
static void large_values(long_row *l) {
    for (size_t i = 0; i < KEYS * WIDTH; i++)
        l->values[i] = 1e38F * (1 + 0.01F * (float)(i % 7));
    memset(l->inputs, 0, sizeof l->inputs);
}

/* Weights of the first keys are 0 only beside the maximum of the last tile: they end as if never met. */
static void values_beyond_float32_under_weights_of_zero(long_row *l) {
    for (size_t j = 0; j < KEYS; j++)
        l->bias[j] = j < TILE + 88 ? 0 : j < 2 * TILE ? 70 : 200;
    l->sequence.bias.values = l->bias;
    memset(l->inputs, 0, sizeof l->inputs);
    l->identity[0] = 1.5F;
    l->values[0] = 3e38F;
    l->values[(TILE + 38) * WIDTH] = -3e38F;
}

static const struct {
    const char *name;
    void (*change)(long_row *l);
} rows[] = {
#define ROW(name) {#name, name}
    ROW(nothing),
    ROW(extra_keys),
    ROW(causal),
    ROW(window),
    ROW(rising_maxima),
    ROW(falling_maxima),
    ROW(empty_tiles),
    ROW(padded_at_both_ends),
    ROW(large_values),
    ROW(padded_throughout),
    ROW(values_beyond_float32_under_weights_of_zero),
#undef ROW
};

static void check_row(int index, attn_pool *pool) {
    long_row *l = long_row_new();
    rows[index].change(l);
    attn_plan plan;
    attn_run *run = NULL;
    attn_reference reference = {0};
    ck_assert_int_eq(attn_plan_make(&l->request, 2, &plan, NULL), ATTN_OK);
    ck_assert(attn_plan_is_online(&plan));
    ck_assert_int_eq(attn_run_new(&plan, &run, NULL), ATTN_OK);
    ck_assert_int_eq(attn_reference_compute(&plan, 0, &reference, NULL), ATTN_OK);
    attn_code code = attn_run_wait(run, pool);
    ck_assert_msg(code == ATTN_OK, "%s: %s", rows[index].name, attn_code_name(code));
    attn_view outputs = attn_run_view(run, ATTN_OUTPUTS, 0);
    char text[COMPARE_TEXT_SIZE];
    bool agrees = compare_floats(rows[index].name, outputs.data, reference.outputs, attn_view_count(&outputs),
                                 1e-5, text);
    ck_assert_msg(agrees, "%s", text);
    ck_assert_uint_eq(attn_run_rows_without_keys(run), reference.rows_without_keys);
    attn_reference_done(&reference);
    attn_run_free(run);
    free(l);
}

/* In memory that another run has left, too. */
START_TEST(long_rows_agree_with_the_reference) {
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    attn_workspaces_keep(SIZE_MAX, 0);
    check_row(0, pool);
    check_row(_i, pool);
    attn_workspaces_keep(0, 0);
    attn_pool_free(pool);
}
END_TEST

START_TEST(memory_does_not_grow_with_the_square_of_the_length) {
    long_row *l = long_row_new();
    l->request.context = l->request.values = NULL;
    l->request.causal = ATTN_CAUSAL_SQUARE;
    size_t bytes[2];
    for (size_t i = 0; i < 2; i++) {
        attn_plan plan;
        l->sequence.queries = l->sequence.keys = (size_t)16384 << i;
        ck_assert_int_eq(attn_plan_make(&l->request, 2, &plan, NULL), ATTN_OK);
        bytes[i] = plan.bytes - 4 * l->sequence.keys * WIDTH * sizeof(float); /* q, k, v and outputs */
        ck_assert_uint_le(plan.scratch_floats * sizeof(float), 1 << 20);
    }
    ck_assert_uint_eq(bytes[0], bytes[1]); /* two workers' tiles of scores */
    free(l);
}
END_TEST

ATTND_SUITE(online) {
    Suite *suite = suite_create("online");
    TCase *cases = tcase_create("online");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_loop_test(cases, long_rows_agree_with_the_reference, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(cases, memory_does_not_grow_with_the_square_of_the_length);
    suite_add_tcase(suite, cases);
    return suite;
}
