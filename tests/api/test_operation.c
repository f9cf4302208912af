/* What operators run beside the daemon: config, check, health. */
#include "api.h"

#include "tests/support/fixtures.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* That a line begins so and ends so. */
static void assert_line(const char *text, const char *start, const char *end) {
    const char *line = strstr(text, start);
    ck_assert_msg(line && (line == text || line[-1] == '\n'), "no '%s' in\n%s", start, text);
    const char *stop = strchr(line, '\n');
    ck_assert_msg(stop && (size_t)(stop - line) >= strlen(end) &&
                      strncmp(stop - strlen(end), end, strlen(end)) == 0,
                  "'%s' does not end '%s'", line, end);
}

START_TEST(config_tells_values_and_origins) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "attnd.json"), origin[300];
    static const char file[] = "{\"limits\":{\"max_waiting\":7},\"engine\":{\"workers\":3}}";
    st_write_bytes(path, file, strlen(file));
    const char *const argv[] = {process_attnd(), "config", "--config", path, "--max-body", "5MiB", NULL};
    process_result result =
        process_run(argv, (const char *const[]){"ATTND_WORKERS=2", "ATTND_LISTEN=[::]:9", NULL}, NULL, 0);
    ck_assert_msg(result.code == 0 && !result.errors[0], "%d %s", result.code, result.errors);
    snprintf(origin, sizeof origin, " file %s", path);
    assert_line(result.output, "limits.max_waiting ", origin);
    assert_line(result.output, "engine.workers ", " environment ATTND_WORKERS");
    assert_line(result.output, "server.listen ", " [::]:9                       environment ATTND_LISTEN");
    assert_line(result.output, "limits.max_body ", " 5MiB                         flag --max-body");
    assert_line(result.output, "timeouts.drain ", " default");
    process_result_done(&result);
    result = process_run_attnd("config", "--workers", "x", "--max-body", "y", NULL);
    ck_assert_int_eq(result.code, 2);
    ck_assert_str_eq(result.output, "");
    ck_assert_uint_eq(count_lines(result.errors), 2);
    process_result_done(&result);
    free(path);
    temporary_remove(folder);
}
END_TEST

START_TEST(check_loads_without_a_port) {
    process_result result = process_run_attnd("check", NULL);
    ck_assert_msg(result.code == 0 && !result.errors[0], "%d %s", result.code, result.errors);
    assert_line(result.output, "tiny: seeded, layers 1, d_model 4, heads 2, ", "bytes 320");
    assert_line(result.output, "demo: ", "");
    assert_line(result.output, "plain: parameter-free, layers 1, d_model any, ", "");
    ck_assert_uint_eq(count_lines(result.output), 3);
    process_result_done(&result);
    /* An address that a daemon has is no matter. */
    char listen[64];
    snprintf(listen, sizeof listen, "127.0.0.1:%d", api_daemon.port);
    result = process_run_attnd("check", "--listen", listen, NULL);
    ck_assert_int_eq(result.code, 0);
    process_result_done(&result);
}
END_TEST

/* Hosts and origins that no request could match: whatever loads the settings refuses them, all at once. */
START_TEST(what_never_matches_is_refused) {
    static const char *const commands[] = {"serve", "check", "config"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        process_result result = process_run_attnd(commands[i], "--listen", "127.0.0.1:0", "--cors-origin",
                                                  "https://app.example.com/", "--cors-origin",
                                                  "https://fine.example", "--host", "a.b:80", NULL);
        ck_assert_int_eq(result.code, 2);
        ck_assert_str_eq(result.output, "");
        ck_assert_uint_eq(count_lines(result.errors), 2);
        ck_assert_msg(
            strstr(result.errors, ": flag --cors-origin: 'https://app.example.com/' is not an origin ") &&
                strstr(result.errors, ": flag --host: 'a.b:80' is not a name or address "),
            "%s", result.errors);
        process_result_done(&result);
    }
}
END_TEST

/* Flags that only one command has: named as typed, and told where one is alike. */
START_TEST(flags_of_a_command_are_named) {
    static const struct {
        const char *words[3], *told;
    } cases[] = {
        {{"health", "--address", "8080"}, "attnd health: flag --address: '8080' is not HOST:PORT"},
        {{"health", "--adress", NULL},
         "attnd health: flag --adress: unknown; the nearest flag is --address\n"},
        {{"run", "--shw", NULL}, "attnd run: flag --shw: unknown; the nearest flag is --show\n"},
        {{"run", "--outptu", NULL}, "attnd run: flag --outptu: unknown; the nearest flag is --output\n"},
        {{"run", "--qery", NULL}, "attnd run: flag --qery: unknown; the nearest flag is --query\n"},
        {{"run", "--layer", NULL}, "attnd run: flag --layer: unknown; --help lists the flags\n"},
        {{"example", "--layr", NULL}, "attnd example: flag --layr: unknown; the nearest flag is --layer\n"},
        {{"bench", "--quik", NULL}, "attnd bench: flag --quik: unknown; the nearest flag is --quick\n"},
        {{"serve", "--workes", NULL}, "attnd serve: flag --workes: unknown; the nearest flag is --workers\n"},
        {{"serve", "--port", NULL}, "attnd serve: flag --port: unknown; --help lists the flags\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *words = cases[i].words;
        process_result result = process_run_attnd(words[0], words[1], words[2], NULL);
        ck_assert_int_eq(result.code, 2);
        ck_assert_msg(strncmp(result.errors, cases[i].told, strlen(cases[i].told)) == 0, "%s", result.errors);
        ck_assert_uint_eq(count_lines(result.errors), 1);
        process_result_done(&result);
    }
}
END_TEST

START_TEST(check_tells_every_problem) {
    char *folder = temporary_folder(), *good = temporary_path(folder, "good.safetensors"),
         *bad = temporary_path(folder, "bad.safetensors"), first[300], second[300];
    fixture_identity(good, 2, NULL);
    st_write_bytes(bad, "nonsense", 8);
    snprintf(first, sizeof first, "good=%s", good);
    snprintf(second, sizeof second, "bad=%s", bad);
    process_result result = process_run_attnd("check", "--model", "a=/nonexistent", "--model", first,
                                              "--model", second, "--model", "good2=/nonexistent2", NULL);
    ck_assert_int_eq(result.code, 2);
    ck_assert_uint_eq(count_lines(result.output), 1);
    assert_line(result.output, "good: torch.nn.MultiheadAttention, layers 1, ", "good.safetensors");
    ck_assert_msg(strstr(result.errors, "/nonexistent:") && strstr(result.errors, bad) &&
                      strstr(result.errors, "/nonexistent2:"),
                  "%s", result.errors);
    ck_assert_uint_eq(count_lines(result.errors), 3);
    process_result_done(&result);
    free(good);
    free(bad);
    temporary_remove(folder);
}
END_TEST

START_TEST(health_tells_ready) {
    static const char *const hosts[] = {"127.0.0.1", "0.0.0.0"};
    char address[64];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        snprintf(address, sizeof address, "%s:%d", hosts[i], api_daemon.port);
        for (int by_flag = 0; by_flag < 2; by_flag++) {
            process_result result =
                process_run_attnd("health", by_flag ? "--address" : "--listen", address, NULL);
            ck_assert_msg(result.code == 0 && strstr(result.output, ": ready\n"), "%s: %d %s%s", address,
                          result.code, result.output, result.errors);
            ck_assert_uint_eq(count_lines(result.output), 1);
            process_result_done(&result);
        }
    }
    /* As in a container: the same environment as the daemon's, no flags; the first address does not answer. */
    snprintf(address, sizeof address, "ATTND_LISTEN=[::1]:1,127.0.0.1:%d", api_daemon.port);
    const char *const argv[] = {process_attnd(), "health", NULL};
    process_result result = process_run(argv, (const char *const[]){address, NULL}, NULL, 0);
    ck_assert_msg(result.code == 0, "%s", result.output);
    process_result_done(&result);
}
END_TEST

/* A listening socket that answers one client with this and closes; the port. */
static int answer_once(const char *bytes, pid_t *child) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    *child = fork();
    if (*child == 0) {
        int client = accept(listener, NULL, NULL);
        char request[512];
        ssize_t sent =
            recv(client, request, sizeof request, 0) > 0 ? send(client, bytes, strlen(bytes), 0) : -1;
        shutdown(client, SHUT_WR);
        recv(client, request, sizeof request, 0);
        _exit(sent == (ssize_t)strlen(bytes) ? 0 : 1);
    }
    close(listener);
    return ntohs(address.sin_port);
}

static const struct {
    const char *bytes, *says;
} unhealthy[] = {
    {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}", ": not ready: status 503\n"},
    {"HTTP/1.1 503 Service Unavailable\r\n\r\n{\"detail\":\"the models are being loaded\"}",
     ": not ready: status 503, the models are being loaded\n"},
    {"HTTP/1.1 2000 Odd\r\n\r\n", ": not ready: "},
    {"SSH-2.0-x\r\n", ": not ready: no HTTP is spoken there\n"},
    {"", ": not ready: "},
};

START_TEST(health_tells_what_is_wrong) {
    pid_t child;
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%d", answer_once(unhealthy[_i].bytes, &child));
    process_result result = process_run_attnd("health", "--address", address, NULL);
    ck_assert_msg(result.code == 1 && strstr(result.output, unhealthy[_i].says), "%d %s", result.code,
                  result.output);
    ck_assert_uint_eq(count_lines(result.output), 1);
    process_result_done(&result);
}
END_TEST

START_TEST(health_without_a_daemon) {
    process_result result = process_run_attnd("health", "--address", "127.0.0.1:1", NULL);
    ck_assert_int_eq(result.code, 1);
    ck_assert_str_eq(result.output, "127.0.0.1:1: not ready: Connection refused\n");
    process_result_done(&result);
    result = process_run_attnd("health", "--address", "127.0.0.1:0", NULL);
    ck_assert_int_eq(result.code, 1);
    ck_assert_msg(strstr(result.output, "--address HOST:PORT"), "%s", result.output);
    process_result_done(&result);
    result = process_run_attnd("health", "--address", "no host:80", NULL);
    ck_assert_int_eq(result.code, 1);
    ck_assert_msg(strstr(result.output, "not known"), "%s", result.output);
    process_result_done(&result);
    result = process_run_attnd("health", "--address", "here", NULL);
    ck_assert_int_eq(result.code, 2);
    process_result_done(&result);
}
END_TEST

ATTND_SUITE(operation) {
    Suite *suite = suite_create("operation");
    TCase *tests = api_case(suite, "operation");
    tcase_add_test(tests, config_tells_values_and_origins);
    tcase_add_test(tests, check_loads_without_a_port);
    tcase_add_test(tests, what_never_matches_is_refused);
    tcase_add_test(tests, flags_of_a_command_are_named);
    tcase_add_test(tests, check_tells_every_problem);
    tcase_add_test(tests, health_tells_ready);
    tcase_add_loop_test(tests, health_tells_what_is_wrong, 0, (int)(sizeof unhealthy / sizeof *unhealthy));
    tcase_add_test(tests, health_without_a_daemon);
    return suite;
}
