/* One request's story (pipeline.h). The functions stand in the order in which they happen.
 *
 * A job belongs to one worker at a time; only cancelling comes from elsewhere, and `lock` stands between the
 * two: it guards `phase`, `reason` and `deadline`, and is never held while the engine works or `done` is called. */
#include "pipeline.h"

#include "server/codec/json.h"
#include "server/jobs/cost.h"
#include "server/obs/clock.h"

#include <pthread.h>
#include <stdlib.h>

/* Once over, stopping a job means nothing any more. */
typedef enum job_phase { JOB_DECODING, JOB_RUNNING, JOB_ENDING, JOB_OVER } job_phase;

struct srv_job {
    srv_service *service;
    srv_done *done;
    void *context;
    srv_request request;
    size_t held; /* bytes of the service's budget, once the decoder is gone */
    bool waits;  /* counted in the service's `waiting` */

    attn_job own;   /* one tile: decoding. That it is cancelled counts for encoding as well */
    size_t decoded; /* bytes that the ask takes */
    srv_ask *ask;
    const attn_model *model;
    size_t layer_index;
    attn_plan plan;
    srv_plan_figures figures;
    attn_run *run;
    bool ask_is_sent; /* the stream has it: tensors of the answer lie in it */

    pthread_mutex_t lock;
    job_phase phase;
    srv_problem_id reason; /* why it has been cancelled; SRV_NO_PROBLEM: it has not */
    double deadline;       /* milliseconds; 0: none */
    size_t allowed_ms;     /* what set it; 0: nothing */

    srv_answer answer;
    double began; /* milliseconds, as `since` */
    double since; /* when the present stage began, in milliseconds */
};

/* The time since the last lap, which ends a stage and begins the next. */
static double lap(srv_job *job) {
    double now = srv_clock_ms(), passed = now - job->since;
    job->since = now;
    return passed;
}

static bool is_late(const srv_job *job) {
    return job->deadline > 0 && srv_clock_ms() > job->deadline;
}

/* Under the lock: the first reason counts, and none once the job is over. False where there is nothing to stop. */
static bool stop(srv_job *job, srv_problem_id reason) {
    if (job->reason != SRV_NO_PROBLEM || job->phase == JOB_OVER) return false;
    job->reason = reason;
    atomic_fetch_add(&job->service->stopped, 1);
    return true;
}

/* Moves to the next phase; false, with a problem, where the job has been cancelled. */
static bool enter(srv_job *job, job_phase phase) {
    pthread_mutex_lock(&job->lock);
    job->phase = phase;
    if (is_late(job)) stop(job, SRV_DEADLINE);
    srv_problem_id reason = job->reason;
    pthread_mutex_unlock(&job->lock);
    if (reason == SRV_NO_PROBLEM) return true;
    if (reason == SRV_DEADLINE)
        return srv_problem_set(&job->answer.problem, reason, SRV_WHERE_NONE, NULL,
                               "the %zu ms of %s are over; the work was stopped", job->allowed_ms,
                               job->ask && job->allowed_ms == job->ask->timeout_ms
                                   ? "timeout_ms"
                                   : "the setting timeouts.compute_ms");
    return srv_problem_set(&job->answer.problem, reason, SRV_WHERE_NONE, NULL,
                           "the request was stopped before its end");
}

/* Holds `need` bytes of the budget from now on, or says why not. `what` needs them. */
static bool reserve(srv_job *job, size_t need, const char *what, const char *advice) {
    srv_budget *budget = job->service->budget;
    srv_problem *problem = &job->answer.problem;
    if (need > budget->limit) {
        return srv_problem_set(problem, SRV_NEEDS_TOO_MUCH_MEMORY, SRV_WHERE_NONE, NULL,
                               "%s needs up to %zu bytes; the limit is %zu (setting limits.memory)%s", what,
                               need, budget->limit, advice);
    }
    if (srv_budget_change(budget, &job->held, need)) return true;
    srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                    "%s needs up to %zu bytes; other requests hold %zu of %zu at this moment", what, need,
                    srv_budget_taken(budget) - job->held, budget->limit);
    problem->retry_after = 1;
    return false;
}

/* What the decoder holds is the job's from then on. */
static bool decode(srv_job *job) {
    srv_decoder *decoder = job->request.decoder;
    const srv_source source = {.query = job->request.query,
                               .query_size = job->request.query_size,
                               .gives = job->request.gives,
                               .addressed = &job->request.addressed,
                               .job = &job->own};
    bool decoded = srv_decoder_end(decoder, &source, &job->ask, &job->answer.problem);
    job->request.decoder = NULL;
    job->held = job->decoded = srv_decoder_close(decoder);
    return decoded;
}

static bool find_model(srv_job *job) {
    const srv_models *models = job->service->models;
    job->model = srv_models_find(models, job->ask->model);
    if (job->model) return true;
    char names[256];
    srv_models_names(models, names, sizeof names);
    srv_problem_set(&job->answer.problem, SRV_MODEL_NOT_FOUND, SRV_WHERE_POINTER, "/model",
                    "no model '%.64s'; there are %s", job->ask->model, names);
    srv_ask_point(job->ask, &job->answer.problem);
    return false;
}

/* The layer by name or index; its place goes to layer_index. */
static const attn_layer *find_layer(srv_job *job) {
    const attn_model *model = job->model;
    const char *name = job->ask->layer_name;
    const attn_layer *layer =
        name ? attn_model_layer_named(model, name) : attn_model_layer(model, job->ask->layer_index);
    if (layer) {
        job->layer_index = (size_t)(layer - model->layers);
        return layer;
    }
    srv_problem *problem = &job->answer.problem;
    char layers[SRV_LAYERS_SIZE];
    srv_models_layers(model, layers, sizeof layers);
    if (name)
        srv_problem_set(problem, SRV_LAYER_NOT_FOUND, SRV_WHERE_POINTER, "/layer",
                        "no layer '%.64s' in model '%s'; %s", name, model->name, layers);
    else
        srv_problem_set(problem, SRV_LAYER_NOT_FOUND, SRV_WHERE_POINTER, "/layer",
                        "no layer %zu in model '%s'; %s", job->ask->layer_index, model->name, layers);
    srv_ask_point(job->ask, problem);
    return NULL;
}

/* Exact bytes before any work, and room for them. */
static bool plan(srv_job *job) {
    attn_error error = {0};
    srv_ask *ask = job->ask;
    if (attn_plan_make(&ask->request, attn_pool_workers(job->service->pool), &job->plan, &error) != ATTN_OK) {
        srv_problem_from_engine(&job->answer.problem, &error);
        srv_ask_point(ask, &job->answer.problem);
        return false;
    }
    /* What the decoder keeps lies within what was held for decoding. */
    size_t need, sending = job->request.gives->cost(ask, &job->plan);
    /* As much again of what is written ahead, compressed. */
    if (job->request.packs != SRV_CODING_IDENTITY &&
        (!attn_size_mul(sending, 2, &sending) || !attn_size_add(sending, SRV_SQUEEZE_BYTES, &sending)))
        sending = SIZE_MAX;
    if (!attn_size_add(job->held, job->plan.bytes, &need) || !attn_size_add(need, sending, &need))
        need = SIZE_MAX;
    job->figures = (srv_plan_figures){
        .bytes = need, .answer = srv_cost_of_answer(ask, &job->plan), .limit = job->service->budget->limit};
    if (ask->plan_only) return true;
    const char *advice =
        job->plan.map_floats > 0
            ? "; fewer return.heads, fewer return.queries or return.attention false need less"
            : "; fewer positions need less";
    return reserve(job, need, "this request", advice);
}

/* The limit of time, the client's own or the daemon's; the first is known once the body has been read. */
static void set_deadline(srv_job *job) {
    if (!job->ask) return;
    size_t own = job->ask->timeout_ms, most = job->service->compute_ms;
    job->allowed_ms = most > 0 && (own == 0 || most < own) ? most : own;
    if (job->allowed_ms == 0) return;
    pthread_mutex_lock(&job->lock);
    job->deadline = job->began + (double)job->allowed_ms;
    pthread_mutex_unlock(&job->lock);
}

/* Once a job: a worker begins with it, or it ends without. */
static void stop_waiting(srv_job *job) {
    if (job->waits) atomic_fetch_sub(&job->service->waiting, 1);
    job->waits = false;
}

/* Brings ask and layer together, and both with the answer's format. */
static bool bind(srv_job *job) {
    const attn_layer *layer = find_layer(job);
    srv_problem *problem = &job->answer.problem;
    const srv_codec *gives = job->request.gives;
    if (!layer || !srv_ask_bind(job->ask, layer, job->model->name, job->layer_index, problem)) return false;
    if (gives->settle == NULL || gives->settle(job->ask, problem)) return true;
    srv_ask_point(job->ask, problem);
    return false;
}

/* On a worker: everything before the engine's work. */
static void prepare(void *context, size_t tile, size_t worker) {
    (void)tile, (void)worker;
    srv_job *job = context;
    job->answer.timing.queue = lap(job);
    stop_waiting(job);
    if (decode(job) && find_model(job) && bind(job)) plan(job);
    job->answer.batch = job->ask ? job->ask->request.sequence_count : 0; /* later the ask may be gone */
    set_deadline(job);
    job->answer.timing.parse = lap(job);
}

/* Tells the caller. All but the answer goes back before, so that whoever is told finds it free; the job
 * itself stays in place until `done` returns, for those who cancel. */
static void finish(srv_job *job) {
    attn_run_free(job->run);
    if (!job->ask_is_sent) srv_ask_free(job->ask);
    srv_decoder_free(job->request.decoder);
    srv_budget_change(job->service->budget, &job->held, 0);
    pthread_mutex_lock(&job->lock);
    job->phase = JOB_OVER;
    if (job->reason != SRV_NO_PROBLEM) atomic_fetch_sub(&job->service->stopped, 1);
    pthread_mutex_unlock(&job->lock);
    job->done(job->context, &job->answer);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

/* On a worker: the answer can be read, or holds what its type cannot. */
static void encoded(void *context, bool is_sound) {
    srv_job *job = context;
    if (!is_sound) {
        if (enter(job, JOB_ENDING)) {
            srv_parts_refuse(srv_stream_parts(job->answer.stream), &job->answer.problem);
            srv_ask_point(job->ask, &job->answer.problem);
        }
        srv_stream_close(job->answer.stream);
        job->answer.stream = NULL;
    }
    if (is_sound) job->answer.coding = srv_stream_coding(job->answer.stream);
    job->answer.timing.encode = lap(job);
    finish(job);
}

/* What the answer's tensors lie in. */
typedef struct result {
    attn_run *run;
    srv_ask *ask; /* NULL: nothing lies there */
} result;

static void free_result(void *payload) {
    result *lent = payload;
    attn_run_free(lent->run);
    srv_ask_free(lent->ask);
    free(lent);
}

/* Takes the result out of the job; the ask too where projections are its own tensors. NULL without memory. */
static result *lend(srv_job *job, size_t *bytes) {
    result *lent = calloc(1, sizeof *lent);
    if (!lent) return NULL;
    lent->run = job->run;
    job->run = NULL;
    *bytes = attn_run_keep_tensors(lent->run);
    const attn_request *request = &job->plan.request;
    job->ask_is_sent =
        attn_layer_is_parameter_free(request->layer) && (request->want & ATTN_WANT_PROJECTIONS);
    if (!job->ask_is_sent) return lent;
    lent->ask = job->ask;
    *bytes += job->decoded;
    return lent;
}

/* Hands what has been listed to the workers; `encoded` follows. The job can be gone when this returns. Lends the result
 * with it, if there is one. False without memory. */
static bool send(srv_job *job, srv_parts *parts) {
    size_t bytes = 0;
    result *lent = NULL;
    bool squeezes_any = srv_ask_compresses(job->ask);
    srv_coding coding =
        srv_stream_may_squeeze(parts, squeezes_any) ? job->request.packs : SRV_CODING_IDENTITY;
    if (coding != SRV_CODING_IDENTITY) srv_parts_write_all(parts);
    if (!srv_parts_close(parts) || (job->run && !(lent = lend(job, &bytes)))) return false;
    const srv_stream_source source = {.parts = parts,
                                      .pool = job->service->pool,
                                      .budget = job->service->budget,
                                      .coding = coding,
                                      .squeezes_any = squeezes_any,
                                      .job = &job->own,
                                      .payload = lent,
                                      .payload_bytes = bytes,
                                      .free_payload = free_result};
    if (srv_stream_start(&source, &job->held, encoded, job, &job->answer.stream)) return true;
    if (lent) free_result(lent);
    return false;
}

/* Lists the answer, a finished run's or what the request would take, which is always JSON. */
static bool list(srv_job *job, srv_parts *parts, srv_problem *problem) {
    const srv_codec *gives = job->request.gives;
    const srv_outcome outcome = {job->ask, job->model->name, job->layer_index, job->run, &job->own};
    job->answer.type = job->run ? (gives->sent_as ? gives->sent_as : gives->type) : "application/json";
    if (job->run) return gives->encode(&outcome, parts, problem);
    srv_json_plan(job->ask, job->model->name, job->layer_index, &job->plan, &job->figures, parts);
    return true;
}

static void encode(srv_job *job) {
    srv_parts *parts = srv_parts_new();
    srv_problem problem = {0};
    bool is_listed = parts && list(job, parts, &problem);
    bool is_wanted = enter(job, JOB_ENDING); /* listing gives up where it is not */
    if (is_listed) job->answer.head = srv_parts_head(parts);
    if (job->answer.head > 0) job->answer.type = "application/octet-stream";
    if (is_wanted && is_listed && send(job, parts)) return;
    srv_parts_free(parts);
    if (is_wanted) job->answer.problem = problem;
    srv_problem_set(&job->answer.problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                    "no memory for the answer's text at this moment");
    finish(job);
}

/* On a worker, after the engine's last tile. */
static void ran(void *context, attn_run *run, attn_code code) {
    srv_job *job = context;
    (void)run;
    job->answer.timing.compute = lap(job);
    if (enter(job, JOB_ENDING) && code == ATTN_OK) {
        encode(job);
        return;
    }
    if (job->answer.problem.id == SRV_NO_PROBLEM) {
        attn_error error = {0};
        attn_error_set(&error, code, NULL,
                       "the result is not finite: a number beyond the range of float32 came up");
        srv_problem_from_engine(&job->answer.problem, &error);
    }
    finish(job);
}

/* On a worker, after `prepare`: reserves the workspace and hands over to the engine. */
static void prepared(void *context, bool skipped) {
    srv_job *job = context;
    (void)skipped; /* only cancelling skips, which enter() reports */
    stop_waiting(job);
    attn_error error = {0};
    if (!enter(job, JOB_ENDING) || job->answer.problem.id != SRV_NO_PROBLEM) {
        finish(job);
        return;
    }
    if (job->ask->plan_only) {
        encode(job);
        return;
    }
    if (attn_run_new(&job->plan, &job->run, &error) != ATTN_OK) {
        srv_problem_from_engine(&job->answer.problem, &error);
        finish(job);
        return;
    }
    /* Under the lock, so that nobody cancels a run that is not submitted; submitting never waits. */
    pthread_mutex_lock(&job->lock);
    job->phase = JOB_RUNNING;
    attn_run_submit(job->run, job->service->pool, ran, job);
    if (job->reason != SRV_NO_PROBLEM) attn_run_cancel(job->run);
    pthread_mutex_unlock(&job->lock);
}

srv_job *srv_pipeline_start(srv_service *service, const srv_request *request, srv_done *done, void *context) {
    srv_job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    double now = srv_clock_ms();
    *job = (srv_job){.service = service,
                     .done = done,
                     .context = context,
                     .request = *request,
                     .waits = true,
                     .own = {.stages = {{prepare, 1}}, .stage_count = 1, .context = job, .done = prepared},
                     .began = now,
                     .since = now,
                     .deadline = service->compute_ms > 0 ? now + (double)service->compute_ms : 0,
                     .allowed_ms = service->compute_ms};
    pthread_mutex_init(&job->lock, NULL);
    atomic_fetch_add(&service->waiting, 1);
    attn_pool_submit(service->pool, &job->own);
    return job;
}

/* Under the lock. */
static void cancel(srv_job *job, srv_problem_id reason) {
    if (!stop(job, reason)) return;
    attn_job_cancel(&job->own);
    if (job->phase == JOB_RUNNING) attn_run_cancel(job->run);
}

void srv_pipeline_cancel(srv_job *job, srv_problem_id reason) {
    pthread_mutex_lock(&job->lock);
    cancel(job, reason);
    pthread_mutex_unlock(&job->lock);
}

void srv_pipeline_check_time(srv_job *job) {
    pthread_mutex_lock(&job->lock);
    if (is_late(job)) cancel(job, SRV_DEADLINE);
    pthread_mutex_unlock(&job->lock);
}
