/* Forward passes of the table and of the scaling series, each in turns with the limit and the peer (work.h). */
#include "work.h"

#include "server/obs/clock.h"

#include <stdio.h>

enum { MOST_TURNS = 20, LEAST_TURNS = 5, QUICK_TURNS = 3, ROW_MS = 6000 };

typedef struct timed_work {
    const srv_bench_work *work;
    attn_pool *pool;
} timed_work;

static bool run_work(void *context) {
    const timed_work *timed = context;
    return srv_bench_work_run(timed->work, timed->pool);
}

/* Seconds of each turn. */
typedef struct turns {
    size_t count;
    double ours[MOST_TURNS], limit[MOST_TURNS], peer[MOST_TURNS], share[MOST_TURNS], times[MOST_TURNS];
} turns;

static void shape_name(const srv_bench_shape *shape, char *out, size_t size) {
    snprintf(out, size, "%zux%zu D%zu H%zu%s%s", shape->batch, shape->length, shape->width, shape->heads,
             shape->maps ? ", maps" : "", shape->causal ? ", causal" : "");
}

/* False where one of the three failed. */
static bool take_turn(turns *t, const srv_bench_options *options, const srv_bench_shape *shape,
                      timed_work *timed) {
    size_t i = t->count;
    t->limit[i] = srv_bench_limit_seconds(options->pool);
    t->ours[i] = srv_bench_seconds(run_work, timed);
    t->peer[i] = options->peer ? options->peer->seconds(options->peer->context, shape) : 0;
    if (t->limit[i] <= 0 || t->ours[i] <= 0 || t->peer[i] < 0) return false;
    t->share[i] = timed->work->flops / t->ours[i] / (srv_bench_limit_flops() / t->limit[i]);
    t->times[i] = t->peer[i] / t->ours[i];
    t->count++;
    return true;
}

static json_t *row_of(const srv_bench_shape *shape, turns *t, double flops, bool has_peer) {
    char name[96];
    shape_name(shape, name, sizeof name);
    double ours = srv_bench_median(t->ours, t->count);
    json_t *row = json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:b, s:I, s:f, s:f, s:f}", "shape", name, "batch",
                            (json_int_t)shape->batch, "length", (json_int_t)shape->length, "width",
                            (json_int_t)shape->width, "heads", (json_int_t)shape->heads, "maps", shape->maps,
                            "causal", shape->causal, "turns", (json_int_t)t->count, "ms", ours * 1e3,
                            "gflops", flops / ours / 1e9, "share", srv_bench_median(t->share, t->count));
    if (row && has_peer) {
        json_object_set_new(row, "peer_ms", json_real(srv_bench_median(t->peer, t->count) * 1e3));
        json_object_set_new(row, "times_peer", json_real(srv_bench_median(t->times, t->count)));
    }
    return row;
}

json_t *srv_bench_row(const srv_bench_shape *shape, const srv_bench_options *options, size_t most_turns,
                      attn_error *error) {
    srv_bench_work work;
    turns t = {0};
    if (srv_bench_work_new(shape, attn_pool_workers(options->pool), &work, error) != ATTN_OK) return NULL;
    timed_work timed = {&work, options->pool};
    bool works = true;
    double began = srv_clock_ms();
    while (works && t.count < most_turns &&
           (t.count < LEAST_TURNS || srv_clock_ms() - began < (double)ROW_MS))
        works = take_turn(&t, options, shape, &timed);
    json_t *row = works ? row_of(shape, &t, work.flops, options->peer != NULL) : NULL;
    if (!row)
        attn_error_set(error, ATTN_NO_MEMORY, NULL,
                       "a forward pass or the peer failed while it was measured");
    srv_bench_work_done(&work);
    return row;
}

/* Rows of these shapes; takes no peer along where there is none. */
static json_t *rows_of(const srv_bench_shape *shapes, size_t count, const srv_bench_options *options,
                       size_t most_turns, attn_error *error) {
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < count; i++) {
        json_t *row = srv_bench_row(&shapes[i], options, most_turns, error);
        if (json_array_append_new(rows, row) == 0) continue;
        json_decref(rows);
        return NULL;
    }
    return rows;
}

json_t *srv_bench_rows(const srv_bench_options *options, attn_error *error) {
    static const srv_bench_shape shapes[] = {
        {1, 16, 384, 12, true, false},    {1, 128, 768, 12, true, false},   {8, 128, 768, 12, true, false},
        {4, 512, 768, 12, true, false},   {1, 1024, 768, 12, false, false}, {1, 1024, 768, 12, false, true},
        {1, 4096, 768, 12, false, false}, {1, 4096, 768, 12, false, true},
    };
    return rows_of(shapes, sizeof shapes / sizeof *shapes, options, options->quick ? QUICK_TURNS : MOST_TURNS,
                   error);
}

/* One of the four sizes grows, the others stay. */
static const struct {
    const char *member;
    srv_bench_shape shapes[5];
} series[] = {
    {"length",
     {{1, 64, 768, 12, false, false},
      {1, 256, 768, 12, false, false},
      {1, 1024, 768, 12, false, false},
      {1, 2048, 768, 12, false, false},
      {1, 8192, 768, 12, false, false}}},
    {"batch",
     {{1, 128, 768, 12, true, false},
      {2, 128, 768, 12, true, false},
      {4, 128, 768, 12, true, false},
      {8, 128, 768, 12, true, false},
      {32, 128, 768, 12, true, false}}},
    {"heads",
     {{1, 512, 768, 1, true, false},
      {1, 512, 768, 4, true, false},
      {1, 512, 768, 12, true, false},
      {1, 512, 768, 24, true, false},
      {1, 512, 768, 48, true, false}}},
    {"width",
     {{1, 512, 192, 3, true, false},
      {1, 512, 384, 6, true, false},
      {1, 512, 768, 12, true, false},
      {1, 512, 1536, 24, true, false},
      {1, 512, 3072, 48, true, false}}},
};

/* The same work by ever more workers, and how many times as fast as by one that is. */
static json_t *worker_series(const srv_bench_options *options, attn_error *error) {
    const srv_bench_shape shape = {8, 128, 768, 12, true, false};
    json_t *list = json_array();
    double alone = 0;
    for (size_t workers = 1; list && workers <= attn_pool_workers(options->pool); workers++) {
        srv_bench_options with = {.quick = options->quick};
        attn_code code = attn_pool_new(workers, &with.pool, error);
        json_t *row = code == ATTN_OK ? srv_bench_row(&shape, &with, LEAST_TURNS, error) : NULL;
        attn_pool_free(with.pool);
        double ms = json_real_value(json_object_get(row, "ms"));
        if (workers == 1) alone = ms;
        json_t *entry = row ? json_pack("{s:I, s:O, s:f, s:f, s:O}", "workers", (json_int_t)workers, "shape",
                                        json_object_get(row, "shape"), "ms", ms, "times", alone / ms, "share",
                                        json_object_get(row, "share"))
                            : NULL;
        json_decref(row);
        if (json_array_append_new(list, entry) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *srv_bench_scaling(const srv_bench_options *options, attn_error *error) {
    const srv_bench_options alone = {.pool = options->pool, .quick = options->quick};
    /* Quick: the largest of each series is left out. */
    size_t length = sizeof series[0].shapes / sizeof series[0].shapes[0] - (options->quick ? 2 : 0);
    json_t *scaling = json_object();
    for (size_t i = 0; scaling && i < sizeof series / sizeof *series; i++) {
        json_t *rows =
            rows_of(series[i].shapes, length, &alone, options->quick ? QUICK_TURNS : LEAST_TURNS, error);
        if (json_object_set_new(scaling, series[i].member, rows) == 0) continue;
        json_decref(scaling);
        return NULL;
    }
    if (scaling && json_object_set_new(scaling, "workers", worker_series(options, error)) == 0)
        return scaling;
    json_decref(scaling);
    return NULL;
}
