/* A large request as JSON both ways over loopback, beside what the daemon says of the forward pass in it: 8 sequences
 * of 128 positions, width 768, 12 heads, outputs and all maps back. Medians; what counts is their ratio. Printed, not
 * judged. */
#include "tests/support/daemon.h"
#include "tests/support/http.h"
#include "tests/support/suites.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    SEQUENCES = 8,
    LENGTH = 128,
    WIDTH = 768,

    TIMES = 15,
    FLOATS = SEQUENCES * LENGTH * WIDTH
};

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times) {
    qsort(times, TIMES, sizeof *times, compare);
    return times[TIMES / 2];
}

static char *post(size_t *size) {
    char *body = NULL, *request = NULL;
    size_t body_size = 0;
    FILE *out = open_memstream(&body, &body_size);
    fputs("{\"inputs\":[", out);
    for (size_t i = 0; i < FLOATS; i++) {
        const char *before = i == 0                      ? "[["
                             : i % (LENGTH * WIDTH) == 0 ? "]],[["
                             : i % WIDTH == 0            ? "],["
                                                         : ",";
        fprintf(out, "%s%.9g", before, (double)((float)(i * 7919 % 20011) / 1e4F - 1));
    }
    fputs("]]]}", out);
    ck_assert_int_eq(fclose(out), 0);
    out = open_memstream(&request, size);
    fprintf(out,
            "POST /v1/attention HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\n\r\n",
            body_size);
    fwrite(body, 1, body_size, out);
    ck_assert_int_eq(fclose(out), 0);
    free(body);
    return request;
}

typedef struct exchange {
    double whole, read, parse, compute; /* milliseconds */
    size_t received;
} exchange;

static double stage(const char *head, const char *name) {
    const char *timing = strstr(head, "Server-Timing:"), *found = timing ? strstr(timing, name) : NULL;
    ck_assert_msg(found != NULL, "%s in %s", name, head);
    return strtod(found + strlen(name), NULL);
}

/* Sends a request and reads the answer as fast as a client can that does nothing with it. */
static exchange ask(int connection, const char *request, size_t size) {
    static const char end[] = "0\r\n\r\n";
    static char bytes[1 << 18];
    exchange made = {.received = 0};
    size_t kept = 0;
    double began = now_ms();
    for (size_t sent = 0; sent < size;) {
        ssize_t count = send(connection, request + sent, size - sent, MSG_NOSIGNAL);
        ck_assert_int_gt(count, 0);
        sent += (size_t)count;
    }
    do {
        ssize_t count = recv(connection, bytes + kept, sizeof bytes - 1 - kept, 0);
        ck_assert_int_gt(count, 0);
        bytes[kept + (size_t)count] = '\0';
        if (made.received == 0) {
            made.read = stage(bytes, "read;dur=");
            made.parse = stage(bytes, "parse;dur=");
            made.compute = stage(bytes, "compute;dur=");
        }
        made.received += (size_t)count;
        kept += (size_t)count;
        if (kept < sizeof end - 1) continue;
        memmove(bytes, bytes + kept - (sizeof end - 1), sizeof end - 1);
        kept = sizeof end - 1;
    } while (kept < sizeof end - 1 || memcmp(bytes, end, sizeof end - 1) != 0);
    made.whole = now_ms() - began;
    return made;
}

START_TEST(large_json) {
    double whole[TIMES], read[TIMES], parse[TIMES], compute[TIMES], factor[TIMES];
    test_daemon daemon;
    http_raw raw;
    char path[] = "/tmp/attnd-bench-XXXXXX", model[64];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    process_result made = process_run_attnd("init", "--d-model", "768", "--heads", "12", "--layers", "1",
                                            "--force", "-o", path, NULL);
    ck_assert_msg(made.code == 0, "%s", made.errors);
    snprintf(model, sizeof model, "m=%s", path);
    daemon_start(&daemon, (const char *const[]){"--model", model, "--log-level", "error", NULL}, NULL);
    http_raw_open(&raw, daemon.port);
    size_t size, received = 0;
    char *request = post(&size);
    for (int i = -2; i < TIMES; i++) {
        exchange one = ask(raw.fd, request, size);
        if (i < 0) continue;
        whole[i] = one.whole;
        read[i] = one.read;
        parse[i] = one.parse;
        compute[i] = one.compute;
        factor[i] = one.whole / one.compute;
        received = one.received;
    }
    printf("8x128, width 768, 12 heads, maps: %.1f MB of JSON in, %.1f MB out\n", (double)size / 1e6,
           (double)received / 1e6);
    printf("%.1f ms, of which read %.1f, parse %.1f, forward pass %.1f: %.2f times that\n", median(whole),
           median(read), median(parse), median(compute), median(factor));
    http_raw_close(&raw);
    daemon_stop(&daemon);
    unlink(path);
    process_result_done(&made);
    free(request);
}
END_TEST

ATTND_SUITE(wire) {
    Suite *suite = suite_create("wire");
    TCase *tests = tcase_create("wire");
    tcase_add_test(tests, large_json);
    suite_add_tcase(suite, tests);
    return suite;
}
