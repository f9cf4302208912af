/* The settings: every row of the table through file, environment and flag, precedence, and all problems at
 * once. */
#include "config/cfg.h"
#include "config/schema.h"
#include "server/http/origin.h"
#include "tests/support/suites.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "%s", "/tmp/attnd-cfg-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void) {
    char file[96];
    snprintf(file, sizeof file, "%s/settings.json", folder);
    unlink(file);
    rmdir(folder);
}

/* Writes the settings file and returns its path (static storage). */
static char *write_file(const char *text) {
    static char file[96];
    snprintf(file, sizeof file, "%s/settings.json", folder);
    FILE *out = fopen(file, "w");
    ck_assert_ptr_nonnull(out);
    ck_assert_int_ge(fputs(text, out), 0);
    ck_assert_int_eq(fclose(out), 0);
    return file;
}

static int count(char **list) {
    int n = 0;
    while (list[n])
        n++;
    return n;
}

#define LIST(...) ((char *[]){__VA_ARGS__ __VA_OPT__(, ) NULL})
/* A command's flags, beside the table's. */
static const cfg_own_flag own[] = {{"--show", NULL}, {"--address", "--listen"}, {NULL, NULL}};
static cfg_settings settings;
static cfg_problems problems;

static void load(char **argv, char **environment) {
    cfg_outcome outcome = cfg_load(count(argv), argv, own, environment, &settings, &problems);
    for (size_t i = 0; i < problems.count; i++)
        fprintf(stderr, "%s\n", problems.lines[i]);
    ck_assert_int_eq(outcome, CFG_LOADED);
    ck_assert_uint_eq(problems.count, 0);
}

static void done(void) {
    cfg_settings_done(&settings);
    cfg_problems_done(&problems);
}

static void refuse(char **argv, char **environment) {
    cfg_settings untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    memset(&settings, 0x5a, sizeof settings);
    ck_assert_int_eq(cfg_load(count(argv), argv, own, environment, &settings, &problems), CFG_REFUSED);
    ck_assert_mem_eq(&settings, &untouched, sizeof settings);
    memset(&settings, 0, sizeof settings);
}

/* Just these, in their order. */
static void check_problems(const char *const *lines, size_t line_count) {
    ck_assert_uint_eq(problems.count, line_count);
    for (size_t i = 0; i < line_count; i++)
        ck_assert_str_eq(problems.lines[i], lines[i]);
    cfg_problems_done(&problems);
}

START_TEST(defaults) {
    load(LIST(), LIST());
    ck_assert_uint_eq(settings.listen_count, 2);
    ck_assert_str_eq(settings.listen[0].host, "127.0.0.1");
    ck_assert_uint_eq(settings.listen[0].port, 8080);
    ck_assert_str_eq(settings.listen[1].host, "::1");
    ck_assert_uint_eq(settings.listen[1].port, 8080);
    ck_assert_uint_eq(settings.model_count, 0);
    ck_assert_uint_eq(settings.workers, 0);
    ck_assert_uint_eq(settings.max_body, 268435456);
    ck_assert_uint_eq(settings.memory, 0);
    ck_assert_uint_eq(settings.max_json, 4194304);
    ck_assert_uint_eq(settings.max_swallow, 67108864);
    ck_assert_uint_eq(settings.idle, 90000);
    ck_assert_uint_eq(settings.headers, 10000);
    ck_assert_uint_eq(settings.body, 60000);
    ck_assert_uint_eq(settings.body_mebibyte, 1000);
    ck_assert_uint_eq(settings.stalled_body, 10000);
    ck_assert_uint_eq(settings.stalled_reader, 90000);
    ck_assert_uint_eq(settings.compute, 0);
    ck_assert_uint_eq(settings.swallow, 10000);
    ck_assert_uint_eq(settings.drain_delay, 0);
    ck_assert_uint_eq(settings.hosts.count, 0);
    ck_assert_uint_eq(settings.cors_origins.count, 2);
    ck_assert_str_eq(settings.cors_origins.items[0], "http://localhost:*");
    ck_assert_str_eq(settings.cors_origins.items[1], "http://127.0.0.1:*");
    ck_assert_ptr_null(settings.keys_file);
    ck_assert_uint_eq(settings.max_connections, 1024);
    ck_assert_uint_eq(settings.max_waiting, 64);
    ck_assert_uint_eq(settings.drain, 25);
    ck_assert_int_eq(settings.log_format, CFG_LOG_TEXT);
    ck_assert_int_eq(settings.log_level, CFG_LOG_INFO);
    done();
}
END_TEST

/* The shipped example says the same as the table. */
START_TEST(example_is_the_defaults) {
    load(LIST("--config", "config/attnd.json"), LIST());
    cfg_settings example = settings;
    cfg_problems_done(&problems);
    load(LIST(), LIST());
    for (size_t i = 0; i < cfg_row_count; i++) {
        const cfg_row *row = &cfg_rows[i];
        size_t size = row->kind == CFG_KIND_CHOICE ? sizeof(int) : sizeof(size_t);
        if (row->kind > CFG_KIND_CHOICE) continue;
        ck_assert_msg(memcmp((char *)&example + row->offset, (char *)&settings + row->offset, size) == 0,
                      "%s", row->path);
    }
    ck_assert_uint_eq(example.listen_count, settings.listen_count);
    for (size_t i = 0; i < settings.listen_count; i++) {
        ck_assert_str_eq(example.listen[i].host, settings.listen[i].host);
        ck_assert_uint_eq(example.listen[i].port, settings.listen[i].port);
    }
    ck_assert_uint_eq(example.model_count, 0);
    cfg_settings_done(&example);
    done();
}
END_TEST

/* What a test writes for a row, as text and as JSON, other than its default. */
typedef struct sample {
    char text[64], json[64];
} sample;

static sample sample_of(const cfg_row *row) {
    sample s = {"", ""};
    switch (row->kind) {
    case CFG_KIND_COUNT:
        snprintf(s.text, sizeof s.text, "%zu", row->most);
        snprintf(s.json, sizeof s.json, "%s", s.text);
        break;
    case CFG_KIND_BYTES:
        snprintf(s.text, sizeof s.text, "%s", "3MiB");
        snprintf(s.json, sizeof s.json, "%s", "\"3MiB\"");
        break;
    case CFG_KIND_CHOICE:
        for (int i = 0; row->choices[i]; i++)
            snprintf(s.text, sizeof s.text, "%s", row->choices[i]);
        snprintf(s.json, sizeof s.json, "\"%.60s\"", s.text);
        break;
    case CFG_KIND_TEXT:
        snprintf(s.text, sizeof s.text, "%s", "/etc/attnd/keys.json");
        snprintf(s.json, sizeof s.json, "%s", "\"/etc/attnd/keys.json\"");
        break;
    case CFG_KIND_HOSTS:
        snprintf(s.text, sizeof s.text, "%s", "[fd00::7]");
        snprintf(s.json, sizeof s.json, "%s", "[\"[fd00::7]\"]");
        break;
    case CFG_KIND_ORIGINS:
        snprintf(s.text, sizeof s.text, "%s", "https://app.example:*");
        snprintf(s.json, sizeof s.json, "%s", "[\"https://app.example:*\"]");
        break;
    case CFG_KIND_LISTEN:
        snprintf(s.text, sizeof s.text, "%s", "[fe80::2]:9");
        snprintf(s.json, sizeof s.json, "%s", "[\"[fe80::2]:9\"]");
        break;
    case CFG_KIND_MODEL:
        snprintf(s.text, sizeof s.text, "%s", "mine=a.safetensors");
        snprintf(s.json, sizeof s.json, "%s", "[{\"name\":\"mine\",\"path\":\"a.safetensors\"}]");
        break;
    case CFG_KIND_HEADS:
    case CFG_KIND_KV_HEADS: snprintf(s.text, sizeof s.text, "%s", "mine=7"); break;
    case CFG_KIND_CONFIG: break;
    }
    return s;
}

static void check_sample(const cfg_row *row) {
    const char *at = (const char *)&settings + row->offset;
    int last = 0;
    switch (row->kind) {
    case CFG_KIND_COUNT: ck_assert_msg(memcmp(at, &row->most, sizeof row->most) == 0, "%s", row->path); break;
    case CFG_KIND_BYTES:
        ck_assert_msg(memcmp(at, &(size_t){3145728}, sizeof(size_t)) == 0, "%s", row->path);
        break;
    case CFG_KIND_CHOICE:
        while (row->choices[last + 1])
            last++;
        ck_assert_msg(memcmp(at, &last, sizeof last) == 0, "%s", row->path);
        break;
    case CFG_KIND_TEXT: {
        char *text;
        memcpy(&text, at, sizeof text);
        ck_assert_str_eq(text, "/etc/attnd/keys.json");
        break;
    }
    case CFG_KIND_HOSTS:
    case CFG_KIND_ORIGINS: {
        cfg_texts texts;
        memcpy(&texts, at, sizeof texts);
        ck_assert_uint_eq(texts.count, 1);
        ck_assert_str_eq(texts.items[0], sample_of(row).text);
        break;
    }
    case CFG_KIND_LISTEN:
        ck_assert_uint_eq(settings.listen_count, 1);
        ck_assert_str_eq(settings.listen[0].host, "fe80::2");
        ck_assert_uint_eq(settings.listen[0].port, 9);
        break;
    case CFG_KIND_MODEL:
        ck_assert_uint_eq(settings.model_count, 1);
        ck_assert_str_eq(settings.models[0].name, "mine");
        ck_assert_str_eq(settings.models[0].path, "a.safetensors");
        ck_assert_uint_eq(settings.models[0].heads + settings.models[0].kv_heads, 0);
        break;
    case CFG_KIND_HEADS: ck_assert_uint_eq(settings.models[0].heads, 7); break;
    case CFG_KIND_KV_HEADS: ck_assert_uint_eq(settings.models[0].kv_heads, 7); break;
    case CFG_KIND_CONFIG: break;
    }
}

/* The row's line of cfg_show ends with this origin, and its value is the sample: what is shown can be set. */
static void check_shown(const cfg_row *row, const char *origin) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cfg_show(&settings, out);
    ck_assert_int_eq(fclose(out), 0);
    size_t lines = 0;
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n")) && *line) {
        if (&cfg_rows[lines++] != row) continue;
        char name[64], value[128], from[256];
        ck_assert_msg(sscanf(line, "%63s %127s %255[^\n]", name, value, from) == 3, "%s", line);
        ck_assert_str_eq(name, row->path);
        ck_assert_str_eq(value, sample_of(row).text);
        ck_assert_str_eq(from, origin);
    }
    ck_assert_uint_eq(lines, cfg_row_count);
    free(text);
}

static bool needs_a_model(const cfg_row *row) {
    return row->kind == CFG_KIND_HEADS || row->kind == CFG_KIND_KV_HEADS;
}

START_TEST(each_row_by_flag) {
    const cfg_row *row = &cfg_rows[_i];
    if (row->kind == CFG_KIND_CONFIG) return;
    sample s = sample_of(row);
    char joined[160];
    snprintf(joined, sizeof joined, "%s=%s", row->flag, s.text);
    char *model = needs_a_model(row) ? "--model=mine=x" : "one";
    load(LIST(model, (char *)row->flag, s.text, "two"), LIST());
    check_sample(row);
    char origin[64];
    snprintf(origin, sizeof origin, "flag %s", row->flag);
    check_shown(row, origin);
    ck_assert_str_eq(settings.arguments[settings.argument_count - 1], "two");
    done();
    load(LIST(model, joined), LIST());
    check_sample(row);
    done();
}
END_TEST

START_TEST(each_row_by_environment) {
    const cfg_row *row = &cfg_rows[_i];
    if (row->kind == CFG_KIND_CONFIG) return;
    sample s = sample_of(row);
    char variable[160];
    snprintf(variable, sizeof variable, "%s=%s", row->environment, s.text);
    load(LIST(), LIST("HOME=/", needs_a_model(row) ? "ATTND_MODEL=mine=x" : "X=", variable));
    check_sample(row);
    char origin[128];
    snprintf(origin, sizeof origin, "environment %s", row->environment);
    check_shown(row, origin);
    done();
}
END_TEST

START_TEST(each_row_by_file) {
    const cfg_row *row = &cfg_rows[_i];
    if (row->kind == CFG_KIND_CONFIG) return;
    char text[256];
    const char *dot = strchr(row->path, '.');
    if (needs_a_model(row)) {
        snprintf(text, sizeof text, "{\"models\":[{\"name\":\"mine\",\"path\":\"x\",\"%s\":7}]}", dot + 1);
    } else if (dot) {
        snprintf(text, sizeof text, "{\"%.*s\":{\"%s\":%s}}", (int)(dot - row->path), row->path, dot + 1,
                 sample_of(row).json);
    } else {
        snprintf(text, sizeof text, "{\"%s\":%s}", row->path, sample_of(row).json);
    }
    char *file = write_file(text);
    load(LIST("--config", file), LIST());
    check_sample(row);
    char origin[128];
    snprintf(origin, sizeof origin, "file %s", file);
    check_shown(row, origin);
    done();

    char variable[160];
    snprintf(variable, sizeof variable, "ATTND_CONFIG=%s", file);
    load(LIST(), LIST(variable));
    check_sample(row);
    done();
}
END_TEST

START_TEST(the_stronger_source_wins) {
    char *file = write_file("{\"engine\":{\"workers\":1},\"limits\":{\"max_body\":1,\"max_waiting\":7},"
                            "\"server\":{\"listen\":[\"a:1\",\"b:2\"]},"
                            "\"models\":[{\"name\":\"m\",\"path\":\"f\",\"heads\":2},"
                            "{\"name\":\"n\",\"path\":\"g\",\"heads\":4,\"kv_heads\":1}]}");
    load(LIST("--workers", "3", "--config", file, "--heads", "n=16"),
         LIST("ATTND_WORKERS=2", "ATTND_MAX_BODY=2KiB", "ATTND_HEADS=m=3,n=5", "ATTND_LISTEN=c:3"));
    ck_assert_uint_eq(settings.workers, 3);
    ck_assert_uint_eq(settings.max_body, 2048);
    ck_assert_uint_eq(settings.max_waiting, 7);
    ck_assert_uint_eq(settings.listen_count, 1);
    ck_assert_str_eq(settings.listen[0].host, "c");
    ck_assert_uint_eq(settings.model_count, 2);
    ck_assert_uint_eq(settings.models[0].heads, 3);
    ck_assert_uint_eq(settings.models[1].heads, 16);
    ck_assert_uint_eq(settings.models[1].kv_heads, 1);
    done();

    /* A stronger list of models takes the weaker one's heads with it. */
    load(LIST("--config", file, "--model", "n=other", "--model", "p=a,b"), LIST());
    ck_assert_uint_eq(settings.model_count, 2);
    ck_assert_str_eq(settings.models[0].path, "other");
    ck_assert_uint_eq(settings.models[0].heads, 0);
    ck_assert_str_eq(settings.models[1].path, "a,b");
    done();
}
END_TEST

/* An empty list in the file means none, not the default; a stronger source may still name some. */
START_TEST(empty_lists_are_empty) {
    char *file = write_file("{\"server\":{\"hosts\":[],\"cors_origins\":[]},\"models\":[]}");
    load(LIST("--config", file), LIST());
    ck_assert_uint_eq(settings.cors_origins.count, 0);
    ck_assert_uint_eq(settings.hosts.count, 0);
    ck_assert_uint_eq(settings.model_count, 0);
    ck_assert_uint_eq(settings.listen_count, 2);
    done();
    load(LIST("--config", file, "--model", "m=x"), LIST("ATTND_CORS_ORIGINS=null"));
    ck_assert_uint_eq(settings.cors_origins.count, 1);
    ck_assert_str_eq(settings.cors_origins.items[0], "null");
    ck_assert_uint_eq(settings.model_count, 1);
    done();
    /* Nowhere to listen is no daemon. */
    file = write_file("{\"server\":{\"listen\":[]}}");
    refuse(LIST("--config", file), LIST());
    ck_assert_uint_eq(problems.count, 1);
    ck_assert_msg(strstr(problems.lines[0], ", server.listen: an empty list; HOST:PORT belongs here") != NULL,
                  "%s", problems.lines[0]);
    done();
}
END_TEST

/* A single text of a stronger source goes before the weaker one's. */
START_TEST(texts_follow_what_wins) {
    char *file = write_file("{\"auth\":{\"keys_file\":\"weak\"}}");
    load(LIST("--config", file), LIST("ATTND_KEYS_FILE=strong"));
    ck_assert_str_eq(settings.keys_file, "strong");
    done();
    refuse(LIST("--keys-file", ""), LIST());
    ck_assert_uint_eq(problems.count, 1);
    done();
}
END_TEST

/* Numbers by name, as the daemon tells its clients. */
START_TEST(numbers_are_named) {
    load(LIST("--max-body", "5", "--drain=7"), LIST());
    const char *name;
    size_t number, seen = 0, i = 0;
    for (; cfg_number_at(&settings, i, &name, &number); i++) {
        if (strcmp(name, "limits.max_body") == 0) seen += number == 5;
        if (strcmp(name, "timeouts.drain") == 0) seen += number == 7;
        ck_assert_ptr_nonnull(cfg_row_find(CFG_BY_PATH, name, strlen(name)));
    }
    ck_assert_uint_eq(seen, 2);
    ck_assert(!cfg_number_at(&settings, i + 1, &name, &number));
    done();
}
END_TEST

/* Where heads come from is told of those in force. */
START_TEST(origins_follow_what_wins) {
    char *file = write_file("{\"models\":[{\"name\":\"mine\",\"path\":\"x\",\"heads\":7}]}"), *text = NULL;
    size_t size = 0;
    load(LIST("--config", file, "--model", "new=y\nz"), LIST());
    FILE *out = open_memstream(&text, &size);
    cfg_show(&settings, out);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_msg(strstr(text, "new=y?z") && strstr(text, "flag --model\n"), "%s", text);
    const char *heads = strstr(text, "models[].heads");
    ck_assert_msg(heads && strspn(heads + 14, " -") > 2 &&
                      strncmp(strstr(heads, "default"), "default\n", 8) == 0,
                  "%s", text);
    ck_assert_ptr_null(strstr(text, "mine"));
    free(text);
    done();
}
END_TEST

START_TEST(lists_in_the_environment) {
    load(LIST(), LIST("ATTND_MODEL=a=x,b=y=z", "ATTND_LISTEN=[::]:0,localhost:65535"));
    ck_assert_uint_eq(settings.model_count, 2);
    ck_assert_str_eq(settings.models[0].name, "a");
    ck_assert_str_eq(settings.models[1].name, "b");
    ck_assert_str_eq(settings.models[1].path, "y=z");
    ck_assert_str_eq(settings.listen[0].host, "::");
    ck_assert_uint_eq(settings.listen[0].port, 0);
    ck_assert_uint_eq(settings.listen[1].port, 65535);
    done();
}
END_TEST

START_TEST(every_problem_at_once) {
    char *file = write_file("{\"engine\":{\"worker\":1},\"limits\":{\"max_body\":1.5,\"max_waiting\":0}}");
    refuse(LIST("--config", file, "--max-conections", "--workers=2000", "--heads", "mine=8", "--log-level",
                "loud", "--listen"),
           LIST("ATTND_WORKERS=x", "ATTND_MAXBODY=1", "ATTND_MODEL=nopath", "ATTND_MEMORY=1TB"));
    const struct {
        const char *origin, *text;
    } wanted[] = {
        {"flag --max-conections: ", "unknown; the nearest flag is --max-connections"},
        {"flag --listen: ", "no value follows; HOST:PORT belongs here"},
        {"file ", "/settings.json, engine.worker: unknown; the nearest setting is engine.workers"},
        {"file ", "limits.max_body: a number with a fraction or an exponent; "
                  "a whole number or a string such as \"256MiB\" belongs here"},
        {"file ", "limits.max_waiting: '0' is not a whole number from 1 to 65536"},
        {"environment ATTND_WORKERS: ", "'x' is not a whole number from 0 to 1024"},
        {"environment ATTND_MAXBODY: ", "unknown; the nearest variable is ATTND_MAX_BODY"},
        {"environment ATTND_MODEL: ", "'nopath' is not NAME=PATH, such as mine=weights.safetensors"},
        {"environment ATTND_MEMORY: ",
         "'1TB' is not a number of bytes from 0 to 1152921504606846976, such as 1048576, "
         "64KiB, 256MiB or 2GiB"},
        {"flag --workers: ", "'2000' is not a whole number from 0 to 1024"},
        {"flag --log-level: ", "'loud' is not one of error, warning, info, debug"},
        {"flag --heads: ", "no model 'mine' is configured; --model mine=PATH does that"},
    };
    ck_assert_uint_eq(problems.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < problems.count; i++) {
        const char *line = problems.lines[i];
        ck_assert_msg(strncmp(line, wanted[i].origin, strlen(wanted[i].origin)) == 0, "%s", line);
        size_t length = strlen(line), tail = strlen(wanted[i].text);
        ck_assert_msg(length >= tail && strcmp(line + length - tail, wanted[i].text) == 0, "%s", line);
    }
    cfg_problems_done(&problems);
}
END_TEST

/* Each setting that is accepted, with a request's header that it matches: nothing is refused that could be met. */
static const struct {
    char *flag, *value, *met;
} matching[] = {
    {"--cors-origin", "https://app.example.com", "https://app.example.com"},
    {"--cors-origin", "https://app.example.com:80", "https://app.example.com:80"},
    {"--cors-origin", "http://app:443", "http://app:443"},
    {"--cors-origin", "http://app:65535", "http://app:65535"},
    {"--cors-origin", "HTTPS://App.Example", "https://app.example"},
    {"--cors-origin", "http://localhost:*", "http://localhost:5173"},
    {"--cors-origin", "http://10.0.0.7:*", "http://10.0.0.7"},
    {"--cors-origin", "http://[::1]:5173", "http://[::1]:5173"},
    {"--cors-origin", "http://[fd00::7]:*", "http://[fd00::7]:1"},
    {"--cors-origin", "chrome-extension://abcdef", "chrome-extension://abcdef"},
    {"--cors-origin", "http://a_b-c.xn--mnchen-3ya.de", "http://a_b-c.xn--mnchen-3ya.de"},
    {"--cors-origin", "null", "null"},
    {"--cors-origin", "*", "https://app.example"},
    {"--host", "api.example.com", "api.example.com:443"},
    {"--host", "10.0.0.7", "10.0.0.7:8080"},
    {"--host", "[fd00::7]", "[FD00::7]:8080"},
    {"--host", "my_box", "my_box"},
    {"--host", "*", "whoever.example"},
};

START_TEST(what_can_match_is_accepted) {
    load(LIST(matching[_i].flag, matching[_i].value), LIST());
    bool is_host = strcmp(matching[_i].flag, "--host") == 0;
    const cfg_texts *texts = is_host ? &settings.hosts : &settings.cors_origins;
    srv_patterns patterns = {(const char *const *)texts->items, texts->count};
    ck_assert(is_host ? srv_host_is_valid(matching[_i].met) && srv_host_is_listed(patterns, matching[_i].met)
                      : srv_origin_is_allowed(patterns, matching[_i].met));
    done();
}
END_TEST

#define NOT_ORIGIN(text)                                                                                     \
    "'" text "' is not an origin as browsers send it: SCHEME://HOST[:PORT or :*] and no path, such as "      \
    "https://app.example.com; null; or * for any"
#define NOT_HOST(text) "'" text "' is not a name or address without scheme and port, such as "

/* One bad value each; the line must hold `says`. */
static const struct {
    char *flag, *value, *says;
} bad_values[] = {
    {"--workers", "", "'' is not a whole number"},
    {"--workers", "-1", "'-1' is not"},
    {"--workers", "+1", "'+1' is not"},
    {"--workers", " 1", "' 1' is not"},
    {"--workers", "1e2", "'1e2' is not"},
    {"--workers", "18446744073709551617", "is not a whole number"},
    {"--max-body", "0", "'0' is not a number of bytes from 1"},
    {"--max-body", "MiB", "'MiB' is not"},
    {"--max-body", "1.5GiB", "'1.5GiB' is not"},
    {"--max-body", "17179869184GiB", "is not a number of bytes"},
    {"--max-body", "1mib", "'1mib' is not"},
    {"--listen", "8080", "'8080' is not HOST:PORT"},
    {"--listen", ":8080", "':8080' is not HOST:PORT"},
    {"--listen", "::1:8080", "'::1:8080' is not HOST:PORT"},
    {"--listen", "[]:80", "'[]:80' is not HOST:PORT"},
    {"--listen", "[::1:80", "'[::1:80' is not HOST:PORT"},
    {"--listen", "[:80", "'[:80' is not HOST:PORT"},
    {"--listen", "a:65536", "'a:65536' is not HOST:PORT"},
    {"--listen", "a:", "'a:' is not HOST:PORT"},
    {"--model", "=x", "'=x' is not NAME=PATH"},
    {"--model", "x=", "'x=' is not NAME=PATH"},
    {"--heads", "8", "'8' is not NAME=H"},
    {"--heads", "=8", "'=8' is not NAME=H"},
    {"--heads", "m=0", "'0' is not a whole number from 1"},
    {"--cors-origin", "", NOT_ORIGIN("")},
    {"--cors-origin", "https://app.example.com/", NOT_ORIGIN("https://app.example.com/")},
    {"--cors-origin", "app2.example.com", NOT_ORIGIN("app2.example.com")},
    {"--cors-origin", "https://*.ex.com", NOT_ORIGIN("https://*.ex.com")},
    {"--cors-origin", "http://localhost:5173/app", NOT_ORIGIN("http://localhost:5173/app")},
    {"--cors-origin", "localhost:*", NOT_ORIGIN("localhost:*")},
    {"--cors-origin", "*:*", NOT_ORIGIN("*:*")},
    {"--cors-origin", "file://", NOT_ORIGIN("file://")},
    {"--cors-origin", "https:/app", NOT_ORIGIN("https:/app")},
    {"--cors-origin", "https://a b", NOT_ORIGIN("https://a b")},
    {"--cors-origin", "https://a'; rm x", NOT_ORIGIN("https://a'; rm x")},
    {"--cors-origin", "https://a,https://b", NOT_ORIGIN("https://a,https://b")},
    {"--cors-origin", "a b://box", NOT_ORIGIN("a b://box")},
    {"--cors-origin", "https://box:port", NOT_ORIGIN("https://box:port")},
    {"--cors-origin", "://app", NOT_ORIGIN("://app")},
    {"--cors-origin", "1http://app", NOT_ORIGIN("1http://app")},
    {"--cors-origin", "http://", NOT_ORIGIN("http://")},
    {"--cors-origin", "http://:80", NOT_ORIGIN("http://:80")},
    {"--cors-origin", "http://me@app", NOT_ORIGIN("http://me@app")},
    {"--cors-origin", "http://app:", NOT_ORIGIN("http://app:")},
    {"--cors-origin", "http://app:080", NOT_ORIGIN("http://app:080")},
    {"--cors-origin", "http://app:65536", NOT_ORIGIN("http://app:65536")},
    {"--cors-origin", "http://app:100000", NOT_ORIGIN("http://app:100000")},
    {"--cors-origin", "http://app:8*", NOT_ORIGIN("http://app:8*")},
    {"--cors-origin", "http://::1", NOT_ORIGIN("http://::1")},
    {"--cors-origin", "http://[::1", NOT_ORIGIN("http://[::1")},
    {"--cors-origin", "http://[0:0:0:0:0:0:0:1]", NOT_ORIGIN("http://[0:0:0:0:0:0:0:1]")},
    {"--cors-origin", "http://127.1", NOT_ORIGIN("http://127.1")},
    {"--cors-origin", "http://m\xc3\xbcnchen.de", NOT_ORIGIN("http://m\xc3\xbcnchen.de")},
    {"--cors-origin", "https://app:443",
     "'https://app:443' is not an origin as browsers send it: they leave out the scheme's own port"},
    {"--cors-origin", "http://[::1]:80", "it: they leave out the scheme's own port"},
    {"--host", "", NOT_HOST("")},
    {"--host", "a.b:80", NOT_HOST("a.b:80")},
    {"--host", "http://c.d", NOT_HOST("http://c.d")},
    {"--host", "*.x.com", NOT_HOST("*.x.com")},
    {"--host", "a.b/", NOT_HOST("a.b/")},
    {"--host", "::1", NOT_HOST("::1")},
    {"--host", "[]", NOT_HOST("[]")},
    {"--host", "[::1", NOT_HOST("[::1")},
    {"--host", "[::1]:80", NOT_HOST("[::1]:80")},
    {"--host", "[a.b]", NOT_HOST("[a.b]")},
    {"--log-format", "TEXT", "'TEXT' is not one of text, json"},
    {"--log-level", "a\nb", "'a?b' is not one of"},
    {"--config", "/nonexistent/attnd.json", "file /nonexistent/attnd.json: "},
};

START_TEST(bad_value_is_refused) {
    refuse(LIST(bad_values[_i].flag, bad_values[_i].value), LIST());
    ck_assert_uint_eq(problems.count, 1);
    ck_assert_msg(strstr(problems.lines[0], bad_values[_i].says) != NULL, "%s", problems.lines[0]);
    ck_assert_ptr_null(strchr(problems.lines[0], '\n'));
    cfg_problems_done(&problems);
}
END_TEST

static const struct {
    char *text, *says;
} bad_files[] = {
    {"", "line 1: "},
    {"[]", ": a list; an object belongs here"},
    {"{\"log\":{\"level\":\"info\",}}", "line 1: "},
    {"{\"//\":\"a comment\"}", "//: unknown"},
    {"{\"log\":{\"level\":\"info\",\"level\":\"debug\"}}", "duplicate"},
    {"{\"log\":null}", "log: null; an object belongs here"},
    {"{\"log\":{\"level\":1}}", "log.level: a whole number; a string belongs here"},
    {"{\"engine\":{\"workers\":\"2\"}}", "engine.workers: a string; a whole number belongs here"},
    {"{\"server\":{\"listen\":\"a:1\"}}", "server.listen: a string; a list of strings belongs here"},
    {"{\"server\":{\"listen\":[\"a:1\",7]}}", "server.listen[1]: a whole number; a string belongs here"},
    {"{\"server\":{\"listen\":[\"a:1\\u0000b\"]}}", "line 1: "},
    {"{\"models\":[{\"name\":\"m\"}]}", "models[0].path: nothing; a string belongs here"},
    {"{\"models\":[{\"name\":\"m\",\"path\":\"x\"},{\"name\":7,\"path\":\"y\"}]}",
     "models[1].name: a whole number; a string belongs here"},
    {"{\"models\":[{\"path\":\"m=x\"}]}", "models[0].name: nothing; a string belongs here"},
    {"{\"models\":[\"m=x\"]}", "models[0]: a string; an object"},
    {"{\"models\":[{\"name\":\"m\",\"path\":\"x\",\"head\":1}]}",
     "models[0].head: unknown; a model has name, path, heads, kv_heads"},
    {"{\"models\":[{\"name\":\"m\",\"path\":\"x\",\"heads\":\"8\"}]}",
     "models[0].heads: a string; a whole number"},
    {"{\"models\":[{\"name\":\"m\",\"path\":\"x\"},{\"name\":\"m\",\"path\":\"y\"}]}",
     "models[1]: model 'm' is given twice"},
    {"{\"models[]\":{\"heads\":1}}", "models[].heads: unknown"},
    {"{\"model\":[]}", "model: unknown; the nearest setting is models"},
    {"{\"engine\":{\"blas\":1}}", "engine.blas: unknown; 'attnd help serve' lists the settings"},
    {"{\"listen\":[]}", "listen: unknown; 'attnd help serve' lists the settings"},
};

START_TEST(bad_file_is_refused) {
    refuse(LIST("--config", write_file(bad_files[_i].text)), LIST());
    ck_assert_uint_eq(problems.count, 1);
    ck_assert_msg(strstr(problems.lines[0], bad_files[_i].says) != NULL, "%s", problems.lines[0]);
    cfg_problems_done(&problems);
}
END_TEST

/* What both names begin with in any case is no likeness. */
START_TEST(a_name_unlike_all_is_told_where_they_are_listed) {
    refuse(LIST("--batch=1", "--dir=x", "--hosts=a"), LIST("ATTND_BINARY=x", "ATTND_HOST=a"));
    const char *const lines[] = {"flag --batch: unknown; --help lists the flags",
                                 "flag --dir: unknown; --help lists the flags",
                                 "flag --hosts: unknown; the nearest flag is --host",
                                 "environment ATTND_BINARY: unknown; 'attnd help serve' lists the variables",
                                 "environment ATTND_HOST: unknown; the nearest variable is ATTND_HOSTS"};
    check_problems(lines, sizeof lines / sizeof *lines);
}
END_TEST

/* One that sets a setting is named in its problems as it was typed, and told of one alike. */
START_TEST(a_command_has_flags_of_its_own) {
    load(LIST("--address", "a:1", "--address=b:2", "--listen", "c:3"), LIST());
    ck_assert_uint_eq(settings.listen_count, 3);
    ck_assert_str_eq(settings.listen[0].host, "a");
    ck_assert_str_eq(settings.listen[1].host, "b");
    done();
    refuse(LIST("--address=8080", "--shw", "--adress", "a:1", "--show", "--address"), LIST());
    const char *const lines[] = {
        "flag --shw: unknown; the nearest flag is --show",
        "flag --adress: unknown; the nearest flag is --address",
        "flag --show: unknown; the nearest flag is --show",
        "flag --address: no value follows; HOST:PORT belongs here",
        ("flag --address: '8080' is not HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or "
         "127.0.0.1:0")};
    check_problems(lines, sizeof lines / sizeof *lines);
}
END_TEST

/* A flag of one value stands once, whatever the other sources say; of heads, each source has one for a model. */
START_TEST(nothing_is_given_twice) {
    refuse(LIST("--workers", "2", "--workers=3", "--log-level", "info", "--log-level=info", "--config",
                "/nonexistent", "--config=/nonexistent", "--model", "a=x", "--heads", "a=4", "--kv-heads=a=2",
                "--heads", "a=8"),
           LIST("ATTND_WORKERS=1", "ATTND_KV_HEADS=a=1,a=1"));
    const char *const lines[] = {"environment ATTND_KV_HEADS: the heads of model 'a' are given twice",
                                 "flag --workers: given again, by '3'; it may be given once",
                                 "flag --log-level: given again, by 'info'; it may be given once",
                                 "flag --config: given again, by '/nonexistent'; it may be given once",
                                 "flag --heads: the heads of model 'a' are given twice"};
    ck_assert_uint_eq(problems.count, 1 + sizeof lines / sizeof *lines);
    ck_assert_msg(strncmp(problems.lines[0], "file /nonexistent: ", 19) == 0, "%s", problems.lines[0]);
    for (size_t i = 1; i < problems.count; i++)
        ck_assert_str_eq(problems.lines[i], lines[i - 1]);
    cfg_problems_done(&problems);
    load(LIST("--model=a=x", "--model=ab=y", "--heads=a=4", "--heads=ab=8", "--workers=2"),
         LIST("ATTND_HEADS=a=2", "ATTND_WORKERS=1"));
    ck_assert_uint_eq(settings.models[0].heads, 4);
    ck_assert_uint_eq(settings.models[1].heads, 8);
    ck_assert_uint_eq(settings.workers, 2);
    done();
}
END_TEST

START_TEST(arguments_are_left) {
    load(LIST("request.json", "-", "--workers", "2", "--", "--workers", "-h"), LIST());
    ck_assert_uint_eq(settings.workers, 2);
    ck_assert_uint_eq(settings.argument_count, 4);
    ck_assert_str_eq(settings.arguments[0], "request.json");
    ck_assert_str_eq(settings.arguments[1], "-");
    ck_assert_str_eq(settings.arguments[2], "--workers");
    ck_assert_str_eq(settings.arguments[3], "-h");
    done();
}
END_TEST

START_TEST(foreign_variables_pass) {
    load(LIST(),
         LIST("ATTND_SERVICE_HOST=10.0.0.1", "ATTND_PORT=tcp://10.0.0.1:80", "ATTND_PORT_80_TCP_PROTO=tcp",
              "ATTND_WORKERS=", "ATTND_CONFIG=", CFG_MARK_BLAS_CORE "=SkylakeX", "attnd_workers=x"));
    ck_assert_uint_eq(settings.workers, 0);
    done();
}
END_TEST

START_TEST(help_names_every_row) {
    char *argv[] = {"--wrong", "-h"};
    ck_assert_int_eq(cfg_load(2, argv, NULL, LIST(), &settings, &problems), CFG_HELP_WANTED);
    cfg_problems_done(&problems);

    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cfg_help(out);
    ck_assert_int_eq(fclose(out), 0);
    for (size_t i = 0; i < cfg_row_count; i++) {
        ck_assert_ptr_nonnull(strstr(text, cfg_rows[i].flag));
        ck_assert_ptr_nonnull(strstr(text, cfg_rows[i].environment));
        if (cfg_rows[i].path) ck_assert_ptr_nonnull(strstr(text, cfg_rows[i].path));
    }
    free(text);
}
END_TEST

ATTND_SUITE(cfg) {
    Suite *suite = suite_create("cfg");
    TCase *tests = tcase_create("settings");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, example_is_the_defaults);
    tcase_add_loop_test(tests, each_row_by_flag, 0, (int)cfg_row_count);
    tcase_add_loop_test(tests, each_row_by_environment, 0, (int)cfg_row_count);
    tcase_add_loop_test(tests, each_row_by_file, 0, (int)cfg_row_count);
    tcase_add_test(tests, the_stronger_source_wins);
    tcase_add_test(tests, empty_lists_are_empty);
    tcase_add_test(tests, texts_follow_what_wins);
    tcase_add_test(tests, numbers_are_named);
    tcase_add_test(tests, origins_follow_what_wins);
    tcase_add_test(tests, lists_in_the_environment);
    tcase_add_test(tests, every_problem_at_once);
    tcase_add_loop_test(tests, what_can_match_is_accepted, 0, (int)(sizeof matching / sizeof *matching));
    tcase_add_loop_test(tests, bad_value_is_refused, 0, (int)(sizeof bad_values / sizeof *bad_values));
    tcase_add_loop_test(tests, bad_file_is_refused, 0, (int)(sizeof bad_files / sizeof *bad_files));
    tcase_add_test(tests, a_name_unlike_all_is_told_where_they_are_listed);
    tcase_add_test(tests, a_command_has_flags_of_its_own);
    tcase_add_test(tests, nothing_is_given_twice);
    tcase_add_test(tests, arguments_are_left);
    tcase_add_test(tests, foreign_variables_pass);
    tcase_add_test(tests, help_names_every_row);
    suite_add_tcase(suite, tests);
    return suite;
}
