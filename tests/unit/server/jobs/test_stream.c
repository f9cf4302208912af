/* Streams: bytes in order for a reader of any speed, a bounded stretch ahead, and everything given back once,
 * whenever the reader closes. */
#include "server/jobs/stream.h"
#include "suites.h"
#include "tests/support/written.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 2, LARGE = 3000000, PAYLOAD_BYTES = 1000 };

typedef struct fixture {
    attn_pool *pool;
    srv_budget budget;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_ready, is_sound, is_passed;
    int frees;
    float *numbers;
    srv_stream *stream;
} fixture;

static void set_up(fixture *f) {
    *f = (fixture){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    srv_budget_init(&f->budget, 64 << 20);
    ck_assert_int_eq(attn_pool_new(WORKERS, &f->pool, NULL), ATTN_OK);
    f->numbers = malloc(LARGE * sizeof *f->numbers);
    for (size_t i = 0; i < LARGE; i++)
        f->numbers[i] = (float)(i * 7919 % 100003) / 100003;
}

/* Once the pool is gone everything is. */
static void tear_down(fixture *f, int frees) {
    attn_pool_free(f->pool);
    ck_assert_int_eq(f->frees, frees);
    ck_assert_uint_eq(srv_budget_taken(&f->budget), 0);
    free(f->numbers);
}

static void set(fixture *f, bool *what) {
    pthread_mutex_lock(&f->lock);
    *what = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void wait_for(fixture *f, const bool *what) {
    pthread_mutex_lock(&f->lock);
    while (!*what)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

static void ready(void *context, bool is_sound) {
    fixture *f = context;
    f->is_sound = is_sound;
    set(f, &f->is_ready);
}

static void free_payload(void *context) {
    fixture *f = context;
    pthread_mutex_lock(&f->lock);
    f->frees++;
    pthread_mutex_unlock(&f->lock);
}

static int frees(fixture *f) {
    pthread_mutex_lock(&f->lock);
    int count = f->frees;
    pthread_mutex_unlock(&f->lock);
    return count;
}

static srv_parts *list(const fixture *f, size_t count, srv_form form, bool half) {
    srv_part tensor = {
        .view = {f->numbers, 2, {count / 10, 10}, {10, 1}}, .form = form, .half = half, .member = "outputs"};
    srv_parts *parts = srv_parts_new();
    srv_text_append_string(srv_parts_text(parts), "{");
    srv_parts_add(parts, &tensor);
    srv_text_append_string(srv_parts_text(parts), "}");
    ck_assert(srv_parts_close(parts));
    return parts;
}

static void start(fixture *f, srv_parts *parts) {
    size_t held = 10;
    ck_assert(srv_budget_take(&f->budget, held));
    const srv_stream_source source = {.parts = parts,
                                      .pool = f->pool,
                                      .budget = &f->budget,
                                      .payload = f,
                                      .payload_bytes = PAYLOAD_BYTES,
                                      .free_payload = free_payload};
    ck_assert(srv_stream_start(&source, &held, ready, f, &f->stream));
    ck_assert_uint_eq(held, 0);
    wait_for(f, &f->is_ready);
}

static void passed(void *context, bool cancelled) {
    (void)cancelled;
    fixture *f = context;
    set(f, &f->is_passed);
}

/* A job of somebody else gets through. */
static void pass(fixture *f) {
    attn_job job = {.context = f, .done = passed};
    f->is_passed = false;
    attn_pool_submit(f->pool, &job);
    wait_for(f, &f->is_passed);
}

/* All text at once, as it should be. */
static char *whole(const fixture *f, size_t count, size_t *size) {
    srv_parts *parts = srv_parts_new();
    srv_part tensor = {.view = {f->numbers, 2, {count / 10, 10}, {10, 1}}, .member = "outputs"};
    srv_text_append_string(srv_parts_text(parts), "{");
    srv_parts_add(parts, &tensor);
    srv_text_append_string(srv_parts_text(parts), "}");
    char *text = written_parts(parts, size);
    srv_parts_free(parts);
    return text;
}

START_TEST(a_large_answer_comes_in_order) {
    fixture f;
    size_t want_size, size;
    set_up(&f);
    char *want = whole(&f, LARGE, &want_size);
    start(&f, list(&f, LARGE, SRV_FORM_LISTS, false));
    ck_assert(f.is_sound);
    ck_assert_uint_eq(srv_stream_size(f.stream), SIZE_MAX);
    ck_assert_uint_lt(srv_budget_taken(&f.budget), PAYLOAD_BYTES + 2 * SRV_STREAM_AHEAD);
    char *text = written_stream(f.stream, &size);
    ck_assert_uint_eq(size, want_size);
    ck_assert_int_eq(memcmp(text, want, size), 0);
    ck_assert(srv_stream_is_over(f.stream));
    ck_assert_uint_eq(srv_stream_read(f.stream, text, 1), 0);
    ck_assert(!srv_stream_await(f.stream, NULL, NULL));
    ck_assert_double_gt(srv_stream_ms(f.stream), 0);
    srv_stream_close(f.stream);
    free(text);
    free(want);
    tear_down(&f, 1);
}
END_TEST

/* Up to this number of bytes is read; what has been written beyond is bounded. */
static const size_t places[] = {0, 1, 1000000, 5000000, 8000000};

START_TEST(a_reader_that_stops_holds_nobody) {
    fixture f;
    set_up(&f);
    start(&f, list(&f, LARGE, SRV_FORM_LISTS, false));
    char *bytes = malloc(8000000);
    for (size_t at = 0; at < places[_i];)
        at += srv_stream_read(f.stream, bytes, places[_i] - at);
    pass(&f);
    /* Whatever has been written since must still be there: nothing overtakes the reader. */
    ck_assert_int_eq(frees(&f), 0);
    free(bytes);
    srv_stream_close(f.stream);
    tear_down(&f, 1);
}
END_TEST

START_TEST(a_middling_answer_is_ready_as_a_whole) {
    enum { COUNT = 30000 };
    fixture f;
    size_t want_size, size;
    srv_span spans[8];
    set_up(&f);
    char *want = whole(&f, COUNT, &want_size);
    start(&f, list(&f, COUNT, SRV_FORM_LISTS, false));
    ck_assert_uint_eq(srv_stream_size(f.stream), want_size);
    ck_assert_int_eq(frees(&f), 1); /* all is written, so nobody needs the numbers */
    ck_assert_uint_eq(srv_stream_spans(f.stream, spans, 1), 0);
    size_t count = srv_stream_spans(f.stream, spans, 8);
    ck_assert_uint_gt(count, 1);
    for (size_t i = 0, at = 0; i < count; at += spans[i++].size)
        ck_assert_int_eq(memcmp(want + at, spans[i].data, spans[i].size), 0);
    char *text = written_stream(f.stream, &size);
    ck_assert_uint_eq(size, want_size);
    ck_assert_int_eq(memcmp(text, want, size), 0);
    srv_stream_close(f.stream);
    free(text);
    free(want);
    tear_down(&f, 1);
}
END_TEST

START_TEST(bytes_in_memory_are_lent_until_closing) {
    fixture f;
    srv_span spans[3];
    set_up(&f);
    start(&f, list(&f, LARGE, SRV_FORM_BYTES, false));
    ck_assert_uint_eq(srv_stream_size(f.stream), 2 + LARGE * sizeof(float));
    ck_assert_uint_eq(srv_stream_spans(f.stream, spans, 3), 3);
    ck_assert_ptr_eq(spans[1].data, (const char *)f.numbers);
    ck_assert_int_eq(frees(&f), 0);
    srv_stream_close(f.stream);
    tear_down(&f, 1);
}
END_TEST

START_TEST(a_number_beyond_half_is_known_before_the_first_byte) {
    fixture f;
    set_up(&f);
    f.numbers[_i == 0 ? 5 : LARGE - 1] = 1e6f;
    start(&f, list(&f, _i == 0 ? 10 : LARGE, SRV_FORM_BASE64, true));
    ck_assert(!f.is_sound);
    ck_assert_uint_eq(srv_stream_read(f.stream, (char[1]){0}, 1), 0);
    srv_problem problem = {0};
    srv_parts_refuse(srv_stream_parts(f.stream), &problem);
    ck_assert_int_eq(problem.id, SRV_NOT_REPRESENTABLE);
    srv_stream_close(f.stream);
    tear_down(&f, 1);
}
END_TEST

/* Looking through a large answer ends where nobody waits for it. */
START_TEST(a_cancelled_job_is_looked_through_no_further) {
    fixture f;
    attn_job job = {.stage_count = 0};
    set_up(&f);
    srv_parts *parts = list(&f, LARGE, SRV_FORM_BASE64, true);
    const srv_stream_source source = {.parts = parts, .pool = f.pool, .budget = &f.budget, .job = &job};
    size_t held = 0;
    if (_i == 1) attn_job_cancel(&job);
    ck_assert(srv_stream_start(&source, &held, ready, &f, &f.stream));
    wait_for(&f, &f.is_ready);
    ck_assert_int_eq(f.is_sound, _i == 0);
    if (_i == 1) ck_assert_uint_eq(srv_stream_read(f.stream, (char[1]){0}, 1), 0);
    srv_stream_close(f.stream);
    tear_down(&f, 0);
}
END_TEST

START_TEST(no_room_in_the_budget_takes_nothing) {
    fixture f;
    set_up(&f);
    srv_parts *parts = list(&f, LARGE, SRV_FORM_LISTS, false);
    size_t held = 10, rest = f.budget.limit - 1000;
    ck_assert(srv_budget_take(&f.budget, rest + held));
    const srv_stream_source source = {.parts = parts, .pool = f.pool, .budget = &f.budget};
    ck_assert(!srv_stream_start(&source, &held, ready, &f, &f.stream));
    ck_assert_uint_eq(held, 10);
    ck_assert_uint_eq(srv_budget_taken(&f.budget), rest + held);
    srv_budget_give(&f.budget, rest + held);
    srv_parts_free(parts);
    tear_down(&f, 0);
}
END_TEST

ATTND_SUITE(stream) {
    Suite *suite = suite_create("stream");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, a_large_answer_comes_in_order);
    tcase_add_loop_test(cases, a_reader_that_stops_holds_nobody, 0, sizeof places / sizeof *places);
    tcase_add_test(cases, a_middling_answer_is_ready_as_a_whole);
    tcase_add_test(cases, bytes_in_memory_are_lent_until_closing);
    tcase_add_loop_test(cases, a_number_beyond_half_is_known_before_the_first_byte, 0, 2);
    tcase_add_loop_test(cases, a_cancelled_job_is_looked_through_no_further, 0, 2);
    tcase_add_test(cases, no_room_in_the_budget_takes_nothing);
    suite_add_tcase(suite, cases);
    return suite;
}
