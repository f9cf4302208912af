/* What one JSON request takes of decoder, engine and encoder alone, without HTTP, connections or the way between threads:
 *
 *     alone [SETTING …] BODY CALLERS
 *
 * Prints JSON: microseconds of processor time that one thread takes to decode the body and to write the whole answer, the
 * least of several turns; microseconds from one forward pass to the next while so many callers ask for them, with all
 * workers, the median; and how many numbers came in and went out. */
#include "server/app.h"
#include "server/blas_core.h"
#include "server/cli/cli.h"
#include "server/cli/settings.h"
#include "server/codec/decoder.h"
#include "server/obs/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 32 * 1024 /* as the HTTP library hands them on */, TURNS = 11, TURN_MS = 30 };

typedef struct alone {
    srv_app app;
    char *body;
    size_t size;
    srv_ask *ask;
    attn_plan plan;
    size_t callers;
    double until;
} alone;

static void fail(const char *what) {
    fprintf(stderr, "alone: %s\n", what);
    exit(1);
}

static double cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void read_body(alone *a, const char *path) {
    FILE *file = fopen(path, "re");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("no such body");
    a->size = (size_t)ftell(file);
    a->body = malloc(a->size);
    rewind(file);
    if (!a->body || fread(a->body, 1, a->size, file) != a->size) fail("cannot read the body");
    fclose(file);
}

static srv_ask *decode(alone *a) {
    srv_problem problem = {0};
    srv_ask *ask = NULL;
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &a->app.memory, 0);
    for (size_t at = 0; at < a->size; at += PIECE) {
        size_t count = a->size - at < PIECE ? a->size - at : PIECE;
        if (!srv_decoder_feed(decoder, a->body + at, count, &problem)) fail(problem.detail);
    }
    const srv_source source = {.gives = srv_codecs_attention.rows};
    if (!srv_decoder_end(decoder, &source, &ask, &problem)) fail(problem.detail);
    srv_budget_give(&a->app.memory, srv_decoder_close(decoder));
    return ask;
}

static void bind(alone *a) {
    srv_problem problem = {0};
    attn_error error = {0};
    const attn_model *model = srv_models_find(a->app.site.service.models, NULL);
    a->ask = decode(a);
    if (!srv_ask_bind(a->ask, attn_model_layer(model, 0), model->name, 0, &problem)) fail(problem.detail);
    size_t workers = attn_pool_workers(a->app.site.service.pool);
    if (attn_plan_make(&a->ask->request, workers, &a->plan, &error) != ATTN_OK) fail(error.text);
}

static attn_run *forward(alone *a) {
    attn_run *run;
    if (attn_run_new(&a->plan, &run, NULL) != ATTN_OK ||
        attn_run_wait(run, a->app.site.service.pool) != ATTN_OK)
        fail("no forward pass");
    return run;
}

static void write_answer(alone *a, const attn_run *run) {
    srv_problem problem = {0};
    srv_parts *parts = srv_parts_new();
    const srv_outcome outcome = {a->ask, "m", 0, run, NULL};
    if (!parts || !srv_codecs_attention.rows->encode(&outcome, parts, &problem) || !srv_parts_close(parts))
        fail("cannot write the answer");
    char *room = malloc(srv_parts_room(parts));
    for (size_t block = 0; room && block < srv_parts_blocks(parts); block++)
        srv_parts_write(parts, block, room);
    free(room);
    srv_parts_free(parts);
}

static void *call(void *context) {
    alone *a = context;
    size_t calls = 0;
    do {
        attn_run_free(forward(a));
        calls++;
    } while (srv_clock_ms() < a->until);
    return (void *)calls;
}

/* Of each call, while all call. */
static double forward_us(alone *a) {
    pthread_t threads[64];
    size_t calls = 0;
    double began = srv_clock_ms();
    a->until = began + TURN_MS;
    for (size_t i = 0; i < a->callers; i++)
        if (pthread_create(&threads[i], NULL, call, a) != 0) fail("no thread");
    for (size_t i = 0; i < a->callers; i++) {
        void *made;
        pthread_join(threads[i], &made);
        calls += (size_t)made;
    }
    return (srv_clock_ms() - began) * 1e3 / (double)calls;
}

static double decode_us(alone *a) {
    size_t calls = 0;
    double began = cpu_us(), now;
    do {
        srv_ask_free(decode(a));
        calls++;
    } while ((now = cpu_us()) < began + TURN_MS * 1e3);
    return (now - began) / (double)calls;
}

static double write_us(alone *a) {
    attn_run *run = forward(a);
    size_t calls = 0;
    double began = cpu_us(), now;
    do {
        write_answer(a, run);
        calls++;
    } while ((now = cpu_us()) < began + TURN_MS * 1e3);
    attn_run_free(run);
    return (now - began) / (double)calls;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(alone *a) {
    double decode[TURNS], forward[TURNS], write[TURNS];
    for (int i = -1; i < TURNS; i++) { /* the first turn warms up */
        int turn = i < 0 ? 0 : i;
        decode[turn] = decode_us(a);
        forward[turn] = forward_us(a);
        write[turn] = write_us(a);
    }
    qsort(decode, TURNS, sizeof *decode, compare);
    qsort(forward, TURNS, sizeof *forward, compare);
    qsort(write, TURNS, sizeof *write, compare);
    size_t numbers = 0;
    for (size_t n = 0; n < a->ask->request.sequence_count; n++)
        numbers += a->ask->request.sequences[n].queries * a->ask->request.d_model;
    printf("{\"decode_us\": %.3f, \"forward_us\": %.3f, \"write_us\": %.3f, \"numbers_in\": %zu, "
           "\"numbers_out\": %zu}\n",
           decode[0], forward[TURNS / 2], write[0], numbers, numbers + a->plan.map_floats);
}

int main(int argc, char **argv) {
    srv_core_settle(argv);
    cfg_settings settings;
    alone a = {0};
    attn_error error = {0};
    if (srv_cli_settings(argc, argv, NULL, 2, &settings) != SRV_EXIT_OK || settings.argument_count != 2)
        fail("takes settings, a body and a number of callers");
    settings.log_level = CFG_LOG_ERROR;
    if (srv_app_open(&settings, &a.app, &error) != ATTN_OK || srv_app_load_models(&a.app, &error) != ATTN_OK)
        fail(error.text);
    read_body(&a, settings.arguments[0]);
    a.callers = strtoul(settings.arguments[1], NULL, 10);
    if (a.callers < 1 || a.callers > 64) fail("1 to 64 callers");
    bind(&a);
    measure(&a);
    srv_ask_free(a.ask);
    srv_app_close(&a.app);
    cfg_settings_done(&settings);
    free(a.body);
    return 0;
}
