/* The pool: order of stages, every tile once, one tile at a time under one worker number, cancellation,
 * turns. */
#include "blocker.h"
#include "engine/engine.h"
#include "suites.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 64, MAX_WORKERS = 16 };

/* What a job saw; tiles count themselves. */
typedef struct witness {
    attn_job job;
    atomic_uint ran[3][TILES];
    atomic_uint finished[3];
    atomic_uint out_of_order;
    atomic_uint busy[MAX_WORKERS], shared_worker;
    atomic_bool cancel_at_first;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned done_calls;
    bool cancelled;
} witness;

static void run_tile(witness *w, size_t stage, size_t tile, size_t worker) {
    if (atomic_fetch_add(&w->busy[worker], 1) != 0) atomic_fetch_add(&w->shared_worker, 1);
    if (stage > 0 && atomic_load(&w->finished[stage - 1]) != TILES) atomic_fetch_add(&w->out_of_order, 1);
    atomic_fetch_add(&w->ran[stage][tile], 1);
    if (atomic_load(&w->cancel_at_first)) attn_job_cancel(&w->job);
    atomic_fetch_add(&w->finished[stage], 1);
    atomic_fetch_sub(&w->busy[worker], 1);
}

static void stage0(void *context, size_t tile, size_t worker) {
    run_tile(context, 0, tile, worker);
}
static void stage1(void *context, size_t tile, size_t worker) {
    run_tile(context, 1, tile, worker);
}
static void stage2(void *context, size_t tile, size_t worker) {
    run_tile(context, 2, tile, worker);
}

static void note_done(void *context, bool cancelled) {
    witness *w = context;
    pthread_mutex_lock(&w->lock);
    w->done_calls++;
    w->cancelled = cancelled;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

static witness *witness_new(void) {
    witness *w = calloc(1, sizeof *w);
    ck_assert_ptr_nonnull(w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    w->job.stages[0] = (attn_stage){stage0, TILES};
    w->job.stages[1] = (attn_stage){stage1, TILES};
    w->job.stages[2] = (attn_stage){stage2, TILES};
    w->job.stage_count = 3;
    w->job.context = w;
    w->job.done = note_done;
    return w;
}

static void wait_for(witness *w) {
    pthread_mutex_lock(&w->lock);
    while (w->done_calls == 0)
        pthread_cond_wait(&w->ended, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void witness_free(witness *w) {
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static attn_pool *pool_of(size_t workers) {
    attn_pool *pool = NULL;
    attn_error error = {0};
    ck_assert_msg(attn_pool_new(workers, &pool, &error) == ATTN_OK, "%s", error.text);
    ck_assert_uint_eq(attn_pool_workers(pool), workers);
    return pool;
}

START_TEST(every_tile_runs_once_in_stage_order) {
    for (size_t workers = 1; workers <= MAX_WORKERS; workers *= 4) {
        attn_pool *pool = pool_of(workers);
        witness *all[20];
        for (size_t i = 0; i < 20; i++)
            attn_pool_submit(pool, &(all[i] = witness_new())->job);
        attn_pool_free(pool); /* waits for all of them */
        for (size_t i = 0; i < 20; i++) {
            witness *w = all[i];
            for (size_t stage = 0; stage < 3; stage++)
                for (size_t tile = 0; tile < TILES; tile++)
                    ck_assert_uint_eq(atomic_load(&w->ran[stage][tile]), 1);
            ck_assert_uint_eq(atomic_load(&w->out_of_order), 0);
            ck_assert_uint_eq(atomic_load(&w->shared_worker), 0);
            ck_assert_uint_eq(w->done_calls, 1);
            ck_assert(!w->cancelled);
            witness_free(w);
        }
    }
}
END_TEST

START_TEST(empty_stages_are_passed_over) {
    attn_pool *pool = pool_of(2);
    witness *w = witness_new();
    w->job.stages[0].tiles = 0;
    w->job.stages[2].tiles = 0;
    atomic_store(&w->finished[0], TILES);
    attn_pool_submit(pool, &w->job);
    wait_for(w);
    ck_assert_uint_eq(atomic_load(&w->finished[1]), TILES);
    ck_assert_uint_eq(atomic_load(&w->finished[2]), 0);
    ck_assert(!w->cancelled);
    attn_pool_free(pool);
    witness_free(w);
}
END_TEST

START_TEST(a_job_without_tiles_still_ends) {
    attn_pool *pool = pool_of(1);
    witness *w = witness_new();
    for (size_t stage = 0; stage < 3; stage++)
        w->job.stages[stage].tiles = 0;
    attn_pool_submit(pool, &w->job);
    wait_for(w);
    ck_assert_uint_eq(w->done_calls, 1);
    ck_assert(!w->cancelled);
    attn_pool_free(pool);
    witness_free(w);
}
END_TEST

START_TEST(cancelling_stops_between_tiles) {
    attn_pool *pool = pool_of(1);
    witness *w = witness_new();
    atomic_store(&w->cancel_at_first, true); /* the first tile cancels its own job */
    attn_pool_submit(pool, &w->job);
    wait_for(w);
    attn_pool_free(pool);
    ck_assert_uint_eq(atomic_load(&w->finished[0]), 1);
    ck_assert_uint_eq(atomic_load(&w->finished[1]), 0);
    ck_assert_uint_eq(w->done_calls, 1);
    ck_assert(w->cancelled);
    witness_free(w);
}
END_TEST

START_TEST(a_job_cancelled_before_it_starts_runs_nothing) {
    attn_pool *pool = pool_of(2);
    witness *w = witness_new();
    attn_job_cancel(&w->job);
    attn_pool_submit(pool, &w->job);
    wait_for(w);
    attn_pool_free(pool);
    ck_assert_uint_eq(atomic_load(&w->finished[0]), 0);
    ck_assert(w->cancelled);
    witness_free(w);
}
END_TEST

/* A log of which job's tile ran, in order, on one worker. */
typedef struct turns {
    attn_job large, small;
    attn_pool *pool;
    char order[64];
    atomic_size_t length;
    bool small_submitted;
} turns;

static void small_tile(void *context, size_t tile, size_t worker) {
    (void)tile, (void)worker;
    turns *t = context;
    t->order[atomic_fetch_add(&t->length, 1)] = 's';
}

static void large_tile(void *context, size_t tile, size_t worker) {
    (void)worker;
    turns *t = context;
    t->order[atomic_fetch_add(&t->length, 1)] = 'L';
    if (tile == 2) attn_pool_submit(t->pool, &t->small); /* arrives while the large one is under way */
}

static void nothing(void *context, bool cancelled) {
    (void)context, (void)cancelled;
}

START_TEST(a_small_job_waits_for_one_tile_of_a_large_one) {
    turns t = {.pool = pool_of(1)};
    t.large = (attn_job){.stages = {{large_tile, 10}}, .stage_count = 1, .context = &t, .done = nothing};
    t.small = (attn_job){.stages = {{small_tile, 1}}, .stage_count = 1, .context = &t, .done = nothing};
    attn_pool_submit(t.pool, &t.large);
    attn_pool_free(t.pool);
    ck_assert_str_eq(t.order, "LLLLsLLLLLL");
}
END_TEST

/* Jobs that wait behind a gate, and the companies in which their tiles ran. */
enum { GUESTS = 20, GUEST_TILES = 3 };
typedef struct party {
    pthread_mutex_t gate;
    attn_job blocker;
    struct guest {
        attn_job job;
        size_t ran[GUEST_TILES], company[GUEST_TILES];
        bool cancelled;
        atomic_bool ended;
    } guests[GUESTS];
} party;

static void run_company(void *const *contexts, size_t count, size_t tile, size_t worker) {
    (void)worker;
    for (size_t i = 0; i < count; i++) {
        struct guest *guest = contexts[i];
        guest->ran[tile]++;
        guest->company[tile] = count;
    }
}

static void guest_leaves(void *context, bool cancelled) {
    struct guest *guest = context;
    guest->cancelled = cancelled;
    atomic_store(&guest->ended, true);
}

/* All guests have the same key but for the `others` last ones, who have another. The last `cancelled` are told to
 * stop before the gate opens. Returns how many tiles the pool counts as shared. */
static size_t hold_party(party *p, size_t guests, size_t others, size_t cancelled) {
    static const char keys[2];
    pthread_mutex_init(&p->gate, NULL);
    attn_pool *pool = pool_of(1);
    pthread_mutex_lock(&p->gate);
    p->blocker = blocker_of(&p->gate);
    attn_pool_submit(pool, &p->blocker);
    for (size_t i = 0; i < guests; i++) {
        struct guest *guest = &p->guests[i];
        guest->job = (attn_job){.stages = {{NULL, GUEST_TILES}},
                                .sharing = {{run_company, &keys[i + others < guests ? 0 : 1]}},
                                .stage_count = 1,
                                .context = guest,
                                .done = guest_leaves};
        attn_pool_submit(pool, &guest->job);
        if (i + cancelled >= guests) attn_job_cancel(&guest->job);
    }
    pthread_mutex_unlock(&p->gate);
    for (size_t i = 0; i < guests; i++)
        while (!atomic_load(&p->guests[i].ended))
            sched_yield();
    size_t shared = attn_pool_shared_tiles(pool);
    attn_pool_free(pool);
    pthread_mutex_destroy(&p->gate);
    return shared;
}

static void check_guest(const struct guest *guest, size_t company) {
    for (size_t tile = 0; tile < GUEST_TILES; tile++) {
        ck_assert_uint_eq(guest->ran[tile], 1);
        ck_assert_uint_eq(guest->company[tile], company);
    }
    ck_assert(!guest->cancelled);
}

START_TEST(who_waits_for_the_same_tile_is_run_with_it) {
    static party p;
    ck_assert_uint_eq(hold_party(&p, 7, 2, 0), 7 * GUEST_TILES);
    for (size_t i = 0; i < 7; i++)
        check_guest(&p.guests[i], i < 5 ? 5 : 2);
}
END_TEST

START_TEST(company_has_a_limit) {
    static party p;
    ck_assert_uint_eq(hold_party(&p, ATTN_COMPANY + 1, 0, 0), ATTN_COMPANY * GUEST_TILES);
    for (size_t i = 0; i < ATTN_COMPANY + 1; i++)
        check_guest(&p.guests[i], i < ATTN_COMPANY ? ATTN_COMPANY : 1);
}
END_TEST

START_TEST(cancelled_jobs_keep_no_company) {
    static party p;
    ck_assert_uint_eq(hold_party(&p, 4, 0, 2), 2 * GUEST_TILES);
    for (size_t i = 0; i < 4; i++)
        if (i < 2)
            check_guest(&p.guests[i], 2);
        else
            ck_assert(p.guests[i].cancelled && p.guests[i].ran[0] == 0);
}
END_TEST

START_TEST(worker_counts_out_of_range_are_refused) {
    attn_pool *pool = NULL;
    attn_error error = {0};
    ck_assert_int_eq(attn_pool_new(0, &pool, &error), ATTN_RANGE);
    ck_assert_str_eq(error.text, "0 workers; a pool takes 1 to 1024");
    ck_assert_ptr_null(pool);
    ck_assert_int_eq(attn_pool_new(1025, &pool, NULL), ATTN_RANGE);
    attn_pool_free(NULL);
}
END_TEST

START_TEST(default_workers_follow_affinity) {
    cpu_set_t before, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    ck_assert_uint_le(attn_pool_default_workers(), (size_t)CPU_COUNT(&before));
    size_t first = 0;
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_uint_eq(attn_pool_default_workers(), 1);
    ck_assert_int_eq(sched_setaffinity(0, sizeof before, &before), 0);
}
END_TEST

ATTND_SUITE(pool) {
    Suite *suite = suite_create("pool");
    TCase *tcase = tcase_create("pool");
    tcase_add_test(tcase, every_tile_runs_once_in_stage_order);
    tcase_add_test(tcase, empty_stages_are_passed_over);
    tcase_add_test(tcase, a_job_without_tiles_still_ends);
    tcase_add_test(tcase, cancelling_stops_between_tiles);
    tcase_add_test(tcase, a_job_cancelled_before_it_starts_runs_nothing);
    tcase_add_test(tcase, a_small_job_waits_for_one_tile_of_a_large_one);
    tcase_add_test(tcase, who_waits_for_the_same_tile_is_run_with_it);
    tcase_add_test(tcase, company_has_a_limit);
    tcase_add_test(tcase, cancelled_jobs_keep_no_company);
    tcase_add_test(tcase, worker_counts_out_of_range_are_refused);
    tcase_add_test(tcase, default_workers_follow_affinity);
    suite_add_tcase(suite, tcase);
    return suite;
}
