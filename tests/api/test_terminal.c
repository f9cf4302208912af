/* Maps of characters that are pooled, of a few queries, and with a layer's own keys: each line holds the weights of the
 * JSON answer. */
#include "api.h"

#include "server/picture/color.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, EXTRA = 2, LINE = 128 };

/* What the test's mask lets see: query 5 nothing. */
static bool sees(size_t query, size_t key) {
    return query != 5 && key < query + 9 && (7 * query + key) % 3 != 0;
}

/* `count` one-dimensional vectors under the mask. */
static char *body_of(const char *model, size_t count) {
    char *body = malloc(8192);
    char *at = body + sprintf(body, "{\"model\":\"%s\",\"inputs\":[", model);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s[%g]", i ? "," : "", (double)(i * 37 % 11) / 2 - 2);
    at += sprintf(at, "],\"attention_mask\":[");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            at += sprintf(at, "%s%d", j ? "," : i ? "],[" : "[", sees(i, j));
    }
    sprintf(at, "]]}");
    return body;
}

static http_answer ask(const char *url, const char *type, const char *query, const char *body) {
    char accept[64], path[128];
    snprintf(accept, sizeof accept, "Accept: %s", type);
    snprintf(path, sizeof path, "/v1/attention?%s", query);
    const char *const headers[] = {"Content-Type: application/json", accept, NULL};
    http_answer answer = http_send("POST", url, path, headers, body, strlen(body));
    ck_assert_msg(answer.status == 200, "%s: %.300s", query, answer.body);
    return answer;
}

/* One head's map, and which query each row is of. */
typedef struct shown {
    float weights[MOST][MOST + EXTRA], max;
    size_t rows, keys, extra, queries[MOST];
} shown;

static void read_map(const json_t *map, size_t keys, shown *out) {
    out->rows = json_array_size(map);
    out->keys = keys;
    out->extra = json_array_size(json_array_get(map, 0)) - keys;
    ck_assert(out->rows <= MOST && keys <= MOST && out->extra <= EXTRA);
    out->max = 0;
    for (size_t i = 0; i < out->rows; i++)
        for (size_t j = 0; j < keys + out->extra; j++) {
            const json_t *weight = json_array_get(json_array_get(map, i), j);
            out->weights[i][j] = (float)json_number_value(weight);
            out->max = fmaxf(out->max, out->weights[i][j]);
        }
}

/* The character of a block of weights. */
static char character_of(const shown *s, size_t row, size_t rows, size_t key, size_t keys) {
    float largest = -1;
    for (size_t i = row; i < row + rows && i < s->rows; i++)
        for (size_t j = key; j < key + keys; j++)
            if (j >= s->keys || sees(s->queries[i], j)) largest = fmaxf(largest, s->weights[i][j]);
    if (largest < 0) return '/';
    size_t level = srv_color_level(SRV_SCALE_LINEAR, largest, s->max);
    return largest <= 0 ? ' ' : level == 0 ? '.' : ".:-=+*#%@"[(level - 1) * 9 / (SRV_LEVELS - 1)];
}

/* The line of the rows from `row` on; `wide` characters a cell. */
static void line_of(const shown *s, size_t row, size_t rows, size_t pool, int wide, char out[LINE]) {
    char *at = out;
    bool all_see_one = true;
    for (size_t i = row; i < row + rows && i < s->rows; i++)
        all_see_one &= s->extra > 0 || s->queries[i] != 5;
    at += sprintf(at, "%*zu |", s->queries[s->rows - 1] > 9 ? 2 : 1, s->queries[row]);
    for (size_t key = 0; key < s->keys + s->extra; key += pool) {
        size_t end = key < s->keys ? s->keys : s->keys + s->extra, some = end - key < pool ? end - key : pool;
        for (int i = 0; i < wide; i++)
            *at++ = character_of(s, row, rows, key, some);
        if (key + some == s->keys) *at++ = '|';
    }
    sprintf(at, "%s%s\n", s->extra > 0 ? "|" : "", all_see_one ? "" : " ∅");
}

static void check_lines(const char *text, const shown *s, size_t rows, size_t pool, int wide) {
    char line[LINE];
    for (size_t row = 0; row < s->rows; row += rows) {
        line_of(s, row, rows, pool, wide, line);
        ck_assert_msg(strstr(text, line) != NULL, "no line %s in:\n%s", line, text);
    }
}

/* `query` chooses the queries of *s; rows and pool: how many of them stand in a cell of 20 columns. */
static void check_map(const char *url, const char *model, size_t count, const char *query, shown *s,
                      size_t rows, size_t pool, int wide) {
    char *body = body_of(model, count), columns[64];
    snprintf(columns, sizeof columns, "%s&columns=20", query);
    http_answer json = ask(url, "application/json", query, body),
                text = ask(url, "text/plain", columns, body);
    json_t *answer = http_json(&json);
    read_map(json_at(answer, "/attention/0"), count, s);
    check_lines(text.body, s, rows, pool, wide);
    json_decref(answer);
    http_done(&json);
    http_done(&text);
    free(body);
}

static void number_queries(shown *s) {
    for (size_t i = 0; i < MOST; i++)
        s->queries[i] = i;
}

START_TEST(a_cell_is_the_largest_of_many) {
    shown s;
    number_queries(&s);
    check_map(api_daemon.url, "plain", MOST, "heads=0", &s, 4, 4, 1);
}
END_TEST

/* However long the keys are: chosen queries are not pooled with one another. */
START_TEST(few_queries_stay_apart) {
    shown s = {.queries = {30, 5, 17}};
    check_map(api_daemon.url, "plain", MOST, "queries=30,5,17", &s, 1, 4, 1);
}
END_TEST

START_TEST(own_keys_stand_apart) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "own.safetensors"), option[300];
    st_builder *file = st_new();
    st_add(file, "in_proj_weight", "F32", (size_t[]){3, 1, ST_END}, (const float[]){1, 1, 1});
    st_add(file, "out_proj.weight", "F32", (size_t[]){1, 1, ST_END}, (const float[]){1});
    st_add(file, "bias_k", "F32", (size_t[]){1, 1, 1, ST_END}, (const float[]){4});
    st_add(file, "bias_v", "F32", (size_t[]){1, 1, 1, ST_END}, (const float[]){1});
    st_metadata(file, "num_heads", "1");
    st_metadata(file, "add_zero_attn", "true");
    st_finish(file, path);
    test_daemon daemon;
    snprintf(option, sizeof option, "own=%s", path);
    daemon_start(&daemon, (const char *const[]){"--model", option, NULL}, NULL);
    shown s;
    number_queries(&s);
    check_map(daemon.url, "own", 3, "heads=0", &s, 1, 1, 2);
    check_map(daemon.url, "own", MOST, "heads=0", &s, 4, 4, 1);
    ck_assert_uint_eq(s.extra, EXTRA);
    daemon_stop(&daemon);
    free(path);
    temporary_remove(folder);
}
END_TEST

ATTND_SUITE(terminal) {
    Suite *suite = suite_create("terminal");
    TCase *tests = api_case(suite, "terminal");
    tcase_add_test(tests, a_cell_is_the_largest_of_many);
    tcase_add_test(tests, few_queries_stay_apart);
    tcase_add_test(tests, own_keys_stand_apart);
    suite_add_tcase(suite, tests);
    return suite;
}
