/* attnd serve: the daemon. The port opens first, then the models are loaded; standard output tells the
 * addresses, that it is ready, and a command to try. SIGTERM, SIGINT or SIGHUP ends it cleanly, a
 * second SIGTERM or SIGINT at once. */
#include "cli.h"
#include "server/app.h"
#include "server/cli/settings.h"
#include "server/codec/json.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fail(const attn_error *error, int code) {
    fprintf(stderr, "attnd serve: %s%s%s\n", error->where, error->where[0] ? ": " : "", error->text);
    return code;
}

/* Counts the signals that ask for the end; read one at a time. A handler rather than blocked signals: the
 * matrix library starts threads of its own while it is loaded, which block nothing. */
static int signals = -1;

/* A terminal that closes sends its hangup more than once, which must not take the time from running requests: it
 * begins the end and never hastens it. */
static void on_signal(int number) {
    static atomic_flag is_ending = ATOMIC_FLAG_INIT;
    bool is_second = atomic_flag_test_and_set(&is_ending);
    if (is_second && number == SIGHUP) return;
    int before = errno;
    const uint64_t one = 1;
    (void)!write(signals, &one, sizeof one);
    errno = before;
}

/* Whoever starts a daemon with hangups ignored, as nohup does, wants it to outlive them. */
static bool take_hangups(const struct sigaction *end) {
    struct sigaction before;
    return sigaction(SIGHUP, NULL, &before) == 0 &&
           (before.sa_handler == SIG_IGN || sigaction(SIGHUP, end, NULL) == 0);
}

/* A client that goes away is no signal. */
static bool open_signals(void) {
    signals = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct sigaction end = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    return signals >= 0 && sigaction(SIGPIPE, &ignore, NULL) == 0 && sigaction(SIGTERM, &end, NULL) == 0 &&
           sigaction(SIGINT, &end, NULL) == 0 && take_hangups(&end);
}

/* Polls before it reads: polling ends with a handler whatever SA_RESTART says, so no signal waits for another
 * event. */
static void wait_for_signal(void) {
    uint64_t one;
    struct pollfd event = {.fd = signals, .events = POLLIN};
    while (poll(&event, 1, -1) <= 0)
        continue;
    (void)!read(signals, &one, sizeof one);
}

static void print_addresses(const srv_app *app) {
    const char *address;
    for (size_t i = 0; (address = srv_http_address_open(app->http, i)); i++)
        printf("listening on http://%s\n", address);
    fflush(stdout);
}

/* Takes line ends and the indentation behind them out of a JSON text, none of which stands within its
 * strings. */
static void join_lines(srv_text *text) {
    size_t kept = 0;
    for (size_t i = 0; i < text->size; i++) {
        bool is_indent =
            text->data[i] == ' ' && i > 0 && (text->data[i - 1] == '\n' || text->data[i - 1] == '\0');
        if (text->data[i] == '\n') continue;
        if (is_indent)
            text->data[i] = '\0';
        else
            text->data[kept++] = text->data[i];
    }
    text->size = kept;
}

/* A command that works when pasted, but for a key: the default model's example, fetched first where it is long. */
static void print_ready(const srv_app *app) {
    enum { SHORT = 240 };
    const attn_model *model = srv_models_at(app->site.service.models, 0);
    const char *address = srv_http_address_open(app->http, 0);
    const char *key = app->keys ? " -H 'X-API-Key: KEY'" : "";
    srv_text example = {0};
    bool is_made = srv_json_example(model->name, 0, &model->layers[0], &example);
    puts("ready");
    if (is_made) join_lines(&example);
    if (is_made && example.size <= SHORT && !memchr(example.data, '\'', example.size)) {
        printf("try: curl -s%s http://%s/v1/attention -d '%.*s'\n", key, address, (int)example.size,
               example.data);
    } else {
        printf("try: curl -s%s http://%s/v1/models/%s/example | curl -s%s http://%s/v1/attention -d @-\n",
               key, address, model->name, key, address);
    }
    srv_text_done(&example);
    fflush(stdout);
}

/* Loading the models, beside the main thread: a signal ends it. */
typedef struct loading {
    srv_app *app;
    attn_error error;
    attn_code code;
    int done; /* an eventfd */
} loading;

static void *load(void *context) {
    loading *l = context;
    l->code = srv_app_load_models(l->app, &l->error);
    const uint64_t one = 1;
    (void)!write(l->done, &one, sizeof one);
    return NULL;
}

/* Returns when the models are loaded or a signal has stopped that (ATTN_CANCELLED, or whatever it came to). */
static attn_code load_models(srv_app *app, attn_error *error) {
    loading l = {.app = app, .done = eventfd(0, EFD_CLOEXEC)};
    pthread_t thread;
    if (l.done < 0 || pthread_create(&thread, NULL, load, &l) != 0) {
        if (l.done >= 0) close(l.done);
        return attn_error_set(error, ATTN_NO_MEMORY, NULL, "no thread or descriptor to load the models");
    }
    struct pollfd events[] = {{.fd = signals, .events = POLLIN}, {.fd = l.done, .events = POLLIN}};
    while (poll(events, 2, -1) <= 0)
        continue;
    if (events[0].revents & POLLIN) atomic_store(&app->stop_loading, true);
    pthread_join(thread, NULL);
    close(l.done);
    *error = l.error;
    return l.code;
}

/* From the open engine to the end of the last request. */
static int serve(srv_app *app, srv_keys *keys) {
    attn_error error = {0};
    if (srv_app_listen(app, keys, &error) != ATTN_OK) return fail(&error, SRV_EXIT_FAILED);
    print_addresses(app);
    attn_code code = load_models(app, &error);
    if (code == ATTN_OK)
        print_ready(app);
    else if (code != ATTN_CANCELLED)
        return fail(&error, code == ATTN_NO_MEMORY ? SRV_EXIT_FAILED : SRV_EXIT_USAGE);
    wait_for_signal();
    return srv_app_drain(app, signals) ? SRV_EXIT_OK : SRV_EXIT_FAILED;
}

int srv_cli_serve(int argc, char **argv) {
    cfg_settings settings;
    int code = srv_cli_settings(argc, argv, NULL, 0, &settings);
    if (code != SRV_EXIT_OK) return code;
    attn_error error = {0};
    srv_app app = {0};
    srv_keys *keys = NULL;
    if (!srv_cli_keys(argv[0], &settings, &keys)) {
        code = SRV_EXIT_USAGE;
    } else if (!open_signals()) {
        fputs("attnd serve: cannot wait for signals\n", stderr);
        code = SRV_EXIT_FAILED;
    } else if (srv_app_open(&settings, &app, &error) != ATTN_OK) {
        code = fail(&error, SRV_EXIT_FAILED);
    } else {
        code = serve(&app, keys);
        keys = NULL;
        srv_app_close(&app);
    }
    srv_keys_free(keys);
    /* The descriptor of signals stays: one may still come. */
    cfg_settings_done(&settings);
    return code;
}
