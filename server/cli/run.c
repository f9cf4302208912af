/* attnd run: one request from a file through the same code as over HTTP, and the same bytes on standard
 * output. A refusal's problem document goes to standard error. */
#include "cli.h"
#include "server/app.h"
#include "server/cli/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Reads a whole file, "-" being standard input, of at most `limit` bytes; false after a complaint. */
static bool read_request(const char *path, size_t limit, char **out, size_t *size) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) {
        fprintf(stderr, "attnd run: %s: %s\n", path, strerror(errno));
        return false;
    }
    size_t used = 0, capacity = 0;
    char *data = NULL;
    const char *complaint = NULL;
    for (;;) {
        if (used == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            char *more = realloc(data, capacity);
            if (!more) {
                complaint = "no memory for it";
                break;
            }
            data = more;
        }
        size_t got = fread(data + used, 1, capacity - used, file);
        used += got;
        if (used > limit) complaint = "longer than the setting limits.max_body";
        if (got == 0 && ferror(file)) complaint = "cannot be read";
        if (got == 0 || complaint) break;
    }
    if (file != stdin) fclose(file);
    if (complaint) {
        fprintf(stderr, "attnd run: %s: %s\n", path, complaint);
        free(data);
        return false;
    }
    *out = data;
    *size = used;
    return true;
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

/* The whole stream to standard output; false where that takes nothing more. */
static bool print_stream(waiting *wait) {
    static char bytes[64 * 1024];
    srv_stream *stream = wait->answer.stream;
    while (!srv_stream_is_over(stream)) {
        size_t count = srv_stream_read(stream, bytes, sizeof bytes);
        if (fwrite(bytes, 1, count, stdout) != count) return false;
        if (count == 0 && srv_stream_await(stream, wake, wait)) await(wait);
    }
    return fflush(stdout) == 0;
}

static int print_answer(waiting *wait) {
    const srv_problem *problem = &wait->answer.problem;
    if (problem->id == SRV_NO_PROBLEM) return print_stream(wait) ? SRV_EXIT_OK : SRV_EXIT_FAILED;
    size_t size;
    char *document = srv_problem_document(problem, NULL, &size);
    fprintf(stderr, "%s\n", document ? document : problem->detail);
    free(document);
    return SRV_EXIT_FAILED;
}

/* Takes the body over. */
static int run(srv_app *app, char *body, size_t size) {
    attn_error error = {0};
    if (srv_app_load_models(app, &error) != ATTN_OK) {
        fprintf(stderr, "attnd run: %s%s%s\n", error.where, error.where[0] ? ": " : "", error.text);
        free(body);
        return error.code == ATTN_NO_MEMORY ? SRV_EXIT_FAILED : SRV_EXIT_USAGE;
    }
    waiting wait = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    const srv_codec *format = srv_codec_of_body(&srv_codecs_attention, NULL);
    const srv_request request = {.takes = format, .gives = format, .body = body, .size = size};
    if (!srv_pipeline_start(&app->site.service, &request, answered, &wait)) {
        fputs("attnd run: no memory\n", stderr);
        free(body);
        return SRV_EXIT_FAILED;
    }
    await(&wait);
    int code = print_answer(&wait);
    srv_stream_close(wait.answer.stream);
    return code;
}

int srv_cli_run(int argc, char **argv) {
    cfg_settings settings;
    int code = srv_cli_settings(argc, argv, 1, &settings);
    if (code != SRV_EXIT_OK) return code;
    /* Standard error is for the refusal's document here. */
    settings.log_level = CFG_LOG_ERROR;
    attn_error error = {0};
    srv_app app = {0};
    char *body = NULL;
    size_t size = 0;
    if (settings.argument_count == 0) {
        fputs("attnd run: no request; takes a file, or '-' for standard input\n", stderr);
        code = SRV_EXIT_USAGE;
    } else if (!read_request(settings.arguments[0], settings.max_body, &body, &size)) {
        code = SRV_EXIT_FAILED;
    } else if (srv_app_open(&settings, &app, &error) != ATTN_OK) {
        fprintf(stderr, "attnd run: %s\n", error.text);
        free(body);
        code = SRV_EXIT_FAILED;
    } else {
        code = run(&app, body, size);
        srv_app_close(&app);
    }
    cfg_settings_done(&settings);
    return code;
}
