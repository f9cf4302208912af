/* A run: its memory, four stages of tiles (projections, attention, merging of split keys, output projection), then
 * its results as views. Any thread may make and read one; between submit and done it belongs to the pool. */
#include "run.h"

#include "../base/size.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = ATTN_ALIGN_FLOATS * sizeof(float),
};

static size_t longest_queries(const attn_request *r) {
    size_t longest = 0;
    for (size_t n = 0; n < r->sequence_count; n++)
        if (r->sequences[n].queries > longest) longest = r->sequences[n].queries;
    return longest;
}

size_t attn_run_header_bytes(const attn_plan *plan, bool *overflow) {
    const attn_request *r = &plan->request;
    size_t slots = r->layer->heads + (r->queries ? longest_queries(r) : 0);
    size_t places = 0, slot_bytes = 0, total = 0;
    bool fits = attn_size_mul(r->sequence_count + 1, sizeof(attn_place), &places) &&
                attn_size_mul(slots, sizeof(size_t), &slot_bytes) &&
                attn_size_add(sizeof(struct attn_run) + LINE, places, &total) &&
                attn_size_add(total, slot_bytes, &total);
    if (!fits) *overflow = true;
    return total & ~(size_t)(LINE - 1);
}

static attn_span unpadded_keys(const attn_sequence *s) {
    attn_span keys = {0, s->keys};
    while (s->padding && keys.end > 0 && s->padding[keys.end - 1])
        keys.end--;
    while (s->padding && keys.begin < keys.end && s->padding[keys.begin])
        keys.begin++;
    return keys;
}

static void fill_places(attn_run *run) {
    const attn_request *r = &run->plan.request;
    attn_place at = {0};
    for (size_t n = 0; n < r->sequence_count; n++) {
        const attn_sequence *s = &r->sequences[n];
        at.unpadded = unpadded_keys(s);
        run->places[n] = at;
        at.query_row += s->queries;
        at.key_row += s->keys;
        size_t map_rows = run->plan.map_heads * attn_map_rows(&run->plan, s);
        at.map_row += map_rows;
        at.map += map_rows * attn_map_width(&run->plan, s);
        size_t blocks = attn_row_blocks(&run->plan, s->queries);
        at.tile += blocks * attn_key_splits(&run->plan, s) * attn_block_tiles(&run->plan);
        bool overflow = false; /* the plan has looked */
        at.splits += attn_split_floats(&run->plan, s, &overflow);
        at.sums += blocks * run->plan.statistic_heads;
        at.column += (s->keys + r->layer->extra_keys) * run->plan.statistic_heads;
    }
    run->places[r->sequence_count] = at;
}

/* slots[chosen[i]] = i, SIZE_MAX elsewhere; without a selection each place is its own slot. */
static void fill_slots(size_t *slots, size_t count, const size_t *chosen, size_t chosen_count) {
    for (size_t i = 0; i < count; i++)
        slots[i] = chosen ? SIZE_MAX : i;
    for (size_t i = 0; chosen && i < chosen_count; i++)
        slots[chosen[i]] = i;
}

static void fill_tables(attn_run *run) {
    const attn_request *r = &run->plan.request;
    run->places = (attn_place *)(run + 1);
    run->head_slots = (size_t *)(run->places + r->sequence_count + 1);
    run->query_slots = r->queries ? run->head_slots + r->layer->heads : NULL;
    fill_places(run);
    fill_slots(run->head_slots, r->layer->heads, r->heads, r->head_count);
    if (run->query_slots) fill_slots(run->query_slots, longest_queries(r), r->queries, r->query_count);
}

/* Columns are added to; sums are written once. */
static void clear_columns(attn_run *run) {
    if (!(run->plan.request.want & ATTN_WANT_STATISTICS)) return;
    size_t columns = run->plan.statistic_columns;
    memset(attn_run_floats(run, run->plan.at_mass), 0, columns * sizeof(uint64_t));
    memset(attn_run_floats(run, run->plan.at_seen), 0, columns * sizeof(uint32_t));
}

/* Memory for a run that does not have any yet; the struct at its beginning is all zero. */
static attn_run *take_memory(const attn_plan *plan) {
    bool overflow = false; /* the plan has looked */
    size_t before = attn_run_header_bytes(plan, &overflow), kept = before + plan->kept_floats * sizeof(float);
    attn_workspace workspace, scratch = {0};
    if (!attn_workspace_take(kept, &workspace)) return NULL;
    if (plan->bytes > kept && !attn_workspace_take(plan->bytes - kept, &scratch)) {
        attn_workspace_give(&workspace);
        return NULL;
    }
    attn_run *run = workspace.memory;
    memset(run, 0, sizeof *run);
    run->workspace = workspace;
    run->scratch = scratch;
    run->kept = (float *)((char *)run + before);
    run->passing = scratch.memory;
    return run;
}

attn_code attn_run_new(const attn_plan *plan, attn_run **out, attn_error *error) {
    attn_run *run = take_memory(plan);
    if (!run)
        return attn_error_set(error, ATTN_NO_MEMORY, "/inputs",
                              "the system has no %zu bytes for this request", plan->bytes);
    run->plan = *plan;
    fill_tables(run);
    clear_columns(run);
    run->projection_count = attn_plan_projections(plan, run, run->projections);
    attn_plan_output(plan, run, &run->output);
    *out = run;
    return ATTN_OK;
}

/* What came of a tile of one projection. */
static void end_projection(attn_run *run, size_t which, bool finite) {
    if (finite) return;
    if (which == ATTN_PROJECT_V) atomic_store_explicit(&run->values_not_finite, true, memory_order_relaxed);
    if (run->plan.request.want & ATTN_WANT_PROJECTIONS)
        atomic_store_explicit(&run->result_not_finite, true, memory_order_relaxed);
}

/* The projection that a tile of the first stage belongs to; *tile counts on from that projection's first. */
static size_t projection_of(const attn_run *run, size_t *tile) {
    size_t which = 0;
    for (size_t tiles; *tile >= (tiles = attn_linear_tiles(&run->projections[which])); which++)
        *tile -= tiles;
    return which;
}

static void projection_tile(void *context, size_t tile, size_t worker) {
    (void)worker;
    attn_run *run = context;
    size_t which = projection_of(run, &tile);
    end_projection(run, which, attn_linear_run(&run->projections[which], tile));
}

/* The same tile of several runs of one layer, all of which have few rows and the same projections. */
static void projection_tiles(void *const *runs, size_t count, size_t tile, size_t worker) {
    (void)worker;
    size_t which = projection_of(runs[0], &tile);
    const attn_linear *linears[ATTN_COMPANY] = {0};
    bool finite[ATTN_COMPANY];
    for (size_t i = 0; i < count; i++)
        linears[i] = &((attn_run *)runs[i])->projections[which];
    attn_linear_run_together(linears, count, tile, finite);
    for (size_t i = 0; i < count; i++)
        end_projection(runs[i], which, finite[i]);
}

static void attention_tile(void *context, size_t tile, size_t worker) {
    attn_run *run = context;
    if (attn_plan_is_online(&run->plan))
        attn_online_run(run, tile, worker);
    else
        attn_tile_run(run, tile, worker);
}

static void merge_tile(void *context, size_t tile, size_t worker) {
    attn_online_merge(context, tile, worker);
}

static void end_output(attn_run *run, bool finite) {
    if (!finite) atomic_store_explicit(&run->result_not_finite, true, memory_order_relaxed);
}

static void output_tile(void *context, size_t tile, size_t worker) {
    (void)worker;
    attn_run *run = context;
    end_output(run, attn_linear_run(&run->output, tile));
}

static void output_tiles(void *const *runs, size_t count, size_t tile, size_t worker) {
    (void)worker;
    const attn_linear *linears[ATTN_COMPANY] = {0};
    bool finite[ATTN_COMPANY];
    for (size_t i = 0; i < count; i++)
        linears[i] = &((attn_run *)runs[i])->output;
    attn_linear_run_together(linears, count, tile, finite);
    for (size_t i = 0; i < count; i++)
        end_output(runs[i], finite[i]);
}

static void job_done(void *context, bool cancelled) {
    attn_run *run = context;
    bool not_finite = atomic_load_explicit(&run->result_not_finite, memory_order_relaxed);
    run->done(run->done_context, run, cancelled ? ATTN_CANCELLED : not_finite ? ATTN_NOT_FINITE : ATTN_OK);
}

/* Runs of one layer share the tiles of projections with few rows: those have the same bits in any company. */
static void share_tiles(attn_run *run) {
    bool all_can = run->projection_count > 0;
    for (size_t i = 0; i < run->projection_count; i++)
        all_can = all_can && attn_linear_can_share(&run->projections[i]);
    if (all_can) run->job.sharing[0] = (attn_sharing){projection_tiles, run->plan.request.layer->wq};
    if (run->plan.output_tiles > 0 && attn_linear_can_share(&run->output))
        run->job.sharing[3] = (attn_sharing){output_tiles, run->plan.request.layer->wo};
}

void attn_run_submit(attn_run *run, attn_pool *pool, attn_run_done *done, void *context) {
    run->done = done;
    run->done_context = context;
    run->job.stages[0] = (attn_stage){projection_tile, run->plan.projection_tiles};
    run->job.stages[1] = (attn_stage){attention_tile, run->plan.attention_tiles};
    run->job.stages[2] = (attn_stage){merge_tile, run->plan.merge_tiles};
    run->job.stages[3] = (attn_stage){output_tile, run->plan.output_tiles};
    run->job.stage_count = 4;
    share_tiles(run);
    run->job.context = run;
    run->job.done = job_done;
    attn_pool_submit(pool, &run->job);
}

/* A thread that waits for a run. */
typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_over;
    attn_code code;
} waiter;

static void wake(void *context, attn_run *run, attn_code code) {
    (void)run;
    waiter *w = context;
    pthread_mutex_lock(&w->lock);
    w->code = code;
    w->is_over = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

attn_code attn_run_wait(attn_run *run, attn_pool *pool) {
    waiter w = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    attn_run_submit(run, pool, wake, &w);
    pthread_mutex_lock(&w.lock);
    while (!w.is_over)
        pthread_cond_wait(&w.ended, &w.lock);
    pthread_mutex_unlock(&w.lock);
    pthread_cond_destroy(&w.ended);
    pthread_mutex_destroy(&w.lock);
    return w.code;
}

void attn_run_cancel(attn_run *run) {
    attn_job_cancel(&run->job);
}

const attn_plan *attn_run_plan(const attn_run *run) {
    return &run->plan;
}

size_t attn_run_rows_without_keys(const attn_run *run) {
    return atomic_load_explicit(&run->rows_without_keys, memory_order_relaxed);
}

/* The projected matrix, or the request's own tensor where the layer has no projection. */
static attn_matrix projected(const attn_run *run, size_t which, const float *unprojected, size_t width) {
    if (run->projection_count == 0) return (attn_matrix){unprojected, width};
    return (attn_matrix){run->projections[which].y, run->projections[which].out};
}

attn_matrix attn_run_q(const attn_run *run) {
    return projected(run, ATTN_PROJECT_Q, run->plan.request.inputs, run->plan.request.d_model);
}

attn_matrix attn_run_k(const attn_run *run) {
    const attn_request *r = &run->plan.request;
    return projected(run, ATTN_PROJECT_K, r->context ? r->context : r->inputs, r->d_key);
}

attn_matrix attn_run_v(const attn_run *run) {
    const attn_request *r = &run->plan.request;
    return projected(run, ATTN_PROJECT_V,
                     r->values    ? r->values
                     : r->context ? r->context
                                  : r->inputs,
                     r->d_value);
}

/* heads × rows × dim of a matrix whose heads stand side by side. */
static attn_view heads_view(attn_matrix matrix, size_t first_row, size_t heads, size_t rows, size_t dim) {
    return (attn_view){.data = matrix.data + first_row * matrix.stride,
                       .rank = 3,
                       .shape = {heads, rows, dim},
                       .stride = {dim, matrix.stride, 1}};
}

/* heads' × queries' × width floats; without the first axis where heads are averaged. */
static attn_view map_view(const attn_run *run, const float *data, size_t rows, size_t width) {
    attn_view whole = {.data = data,
                       .rank = 3,
                       .shape = {run->plan.map_heads, rows, width},
                       .stride = {rows * width, width, 1}};
    attn_view mean = {.data = data, .rank = 2, .shape = {rows, width}, .stride = {width, 1}};
    return run->plan.request.average_heads ? mean : whole;
}

/* One number a row of the map. */
static attn_view rest_view(const attn_run *run, const float *data, size_t rows) {
    attn_view view = map_view(run, data, rows, 1);
    view.rank--; /* the axis of width 1 goes, and the one before it has stride 1 */
    return view;
}

const int32_t *attn_run_top_keys(const attn_run *run, size_t sequence) {
    return (const int32_t *)(const void *)attn_run_floats(run, run->plan.at_top_keys) +
           run->places[sequence].map;
}

attn_view attn_run_view(const attn_run *run, attn_result what, size_t sequence) {
    const attn_plan *plan = &run->plan;
    const attn_layer *layer = plan->request.layer;
    const attn_sequence *s = &plan->request.sequences[sequence];
    const attn_place *place = &run->places[sequence];
    size_t rows = attn_map_rows(plan, s), width = attn_map_width(plan, s);
    switch (what) {
    case ATTN_MAPS: return map_view(run, attn_run_floats(run, plan->at_maps) + place->map, rows, width);
    case ATTN_SCORES: return map_view(run, attn_run_floats(run, plan->at_scores) + place->map, rows, width);
    case ATTN_REST: return rest_view(run, attn_run_floats(run, plan->at_top_rest) + place->map_row, rows);
    case ATTN_Q:
        return heads_view(attn_run_q(run), place->query_row, layer->heads, s->queries, plan->head_dim);
    case ATTN_K: return heads_view(attn_run_k(run), place->key_row, layer->kv_heads, s->keys, plan->head_dim);
    case ATTN_V:
        return heads_view(attn_run_v(run), place->key_row, layer->kv_heads, s->keys, plan->value_dim);
    case ATTN_OUTPUTS: break;
    }
    return (attn_view){.data = attn_run_floats(run, plan->at_outputs) + place->query_row * plan->d_out,
                       .rank = 2,
                       .shape = {s->queries, plan->d_out},
                       .stride = {plan->d_out, 1}};
}

size_t attn_run_keep_tensors(attn_run *run) {
    size_t kept = run->plan.bytes - run->scratch.used;
    attn_workspace_give(&run->scratch);
    run->scratch = (attn_workspace){0};
    run->passing = NULL;
    return kept;
}

void attn_run_free(attn_run *run) {
    if (!run) return;
    attn_workspace_give(&run->scratch);
    attn_workspace_give(&run->workspace);
}
