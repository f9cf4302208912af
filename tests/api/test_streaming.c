/* Large answers, whose text is written while it is sent: the same bytes for every reader, and readers that are slow or
 * leave cost nobody but themselves. */
#include "api.h"

#include "sanitized.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define POST "POST /v1/attention%s HTTP/1.%d\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n"

enum { ROWS = 900, HEADS = 2, RESULT_BYTES = (HEADS * ROWS * ROWS + ROWS * 4) * 4, READERS = 16 };

/* A sequence for the model 'tiny' whose maps are some 19 MB of text. */
static char *long_body(void) {
    char *body = malloc(ROWS * 24 + 100);
    size_t used = (size_t)sprintf(body, "{\"model\":\"tiny\",\"inputs\":[");
    for (int i = 0; i < ROWS; i++)
        used += (size_t)sprintf(body + used, "%s[%d.5,0.%d,1,3]", i ? "," : "", i % 7, i);
    strcpy(body + used, "]}");
    return body;
}

static void ask(http_raw *raw, const char *query, int minor) {
    char *body = long_body(), head[200];
    snprintf(head, sizeof head, POST, query, minor, strlen(body));
    ck_assert(http_raw_send_text(raw, head));
    ck_assert(http_raw_send_text(raw, body));
    free(body);
}

/* A reader that takes so many bytes of its answer, and then none; its socket holds little. */
static void open_reader(http_raw *raw, int port, size_t taken) {
    static char bytes[1 << 16];
    const int small = sizeof bytes;
    http_raw_open(raw, port);
    setsockopt(raw->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    ask(raw, "", 1);
    while (taken > 0) {
        ssize_t got = recv(raw->fd, bytes, taken < sizeof bytes ? taken : sizeof bytes, 0);
        ck_assert_int_gt(got, 0);
        taken -= (size_t)got;
    }
}

static double sample(const test_daemon *daemon, const char *name) {
    http_answer answer = http_get(daemon->url, "/metrics");
    char line[120];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(answer.body, line);
    ck_assert_msg(found != NULL, "%s in %s", name, answer.body);
    double value = strtod(found + strlen(line), NULL);
    http_done(&answer);
    return value;
}

/* Everything that requests held is given back, sooner or later. */
static void await_empty(const test_daemon *daemon) {
    while (sample(daemon, "attnd_memory_reserved_bytes") > 0)
        continue;
}

/* As text of lists comes with and without chunks, and from the command line. */
START_TEST(the_same_bytes_for_everybody) {
    http_raw raw;
    char *body = long_body(), *coding;
    process_result run =
        process_run((const char *const[]){process_attnd(), "run", "-", NULL}, NULL, body, strlen(body));
    ck_assert_int_eq(run.code, 0);
    ck_assert_uint_gt(run.output_size, RESULT_BYTES);
    http_raw_open(&raw, api_daemon.port);
    for (int i = 0; i < 2; i++) {
        ask(&raw, "", 1);
        http_answer answer = http_raw_answer(&raw, 0);
        ck_assert_int_eq(answer.status, 200);
        coding = http_header(&answer, "Transfer-Encoding");
        ck_assert_str_eq(coding, "chunked");
        ck_assert_uint_eq(answer.size, run.output_size);
        ck_assert_mem_eq(answer.body, run.output, run.output_size);
        free(coding);
        http_done(&answer);
    }
    http_raw_close(&raw);
    process_result_done(&run);
    free(body);
}
END_TEST

/* HTTP/1.0 knows no chunks: the end of the connection is the end of the answer. */
START_TEST(version_1_0_reads_to_the_end) {
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    ask(&raw, "", 0);
    char *text = malloc(8 * RESULT_BYTES);
    size_t size = 0;
    ssize_t got;
    while ((got = recv(raw.fd, text + size, 8 * RESULT_BYTES - 1 - size, 0)) > 0)
        size += (size_t)got;
    ck_assert_int_eq(got, 0);
    text[size] = '\0';
    char *end = strstr(text, "\r\n\r\n");
    ck_assert_ptr_nonnull(end);
    end[2] = '\0';
    ck_assert_ptr_null(strstr(text, "Transfer-Encoding"));
    ck_assert_ptr_null(strstr(text, "Content-Length"));
    json_t *answer = json_loads(end + 4, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_uint_eq(json_array_size(json_array_get(json_object_get(answer, "attention"), 1)), ROWS);
    json_decref(answer);
    free(text);
    http_raw_close(&raw);
}
END_TEST

/* A size that is known beforehand is told, however large. */
START_TEST(base64_has_a_length) {
    http_raw raw;
    http_raw_open(&raw, api_daemon.port);
    ask(&raw, "?encoding=base64", 1);
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 200);
    char *length = http_header(&answer, "Content-Length");
    ck_assert_ptr_nonnull(length);
    ck_assert_uint_gt(answer.size, RESULT_BYTES / 3 * 4);
    json_t *read = http_json(&answer);
    ck_assert_uint_eq(json_string_length(json_object_get(json_object_get(read, "attention"), "data")),
                      HEADS * ROWS * ROWS * 4 / 3 * 4);
    json_decref(read);
    free(length);
    http_done(&answer);
    http_raw_close(&raw);
}
END_TEST

static test_daemon patient;

static void start(void) {
    daemon_start(&patient, (const char *const[]){"--workers", "2", "--stalled-reader-ms", "3600000", NULL},
                 NULL);
}

static void stop(void) {
    daemon_stop(&patient);
}

/* Far more readers than workers; the memory that each may take is its result and 16 MiB. */
START_TEST(stalled_readers_hold_no_worker) {
    static http_raw readers[READERS];
    double before = sample(&patient, "process_resident_memory_bytes");
    for (int i = 0; i < READERS; i++)
        open_reader(&readers[i], patient.port, 1);
    for (int i = 0; i < 3; i++) {
        http_answer answer = http_post(patient.url, "/v1/attention", "{\"inputs\":[[1,0,0,0]]}");
        ck_assert_int_eq(answer.status, 200);
        http_done(&answer);
    }
    double grown = sample(&patient, "process_resident_memory_bytes") - before;
    const double most = READERS * (RESULT_BYTES + 0x1p24);
    ck_assert_msg(IS_SANITIZED || grown < most, "%g bytes", grown);
    double reserved = sample(&patient, "attnd_memory_reserved_bytes");
    ck_assert_double_ge(reserved, READERS * (double)RESULT_BYTES);
    ck_assert_double_lt(reserved, most);
    /* One that begins to read again gets all of it. */
    http_answer answer;
    char first[] = "H";
    readers[0].pending = strdup(first);
    readers[0].pending_size = 1;
    answer = http_raw_answer(&readers[0], 0);
    json_decref(http_json(&answer));
    http_done(&answer);
    for (int i = 0; i < READERS; i++)
        http_raw_close(&readers[i]);
    await_empty(&patient);
}
END_TEST

/* Clients that leave before, at the start, in the midst and near the end of their answer. */
START_TEST(leaving_gives_everything_back) {
    enum { CLIENTS = 12 };
    for (int i = 0; i < CLIENTS; i++) {
        http_raw raw;
        open_reader(&raw, patient.port, i % 4 == 0 ? 0 : (size_t)i * 1000000);
        if (i % 2) {
            const struct linger at_once = {.l_onoff = 1};
            setsockopt(raw.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        http_raw_close(&raw);
    }
    await_empty(&patient);
    while (sample(&patient, "attnd_requests_in_flight") > 1)
        continue;
}
END_TEST

/* What is logged and counted of an answer is known at its end. */
START_TEST(log_and_metrics_know_the_whole) {
    test_daemon daemon;
    http_raw raw;
    char wanted[64];
    daemon_start(&daemon, (const char *const[]){"--log-format", "json", NULL}, NULL);
    http_raw_open(&raw, daemon.port);
    ask(&raw, "", 1);
    http_answer answer = http_raw_answer(&raw, 0);
    snprintf(wanted, sizeof wanted, "\"out\":%zu,", answer.size);
    while (sample(&daemon, "attnd_stage_seconds_sum{stage=\"encode\"}") < 0.001)
        continue;
    http_done(&answer);
    http_raw_close(&raw);
    process_signal(&daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    char *log = process_errors(&daemon.process);
    ck_assert_msg(strstr(log, wanted) != NULL, "%s in %s", wanted, log);
    free(log);
    process_done(&daemon.process);
}
END_TEST

/* SIGTERM in the midst of an answer: it is sent to its end, which draining waits for as long as it may. */
START_TEST(draining_sends_to_the_end) {
    test_daemon daemon;
    http_raw raw;
    daemon_start(&daemon, (const char *const[]){"--drain", "3600", NULL}, NULL);
    open_reader(&raw, daemon.port, 1);
    process_signal(&daemon.process, SIGTERM);
    raw.pending = strdup("H");
    raw.pending_size = 1;
    http_answer answer = http_raw_answer(&raw, 0);
    ck_assert_int_eq(answer.status, 200);
    json_decref(http_json(&answer));
    http_done(&answer);
    ck_assert(http_raw_is_closed(&raw));
    http_raw_close(&raw);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    process_done(&daemon.process);
}
END_TEST

/* Readers that do not move are cut when the time of draining is over. */
START_TEST(draining_does_not_wait_for_ever) {
    test_daemon daemon;
    http_raw readers[4];
    daemon_start(&daemon, (const char *const[]){"--drain", "0", NULL}, NULL);
    for (int i = 0; i < 4; i++)
        open_reader(&readers[i], daemon.port, 1 + (size_t)i * 1000000);
    process_signal(&daemon.process, SIGTERM);
    ck_assert_int_eq(process_wait(&daemon.process), 0);
    process_done(&daemon.process);
    for (int i = 0; i < 4; i++)
        http_raw_close(&readers[i]);
}
END_TEST

ATTND_SUITE(streaming) {
    Suite *suite = suite_create("streaming");
    TCase *shared = api_case(suite, "streaming");
    tcase_add_test(shared, the_same_bytes_for_everybody);
    tcase_add_test(shared, version_1_0_reads_to_the_end);
    tcase_add_test(shared, base64_has_a_length);
    TCase *readers = tcase_create("readers");
    tcase_add_unchecked_fixture(readers, start, stop);
    tcase_add_test(readers, stalled_readers_hold_no_worker);
    tcase_add_test(readers, leaving_gives_everything_back);
    suite_add_tcase(suite, readers);
    TCase *lives = tcase_create("lives");
    tcase_add_test(lives, log_and_metrics_know_the_whole);
    tcase_add_test(lives, draining_sends_to_the_end);
    tcase_add_test(lives, draining_does_not_wait_for_ever);
    suite_add_tcase(suite, lives);
    return suite;
}
