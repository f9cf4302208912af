/* attnd run: one request from a file through the same code as over HTTP, and the same bytes on standard
 * output or in a file. A refusal's problem document goes to standard error. */
#include "cli.h"
#include "run_form.h"
#include "server/app.h"
#include "server/cli/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Opens a file, "-" being standard input; NULL after a complaint. */
static FILE *open_request(const char *path) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) fprintf(stderr, "attnd run: %s: %s\n", path, strerror(errno));
    return file;
}

/* Feeds it to the decoder; false with a problem, or with none after a complaint. */
static bool read_request(FILE *file, const cfg_settings *settings, srv_decoder *decoder,
                         srv_problem *problem) {
    char piece[32 << 10];
    const char *complaint = NULL;
    size_t used = 0, got;
    while (!complaint && (got = fread(piece, 1, sizeof piece, file)) > 0) {
        used += got;
        if (used > settings->max_body)
            complaint = "longer than the setting limits.max_body";
        else if (!srv_decoder_feed(decoder, piece, got, problem))
            return false;
    }
    if (!complaint && ferror(file)) complaint = "cannot be read";
    if (complaint) fprintf(stderr, "attnd run: %s: %s\n", settings->arguments[0], complaint);
    return !complaint;
}

/* What this thread waits for: the answer, and then each stretch of it. */
typedef struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool is_there;
    srv_answer answer;
} waiting;

static void wake(void *context) {
    waiting *wait = context;
    pthread_mutex_lock(&wait->lock);
    wait->is_there = true;
    pthread_cond_signal(&wait->came);
    pthread_mutex_unlock(&wait->lock);
}

static void answered(void *context, srv_answer *answer) {
    waiting *wait = context;
    wait->answer = *answer;
    wake(wait);
}

static void await(waiting *wait) {
    pthread_mutex_lock(&wait->lock);
    while (!wait->is_there)
        pthread_cond_wait(&wait->came, &wait->lock);
    wait->is_there = false;
    pthread_mutex_unlock(&wait->lock);
}

/* The whole stream to a file; false where that takes nothing more. */
static bool write_stream(waiting *wait, FILE *to) {
    static char bytes[64 * 1024];
    srv_stream *stream = wait->answer.stream;
    while (!srv_stream_is_over(stream)) {
        size_t count = srv_stream_read(stream, bytes, sizeof bytes);
        if (fwrite(bytes, 1, count, to) != count) return false;
        if (count == 0 && srv_stream_await(stream, wake, wait)) await(wait);
    }
    return fflush(to) == 0;
}

/* The answer to the file of that name, which is gone again where it cannot hold it. */
static bool write_file(waiting *wait, const char *path) {
    FILE *to = fopen(path, "we");
    bool is_written = to && write_stream(wait, to);
    if (to && fclose(to) != 0) is_written = false;
    if (!is_written) {
        fprintf(stderr, "attnd run: %s: %s\n", path, strerror(errno));
        if (to) remove(path);
    }
    return is_written;
}

static int print_problem(const srv_problem *problem) {
    size_t size;
    char *document = srv_problem_document(problem, NULL, false, &size);
    fputs(document ? document : problem->detail, stderr);
    if (!document) fputs("\n", stderr);
    free(document);
    return SRV_EXIT_FAILED;
}

/* `output`: the file for the answer; NULL: standard output. */
static int ask(srv_app *app, const srv_request *request, const char *output) {
    waiting wait = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    if (!srv_pipeline_start(&app->site.service, request, answered, &wait)) {
        fputs("attnd run: no memory\n", stderr);
        srv_decoder_free(request->decoder);
        return SRV_EXIT_FAILED;
    }
    await(&wait);
    if (wait.answer.problem.id != SRV_NO_PROBLEM) return print_problem(&wait.answer.problem);
    bool is_written = output ? write_file(&wait, output) : write_stream(&wait, stdout);
    srv_stream_close(wait.answer.stream);
    return is_written ? SRV_EXIT_OK : SRV_EXIT_FAILED;
}

static int run(srv_app *app, const srv_run_form *form, FILE *file) {
    attn_error error = {0};
    if (srv_app_load_models(app, &error) != ATTN_OK) {
        fprintf(stderr, "attnd run: %s%s%s\n", error.where, error.where[0] ? ": " : "", error.text);
        return error.code == ATTN_NO_MEMORY ? SRV_EXIT_FAILED : SRV_EXIT_USAGE;
    }
    const srv_codec *takes = srv_run_form_of_request(app->settings->arguments[0]);
    srv_decoder *decoder = srv_decoder_new(takes, &app->memory, app->settings->max_json);
    srv_problem problem = {0};
    if (!decoder) {
        fputs("attnd run: no memory\n", stderr);
        return SRV_EXIT_FAILED;
    }
    if (read_request(file, app->settings, decoder, &problem)) {
        const srv_request request = {.decoder = decoder,
                                     .gives = form->gives,
                                     .query = form->query,
                                     .query_size = strlen(form->query)};
        return ask(app, &request, form->output);
    }
    srv_decoder_free(decoder);
    return problem.id == SRV_NO_PROBLEM ? SRV_EXIT_FAILED : print_problem(&problem);
}

int srv_cli_run(int argc, char **argv) {
    static const cfg_own_flag own[] = {{"--show", NULL}, {"--output", NULL}, {"--query", NULL}, {NULL, NULL}};
    cfg_settings settings;
    srv_run_form form;
    if (!srv_run_form_take(&argc, argv, &form)) return SRV_EXIT_USAGE;
    int code = srv_cli_settings(argc, argv, own, 1, &settings);
    if (code != SRV_EXIT_OK) {
        srv_run_form_done(&form);
        return code;
    }
    /* Standard error is for the refusal's document here. */
    settings.log_level = CFG_LOG_ERROR;
    attn_error error = {0};
    srv_app app = {0};
    FILE *file = NULL;
    if (settings.argument_count == 0) {
        fputs("attnd run: no request; takes a file, or '-' for standard input\n", stderr);
        code = SRV_EXIT_USAGE;
    } else if (!(file = open_request(settings.arguments[0]))) {
        code = SRV_EXIT_FAILED;
    } else if (srv_app_open(&settings, &app, &error) != ATTN_OK) {
        fprintf(stderr, "attnd run: %s\n", error.text);
        code = SRV_EXIT_FAILED;
    } else {
        code = run(&app, &form, file);
        srv_app_close(&app);
    }
    if (file && file != stdin) fclose(file);
    cfg_settings_done(&settings);
    srv_run_form_done(&form);
    return code;
}
