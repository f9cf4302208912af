/* The pipeline without HTTP: answers, refusals in their order, budgets that balance, and cancelling. */
#include "server/picture/cells.h"
#include "server/pipeline.h"
#include "suites.h"
#include "tests/support/decoding.h"
#include "tests/support/service.h"
#include "tests/support/written.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 2 };

typedef struct fixture {
    srv_service service;
    srv_budget budget;
    pthread_mutex_t lock;
    pthread_cond_t came;
    size_t answers, stopped;
    size_t batch; /* of the last one */
    service_answer last;
} fixture;

static void set_up(fixture *f, size_t memory) {
    attn_error error = {0};
    *f = (fixture){.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    srv_budget_init(&f->budget, memory);
    f->service = (srv_service){.models = srv_models_new(), .budget = &f->budget};
    ck_assert_int_eq(srv_models_load(f->service.models, NULL, 0, &error), ATTN_OK);
    srv_models_publish(f->service.models);
    ck_assert_int_eq(attn_pool_new(WORKERS, &f->service.pool, &error), ATTN_OK);
}

static void tear_down(fixture *f) {
    attn_pool_free(f->service.pool);
    srv_models_free(f->service.models);
    free(f->last.body);
    ck_assert_uint_eq(srv_budget_taken(&f->budget), 0);
}

static void answered(void *context, srv_answer *answer) {
    fixture *f = context;
    pthread_mutex_lock(&f->lock);
    free(f->last.body);
    f->last = (service_answer){.problem = answer->problem};
    if (answer->stream) f->last.body = written_stream(answer->stream, &f->last.size);
    srv_stream_close(answer->stream);
    f->answers++;
    f->batch = answer->batch;
    f->stopped += answer->problem.id == SRV_DRAINING;
    pthread_cond_broadcast(&f->came);
    pthread_mutex_unlock(&f->lock);
}

static srv_job *start_with(fixture *f, const char *body, const char *query) {
    srv_problem problem = {0};
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &f->budget, 0);
    ck_assert_msg(feed_copy(decoder, body, strlen(body), &problem), "%s", problem.detail);
    const srv_request request = {
        .decoder = decoder, .gives = srv_codecs_attention.rows, .query = query, .query_size = strlen(query)};
    srv_job *job = srv_pipeline_start(&f->service, &request, answered, f);
    ck_assert_ptr_nonnull(job);
    return job;
}

static srv_job *start(fixture *f, const char *body) {
    return start_with(f, body, "");
}

static void wait_for(fixture *f, size_t answers) {
    pthread_mutex_lock(&f->lock);
    while (f->answers < answers)
        pthread_cond_wait(&f->came, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

static const srv_problem *ask_with(fixture *f, const char *body, const char *query) {
    size_t before = f->answers;
    start_with(f, body, query);
    wait_for(f, before + 1);
    return &f->last.problem;
}

static const srv_problem *ask(fixture *f, const char *body) {
    return ask_with(f, body, "");
}

START_TEST(a_request_is_answered_twice_alike) {
    static const char body[] = "{\"model\":\"tiny\",\"inputs\":[[1,0,0,0],[0,1,0,0]],\"causal\":true}";
    static const char start_of_answer[] = "{\"model\":\"tiny\",\"layer\":0,";
    fixture f;
    set_up(&f, 1 << 20);
    ck_assert_int_eq(ask(&f, body)->id, SRV_NO_PROBLEM);
    ck_assert_uint_gt(f.last.size, sizeof start_of_answer);
    ck_assert_mem_eq(f.last.body, start_of_answer, sizeof start_of_answer - 1);
    char *first = f.last.body;
    size_t size = f.last.size;
    f.last.body = NULL;
    ck_assert_int_eq(ask(&f, body)->id, SRV_NO_PROBLEM);
    ck_assert_uint_eq(f.last.size, size);
    ck_assert_mem_eq(f.last.body, first, size);
    free(first);
    tear_down(&f);
}
END_TEST

START_TEST(refusals_say_where) {
    fixture f;
    set_up(&f, 1 << 20);
    ck_assert_int_eq(ask(&f, "{\"inputs\":")->id, SRV_BAD_JSON);
    ck_assert_int_eq(ask(&f, "")->id, SRV_BAD_JSON);
    ck_assert_int_eq(ask(&f, "{\"model\":\"other\",\"inputs\":[[1]]}")->id, SRV_MODEL_NOT_FOUND);
    ck_assert_str_eq(f.last.problem.where, "/model");
    ck_assert_ptr_nonnull(strstr(f.last.problem.detail, "'tiny', 'demo', 'plain'"));
    ck_assert_int_eq(ask(&f, "{\"layer\":1,\"inputs\":[[1]]}")->id, SRV_LAYER_NOT_FOUND);
    ck_assert_str_eq(f.last.problem.where, "/layer");
    ck_assert_int_eq(ask(&f, "{\"layer\":\"nope\",\"inputs\":[[1]]}")->id, SRV_LAYER_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(f.last.problem.detail, "'layers.0'"));
    ck_assert_int_eq(ask(&f, "{\"inputs\":[[1,0,0]]}")->id, SRV_SHAPE_MISMATCH);
    ck_assert_int_eq(ask(&f, "{\"model\":\"demo\",\"layer\":\"layers.1\",\"inputs\":[[1]]}")->id,
                     SRV_SHAPE_MISMATCH);
    ck_assert_ptr_nonnull(strstr(f.last.problem.detail, "layer 1"));
    tear_down(&f);
}
END_TEST

static bool answer_holds(const fixture *f, const char *text) {
    return memmem(f->last.body, f->last.size, text, strlen(text)) != NULL;
}

/* A plan does no work and needs no memory for it; the same request without one is refused. */
START_TEST(plans_tell_what_a_request_would_take) {
    fixture f;
    set_up(&f, 1 << 20);
    ck_assert_int_eq(ask_with(&f, "{\"inputs\":[[1,0,0,0]]}", "plan=true")->id, SRV_NO_PROBLEM);
    ck_assert(answer_holds(&f, "\"verdict\":\"fits\",\"limit\":1048576"));
    ck_assert(!answer_holds(&f, "outputs"));
    ck_assert_int_eq(ask_with(&f, "{\"inputs\":[[1,0,0,0]],\"plan\":true}", "top_k=1000000")->id,
                     SRV_NO_PROBLEM);
    ck_assert(answer_holds(&f, "\"verdict\":\"too_large\",\"limit\":1048576"));
    ck_assert_int_eq(ask_with(&f, "{\"inputs\":[[1,0,0,0]]}", "top_k=1000000")->id,
                     SRV_NEEDS_TOO_MUCH_MEMORY);
    ck_assert_int_eq(ask_with(&f, "{\"inputs\":[[1,0,0]]}", "plan=true")->id, SRV_SHAPE_MISMATCH);
    tear_down(&f);
}
END_TEST

START_TEST(refusals_name_parameters) {
    static const char body[] = "{\"inputs\":[[1,0,0,0]]}";
    fixture f;
    set_up(&f, 1 << 20);
    ck_assert_int_eq(ask_with(&f, body, "model=other&bogus=1")->id, SRV_MODEL_NOT_FOUND);
    ck_assert_int_eq(f.last.problem.where_kind, SRV_WHERE_PARAMETER);
    ck_assert_str_eq(f.last.problem.where, "model");
    ck_assert_int_eq(ask_with(&f, body, "layer=7")->id, SRV_LAYER_NOT_FOUND);
    ck_assert_str_eq(f.last.problem.where, "layer");
    ck_assert_int_eq(ask_with(&f, body, "queries=1")->id, SRV_OUT_OF_RANGE);
    ck_assert_int_eq(f.last.problem.where_kind, SRV_WHERE_PARAMETER);
    ck_assert_str_eq(f.last.problem.where, "queries");
    tear_down(&f);
}
END_TEST

START_TEST(what_never_fits_is_told_from_what_does_not_fit_now) {
    static const char body[] = "{\"inputs\":[[1,0,0,0],[0,1,0,0]]}";
    fixture f;
    set_up(&f, 2000);
    ck_assert_int_eq(ask(&f, body)->id, SRV_NEEDS_TOO_MUCH_MEMORY);
    ck_assert_ptr_nonnull(strstr(f.last.problem.detail, "2000"));
    ck_assert_ptr_nonnull(strstr(f.last.problem.detail, "limits.memory"));
    tear_down(&f);

    set_up(&f, 100000);
    ck_assert(srv_budget_take(&f.budget, 99000));
    ck_assert_int_eq(ask(&f, body)->id, SRV_MEMORY_TAKEN);
    ck_assert_uint_gt(f.last.problem.retry_after, 0);
    srv_budget_give(&f.budget, 99000);
    ck_assert_int_eq(ask(&f, body)->id, SRV_NO_PROBLEM);
    tear_down(&f);
}
END_TEST

/* Also where the ask is gone with the answer's last block, as it is where projections are its own tensors. */
START_TEST(answers_tell_how_many_sequences_there_were) {
    static const char inputs[] = "[[[1,0,0,0]],[[0,1,0,0]],[[0,0,1,0]]]";
    char body[256];
    fixture f;
    set_up(&f, 1 << 20);
    for (int i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "{\"model\":\"%s\",\"inputs\":%s,\"return\":{\"projections\":true}}",
                 i == 0 ? "tiny" : "plain", inputs);
        ck_assert_int_eq(ask(&f, body)->id, SRV_NO_PROBLEM);
        ck_assert_uint_eq(f.batch, 3);
    }
    ck_assert_int_eq(ask(&f, "{")->id, SRV_BAD_JSON);
    ck_assert_uint_eq(f.batch, 0);
    tear_down(&f);
}
END_TEST

/* Holds the lock, and with it every worker that ends a request, while all are cancelled: no more than one for each
 * worker can have passed by then. */
START_TEST(cancelled_requests_end_all_the_same) {
    enum { JOBS = 20 };
    fixture f;
    srv_job *jobs[JOBS];
    set_up(&f, 1 << 20);
    pthread_mutex_lock(&f.lock);
    for (int i = 0; i < JOBS; i++)
        jobs[i] = start(&f, "{\"inputs\":[[1,0,0,0]]}");
    for (int i = 0; i < JOBS; i++)
        srv_pipeline_cancel(jobs[i], SRV_DRAINING);
    pthread_mutex_unlock(&f.lock);
    wait_for(&f, JOBS);
    ck_assert_uint_eq(f.answers, JOBS);
    ck_assert_uint_ge(f.stopped, JOBS - WORKERS);
    tear_down(&f);
}
END_TEST

/* A format that is cancelled, or not, just before its encoder begins. */
static struct {
    fixture *f;
    srv_job *job;
    const srv_codec *format;
    bool cancels, is_made, goes_on;
} late;

static bool encode_late(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    pthread_mutex_lock(&late.f->lock);
    if (late.cancels) srv_pipeline_cancel(late.job, SRV_DRAINING);
    pthread_mutex_unlock(&late.f->lock);
    late.is_made = late.format->encode(outcome, parts, problem);
    return late.is_made;
}

/* A picture's encoder that is cancelled between two of its rows. */
static bool draw_one_row(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    srv_maps maps;
    srv_cells cells;
    (void)parts, (void)problem;
    bool is_made = srv_maps_make(outcome, 0, &maps) && srv_cells_make(&maps, 1, 1, &cells);
    late.is_made = is_made && srv_cells_take(&cells, 0, 0);
    pthread_mutex_lock(&late.f->lock);
    srv_pipeline_cancel(late.job, SRV_CLIENT_GONE);
    pthread_mutex_unlock(&late.f->lock);
    late.goes_on = is_made && srv_cells_take(&cells, 0, 0);
    if (is_made) srv_cells_done(&cells);
    srv_maps_done(&maps);
    return late.goes_on;
}

/* Those whose encoders do more than to list tensors. */
static const struct {
    const srv_codecs *codecs;
    const char *type, *body;
} laborious[] = {
    {&srv_codecs_attention, "image/png", "{\"inputs\":[[1,0,0,0]]}"},
    {&srv_codecs_attention, "image/svg+xml", "{\"inputs\":[[1,0,0,0]]}"},
    {&srv_codecs_attention, "text/plain", "{\"inputs\":[[1,0,0,0]]}"},
    {&srv_codecs_attention, "text/csv", "{\"inputs\":[[1,0,0,0]]}"},
    {&srv_codecs_inference, "application/json",
     "{\"inputs\":[{\"name\":\"inputs\",\"shape\":[1,1,4],\"datatype\":\"FP32\",\"data\":[1,0,0,0]}],"
     "\"outputs\":["
     "{\"name\":\"attention\"},{\"name\":\"outputs\",\"parameters\":{\"binary_data\":true}}]}"},
};

static const srv_codec *format_of(const srv_codecs *codecs, const char *type) {
    for (size_t i = 0; i < codecs->count; i++)
        if (strcmp(codecs->rows[i].type, type) == 0 && codecs->rows[i].encode) return codecs->rows + i;
    return NULL;
}

/* Asks the format of a row by way of another encoder. */
static void ask_late(fixture *f, size_t row,
                     bool (*encode)(const srv_outcome *, srv_parts *, srv_problem *)) {
    srv_problem problem = {0};
    const srv_codecs *codecs = laborious[row].codecs;
    srv_codec gives = *format_of(codecs, laborious[row].type);
    srv_decoder *decoder = srv_decoder_new(codecs->rows, &f->budget, 0);
    ck_assert(feed_copy(decoder, laborious[row].body, strlen(laborious[row].body), &problem));
    const srv_request request = {
        .decoder = decoder, .gives = &gives, .addressed = {.model = "tiny", .has_maps = true, .width = 4}};
    size_t before = f->answers;
    gives.encode = encode;
    late.f = f;
    late.format = format_of(codecs, laborious[row].type);
    pthread_mutex_lock(&f->lock);
    late.job = srv_pipeline_start(&f->service, &request, answered, f);
    pthread_mutex_unlock(&f->lock);
    ck_assert_ptr_nonnull(late.job);
    wait_for(f, before + 1);
}

START_TEST(a_picture_ends_between_its_rows) {
    fixture f;
    set_up(&f, 64 << 20);
    ask_late(&f, 0, draw_one_row);
    ck_assert(late.is_made);
    ck_assert(!late.goes_on);
    ck_assert_int_eq(f.last.problem.id, SRV_CLIENT_GONE);
    tear_down(&f);
}
END_TEST

START_TEST(encoders_give_up_where_they_are_cancelled) {
    fixture f;
    set_up(&f, 64 << 20);
    for (int cancels = 0; cancels < 2; cancels++) {
        late.cancels = cancels;
        ask_late(&f, (size_t)_i, encode_late);
        ck_assert_int_eq(late.is_made, !cancels);
        ck_assert_int_eq(f.last.problem.id, cancels ? SRV_DRAINING : SRV_NO_PROBLEM);
    }
    tear_down(&f);
}
END_TEST

ATTND_SUITE(pipeline) {
    Suite *suite = suite_create("pipeline");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, a_request_is_answered_twice_alike);
    tcase_add_test(cases, refusals_say_where);
    tcase_add_test(cases, plans_tell_what_a_request_would_take);
    tcase_add_test(cases, refusals_name_parameters);
    tcase_add_test(cases, what_never_fits_is_told_from_what_does_not_fit_now);
    tcase_add_test(cases, answers_tell_how_many_sequences_there_were);
    tcase_add_test(cases, cancelled_requests_end_all_the_same);
    tcase_add_test(cases, a_picture_ends_between_its_rows);
    tcase_add_loop_test(cases, encoders_give_up_where_they_are_cancelled, 0,
                        sizeof laborious / sizeof *laborious);
    suite_add_tcase(suite, cases);
    return suite;
}
