/* Building and taking apart (app.h). */
#include "app.h"

#include "server/blas_core.h"
#include "server/jobs/free_memory.h"
#include "server/routes/routes.h"
#include "server/version.h"

#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    SPARE_CALLERS = 2,       /* of the matrix library: it counts its own start-up thread too */
    SPARE_DESCRIPTORS = 128, /* files, listeners, events, refused clients that are read on */
    LAST_ANSWERS_MS = 1000,
    LARGE_BLOCK = 1 << 20, /* bytes */
    KEPT_PART = 4,         /* of the memory for requests, kept by the engine from one to the next */
    KEPT_IDLE_MS = 10000,
};

/* The worker count of the settings or of the machine, and never more than the matrix library survives. */
static size_t choose_workers(const srv_app *app) {
    size_t wanted = app->settings->workers ? app->settings->workers : attn_pool_default_workers();
    size_t callers = attn_blas_max_callers();
    size_t most = callers > SPARE_CALLERS ? callers - SPARE_CALLERS : 1;
    if (wanted <= most) return wanted;
    srv_log_message(&app->log, SRV_LOG_WARNING, "workers",
                    "%zu workers; the matrix library takes %zu callers, so %zu run", wanted, callers, most);
    return most;
}

static void log_start(const srv_app *app) {
    const srv_core *core = srv_core_found();
    const srv_field fields[] = {
        srv_field_string("version", SRV_VERSION.version),
        srv_field_string("commit", SRV_VERSION.commit),
        srv_field_string("core", core->in_use),
        srv_field_string("origin", srv_core_origin_text(core)),
        srv_field_string("instead_of", core->instead_of),
        srv_field_string("processor", srv_core_level_text()),
        srv_field_string("vectors", attn_vectors_name(attn_vectors_in_use())),
        srv_field_count("workers", attn_pool_workers(app->site.service.pool)),
        srv_field_count("memory", app->memory.limit),
    };
    srv_log_event(&app->log, SRV_LOG_INFO, "start", fields, sizeof fields / sizeof fields[0]);
    if (core->better) {
        srv_log_message(
            &app->log, SRV_LOG_WARNING, "blas",
            "OpenBLAS uses its %s kernels (%s), slower than this processor can be; OPENBLAS_CORETYPE=%s "
            "would suit it",
            core->in_use, srv_core_origin_text(core), core->better);
    }
}

/* Large blocks go back to the system when they are freed. By itself the allocator begins to keep them after the first,
 * and what the largest requests took at one time stays taken. */
static void give_memory_back(void) {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
#endif
}

static attn_code open_engine(srv_app *app, attn_error *error) {
    srv_service *service = &app->site.service;
    give_memory_back();
    attn_blas_single_threaded();
    attn_code code = attn_blas_self_test(error);
    if (code != ATTN_OK) return code;
    app->site.self_test = "passed";
    app->site.settings = app->settings;
    size_t memory = app->settings->memory ? app->settings->memory : srv_free_memory() / 2;
    srv_budget_init(&app->memory, memory);
    app->memory.trim = attn_workspaces_trim;
    attn_workspaces_keep(memory / KEPT_PART, KEPT_IDLE_MS);
    service->budget = &app->memory;
    service->compute_ms = app->settings->compute;
    service->models = srv_models_new();
    if (!service->models)
        return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the list of models");
    return attn_pool_new(choose_workers(app), &service->pool, error);
}

/* The counters, by the routes' paths; the page says what runs. */
static attn_code open_metrics(srv_app *app, attn_error *error) {
    const char **paths = calloc(srv_route_table.count, sizeof *paths);
    char build[256];
    for (size_t i = 0; paths && i < srv_route_table.count; i++)
        paths[i] = srv_route_table.rows[i].path;
    snprintf(build, sizeof build, "version=\"%s\",commit=\"%s\",compiler=\"%s\",core=\"%s\"",
             SRV_VERSION.version, SRV_VERSION.commit, SRV_VERSION.compiler, srv_core_found()->in_use);
    if (paths) app->site.metrics = srv_metrics_new(paths, srv_route_table.count, build);
    free(paths);
    if (!app->site.metrics) return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the counters");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long milliseconds = now.tv_nsec / 1000000;
    app->site.started = (double)now.tv_sec + (double)milliseconds / 1e3;
    return ATTN_OK;
}

attn_code srv_app_open(const cfg_settings *settings, srv_app *out, attn_error *error) {
    *out = (srv_app){.settings = settings,
                     .outlet = SRV_OUTLET(STDERR_FILENO),
                     .log = {.json = settings->log_format == CFG_LOG_JSON,
                             .level = (srv_log_level)settings->log_level,
                             .outlet = &out->outlet,
                             .repeats = &out->repeats}};
    srv_repeats_init(&out->repeats);
    attn_code code = open_engine(out, error);
    if (code == ATTN_OK) code = open_metrics(out, error);
    if (code == ATTN_OK)
        log_start(out);
    else
        srv_app_close(out);
    return code;
}

/* Asks the system for so many descriptors; how many there are. */
static size_t raise_descriptors(size_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return wanted;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
    return (size_t)limit.rlim_cur;
}

/* How many connections may be open: the setting's number, or as many as there are descriptors for. To run out of
 * these would be worse: the library's thread spins while it cannot accept, and no file can be opened. */
static size_t choose_connections(const srv_app *app) {
    size_t setting = app->settings->max_connections;
    size_t addresses = app->settings->listen_count; /* the library counts for each of them alone */
    size_t wanted = (setting + SRV_EXTRA_CONNECTIONS) * addresses + SPARE_DESCRIPTORS;
    size_t given = raise_descriptors(wanted);
    if (given >= wanted) return setting;
    size_t most = given > SPARE_DESCRIPTORS ? (given - SPARE_DESCRIPTORS) / addresses : 0;
    most = most > SRV_EXTRA_CONNECTIONS ? most - SRV_EXTRA_CONNECTIONS : 1;
    srv_log_message(&app->log, SRV_LOG_WARNING, "descriptors",
                    "%zu connections would need %zu descriptors; the system gives %zu, so %zu are served",
                    setting, wanted, given, most);
    return most;
}

static srv_patterns patterns_of(const cfg_texts *texts) {
    return (srv_patterns){(const char *const *)texts->items, texts->count};
}

attn_code srv_app_listen(srv_app *app, srv_keys *keys, attn_error *error) {
    app->keys = keys;
    app->site.keys = keys;
    const cfg_settings *settings = app->settings;
    srv_http_address *addresses = calloc(settings->listen_count, sizeof *addresses);
    if (!addresses) return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the addresses");
    for (size_t i = 0; i < settings->listen_count; i++) {
        addresses[i].host = settings->listen[i].host;
        addresses[i].port = settings->listen[i].port;
    }
    app->site.max_connections = choose_connections(app);
    const size_t workers = attn_pool_workers(app->site.service.pool);
    const srv_http_options options = {
        .addresses = addresses,
        .address_count = settings->listen_count,
        .max_connections = app->site.max_connections,
        .max_body = settings->max_body,
        .max_json = settings->max_json,
        .max_swallow = settings->max_swallow,
        .max_running = settings->max_waiting + workers,
        .workers = workers,
        .times = {.headers = (double)settings->headers,
                  .body = (double)settings->body,
                  .body_mebibyte = (double)settings->body_mebibyte,
                  .stalled_body = (double)settings->stalled_body,
                  .stalled_reader = (double)settings->stalled_reader,
                  .idle = (double)settings->idle,
                  .swallow = (double)settings->swallow},
        .hosts = patterns_of(&settings->hosts),
        .cors_origins = patterns_of(&settings->cors_origins),
        .keys = keys,
        .routes = srv_route_table,
        .site = &app->site,
        .models = app->site.service.models,
        .memory = &app->memory,
        .log = &app->log,
        .metrics = app->site.metrics,
    };
    attn_code code = srv_http_new(&options, &app->http, error);
    free(addresses);
    if (code == ATTN_OK && !keys && !srv_http_is_only_loopback(app->http))
        srv_log_message(
            &app->log, SRV_LOG_WARNING, "auth",
            "other machines can reach this daemon, and no key is asked for (setting auth.keys_file)");
    return code;
}

static void log_model(const srv_app *app, const attn_model *model) {
    const srv_field fields[] = {
        srv_field_string("name", model->name),
        srv_field_string("family", model->family),
        srv_field_string("file", model->file),
        srv_field_count("layers", model->layer_count),
        srv_field_count("heads", model->layers[0].heads),
        srv_field_count("bytes", model->bytes),
        srv_field_count("unused_tensors", model->unused_count),
    };
    srv_log_event(&app->log, SRV_LOG_INFO, "model", fields, sizeof fields / sizeof fields[0]);
}

attn_code srv_app_load_models(srv_app *app, attn_error *error) {
    const cfg_settings *settings = app->settings;
    srv_models *models = app->site.service.models;
    attn_model_source *sources = calloc(settings->model_count + 1, sizeof *sources);
    if (!sources) return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the list of models");
    for (size_t i = 0; i < settings->model_count; i++) {
        const cfg_model *model = &settings->models[i];
        sources[i] = (attn_model_source){.name = model->name,
                                         .path = model->path,
                                         .heads = model->heads,
                                         .kv_heads = model->kv_heads,
                                         .stop = &app->stop_loading};
    }
    attn_code code = srv_models_load(models, sources, settings->model_count, error);
    free(sources);
    if (code != ATTN_OK) return code;
    for (size_t i = 0; i < srv_models_count(models); i++)
        log_model(app, srv_models_at(models, i));
    /* Two names for each: with maps, and without. */
    app->site.inference = srv_inference_new(2 * srv_models_count(models));
    if (!app->site.inference)
        return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the counters");
    srv_models_publish(models);
    /* Only a daemon lives long enough for somebody to ask. */
    if (app->http) app->digests = srv_digests_start(models);
    return ATTN_OK;
}

/* Waits for one of the two (-1: it never comes) or the time; whether the second one, a signal, came. */
static bool await(int event, int signals, size_t milliseconds, bool *is_over) {
    struct pollfd events[] = {{.fd = event, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    /* The settings' range keeps this within an int. */
    int ready;
    do /* a handler interrupts; what it has written is there at once */
        ready = poll(events, 2, (int)milliseconds);
    while (ready < 0);
    *is_over = ready == 0;
    return ready > 0 && !(events[0].revents & POLLIN);
}

/* What the workers have ends with its tile; its answer gets a moment to go out. */
static size_t stop_requests(srv_app *app, const char *why) {
    bool is_over;
    size_t stopped = srv_http_cancel(app->http);
    srv_log_message(&app->log, SRV_LOG_WARNING, "drain", "%s; %zu requests were stopped", why, stopped);
    if (stopped > 0) await(srv_http_idle_event(app->http), -1, LAST_ANSWERS_MS, &is_over);
    return stopped;
}

bool srv_app_drain(srv_app *app, int signals) {
    const cfg_settings *settings = app->settings;
    bool is_over, is_forced = false;
    atomic_store(&app->site.draining, true);
    if (settings->drain_delay > 0) {
        srv_log_message(&app->log, SRV_LOG_INFO, "drain", "requests are still taken for %zu ms",
                        settings->drain_delay);
        is_forced = await(-1, signals, settings->drain_delay, &is_over);
    }
    srv_log_message(&app->log, SRV_LOG_INFO, "drain", "answering what has been accepted, for at most %zu s",
                    settings->drain);
    srv_http_drain(app->http);
    is_forced = is_forced || await(srv_http_idle_event(app->http), signals, settings->drain * 1000, &is_over);
    if (is_forced) return stop_requests(app, "a second signal") == 0;
    if (is_over) stop_requests(app, "the time is over");
    return true;
}

void srv_app_close(srv_app *app) {
    srv_http_free(app->http);
    srv_digests_free(app->digests);
    attn_pool_free(app->site.service.pool);
    srv_models_free(app->site.service.models);
    srv_metrics_free(app->site.metrics);
    srv_inference_free(app->site.inference);
    srv_keys_free(app->keys);
    if (app->log.outlet) srv_log_flush(&app->log);
    if (app->log.repeats) srv_repeats_done(&app->repeats);
    app->log = (srv_log){0};
    app->http = NULL;
    app->digests = NULL;
    app->site.service = (srv_service){0};
    app->site.metrics = NULL;
    app->site.inference = NULL;
    app->site.keys = app->keys = NULL;
}
