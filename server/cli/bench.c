/* attnd bench: how fast this machine computes, as a table and as JSON. */
#include "cli.h"
#include "server/app.h"
#include "server/bench/peer.h"
#include "server/cli/settings.h"
#include "server/facts.h"

#include <string.h>

/* What is no setting. */
typedef struct bench_flags {
    bool quick;
    const char *json, *peer_asks, *peer_answers; /* files; NULL: none */
} bench_flags;

/* The value of the flag at argv[*i], which begins with its name: behind '=' or the next word, which *i then is. NULL
 * where there is none. */
static const char *value_of(int argc, char **argv, int *i, const char *name) {
    const char *behind = argv[*i] + strlen(name);
    if (*behind == '=') return behind + 1;
    return *i + 1 < argc ? argv[++*i] : NULL;
}

static bool is_flag(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

/* Takes the flags of this command out of the arguments; false after a complaint. */
static bool take_flags(int *argc, char **argv, bench_flags *out) {
    const struct {
        const char *name;
        const char **value;
    } flags[] = {
        {"--json", &out->json}, {"--peer-asks", &out->peer_asks}, {"--peer-answers", &out->peer_answers}};
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        size_t flag = 0;
        while (flag < 3 && !is_flag(argv[i], flags[flag].name))
            flag++;
        if (strcmp(argv[i], "--quick") == 0) {
            out->quick = true;
        } else if (flag == 3) {
            argv[kept++] = argv[i];
        } else if (!(*flags[flag].value = value_of(*argc, argv, &i, flags[flag].name))) {
            fprintf(stderr, "attnd bench: %s takes a file\n", flags[flag].name);
            return false;
        }
    }
    *argc = kept;
    if (!out->peer_asks == !out->peer_answers) return true;
    fputs("attnd bench: --peer-asks and --peer-answers go together\n", stderr);
    return false;
}

/* What computes, then what it reaches. */
static int print(const srv_app *app, const json_t *measured, const char *file) {
    json_t *facts = srv_facts_document(attn_pool_workers(app->site.service.pool), app->site.self_test);
    json_t *whole = json_pack("{s:O?, s:O}", "version", facts, "measured", measured);
    bool works = whole != NULL;
    if (works)
        printf("attnd %s, OpenBLAS's kernels for %s, %s, %d workers\n",
               json_string_value(json_object_get(facts, "version")), attn_blas_core(),
               attn_vectors_name(attn_vectors_in_use()), (int)attn_pool_workers(app->site.service.pool));
    if (works) srv_bench_print(measured, stdout);
    if (works && file && json_dump_file(whole, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0) {
        fprintf(stderr, "attnd bench: %s: cannot be written\n", file);
        works = false;
    }
    json_decref(whole);
    json_decref(facts);
    return works ? SRV_EXIT_OK : SRV_EXIT_FAILED;
}

/* With the peer, where there is one; NULL with the error. */
static json_t *measure(const srv_app *app, const bench_flags *flags, attn_error *error) {
    srv_bench_process process = {0};
    srv_bench_options options = {.pool = app->site.service.pool, .quick = flags->quick};
    if (flags->peer_asks) {
        options.peer = &process.peer;
        if (!srv_bench_process_open(flags->peer_asks, flags->peer_answers, &process)) {
            attn_error_set(error, ATTN_IO, NULL, "no peer at %s and %s", flags->peer_asks,
                           flags->peer_answers);
            return NULL;
        }
    }
    json_t *measured = srv_bench_measure(&options, error);
    srv_bench_process_close(&process);
    return measured;
}

int srv_cli_bench(int argc, char **argv) {
    static const cfg_own_flag own[] = {
        {"--quick", NULL}, {"--json", NULL}, {"--peer-asks", NULL}, {"--peer-answers", NULL}, {NULL, NULL}};
    bench_flags flags = {0};
    if (!take_flags(&argc, argv, &flags)) return SRV_EXIT_USAGE;
    cfg_settings settings;
    int code = srv_cli_settings(argc, argv, own, 0, &settings);
    if (code != SRV_EXIT_OK) return code;
    settings.log_level = CFG_LOG_ERROR;
    attn_error error = {0};
    srv_app app = {0};
    json_t *measured = NULL;
    if (srv_app_open(&settings, &app, &error) == ATTN_OK) measured = measure(&app, &flags, &error);
    if (measured) {
        code = print(&app, measured, flags.json);
    } else {
        fprintf(stderr, "attnd bench: %s\n", error.text);
        code = SRV_EXIT_FAILED;
    }
    json_decref(measured);
    srv_app_close(&app);
    cfg_settings_done(&settings);
    return code;
}
