/* Maps of characters: of many weights, of a few queries, with a layer's own keys, masks of heads and labels of packed
 * sequences. */
#include "api.h"

#include "server/picture/color.h"
#include "tests/support/fixtures.h"
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
    fixture_own_keys(path);
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

/* Head 0 sees in rows 0 and 2 all, in row 1 nothing; head 1 what is not behind the query. */
#define TWO_MASKS                                                                                            \
    "{\"inputs\":[[1,0,0,0],[0,1,0,0],[0,0,1,1]],\"attention_mask\":"                                        \
    "[[[1,1,1],[0,0,0],[1,1,1]],[[1,0,0],[1,1,0],[1,1,1]]]}"

static void check_text(const char *query, const char *body, const char *const parts[]) {
    http_answer text = ask(api_daemon.url, "text/plain", query, body);
    const char *at = text.body;
    for (; *parts; parts++) {
        const char *found = strstr(at, *parts);
        ck_assert_msg(found != NULL, "%s: no %s in its place:\n%s", query, *parts, text.body);
        at = found + strlen(*parts);
    }
    http_done(&text);
}

/* Of several heads each has its own mask, whatever their order; their mean shows what one of them sees. */
START_TEST(heads_have_masks) {
    check_text("heads=1,0", TWO_MASKS,
               (const char *const[]){"\nhead 1\n", "0 |@@////|\n", "//|\n2 |", "\nhead 0\n", "1 |//////| ∅\n",
                                     "/ masked, ∅ sees no key\n", "1 query sees no key in some head.\n",
                                     NULL});
    check_text("heads=0", TWO_MASKS,
               (const char *const[]){"\nhead 0\n", "1 |//////| ∅\n", "1 query sees no key.\n", NULL});
    http_answer mean = ask(api_daemon.url, "text/plain", "average_heads=1", TWO_MASKS);
    ck_assert_ptr_nonnull(strstr(mean.body, "//|\n2 |"));
    ck_assert_ptr_null(strstr(mean.body, "////"));
    ck_assert_ptr_null(strstr(mean.body, "∅"));
    http_done(&mean);
}
END_TEST

/* Heads that share a key head say which. */
START_TEST(titles_name_key_heads) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "grouped.safetensors"), option[300];
    fixture_grouped(path);
    test_daemon daemon;
    snprintf(option, sizeof option, "grouped=%s", path);
    daemon_start(&daemon, (const char *const[]){"--model", option, "--kv-heads", "grouped=2", NULL}, NULL);
    http_answer text = ask(daemon.url, "text/plain", "heads=3,1", "{\"inputs\":[[1,0,0,0],[0,1,0,0]]}");
    const char *first = strstr(text.body, "\nhead 3 (kv 1)\n"),
               *second = strstr(text.body, "\nhead 1 (kv 0)\n");
    ck_assert(first && second && first < second);
    http_done(&text);
    daemon_stop(&daemon);
    free(path);
    temporary_remove(folder);
}
END_TEST

/* Sequences one behind the other have labels one behind the other, queries and keys each their own. */
START_TEST(labels_of_packed_sequences) {
    check_text(
        "sequence=1",
        "{\"model\":\"plain\",\"inputs\":[[1],[2],[3]],\"lengths\":[1,2],\"tokens\":[\"a\",\"b\",\"c\"],"
        "\"context\":[[1],[2],[3],[4]],\"context_lengths\":[3,1],"
        "\"context_tokens\":[\"k\",\"l\",\"m\",\"n\"]}",
        (const char *const[]){"sequence 1", "\n0 b |@@|\n1 c |@@|\n", "keys: 0 n\n", NULL});
}
END_TEST

START_TEST(colors_are_switched) {
    static const struct {
        const char *query;
        bool has_color;
    } cases[] = {{"color=1", true}, {"color=true", true}, {"color=0", false}, {"color=false", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        http_answer text = ask(api_daemon.url, "text/plain", cases[i].query, TWO_MASKS);
        ck_assert(cases[i].has_color == (strchr(text.body, '\x1b') != NULL));
        http_done(&text);
    }
}
END_TEST

ATTND_SUITE(terminal) {
    Suite *suite = suite_create("terminal");
    TCase *tests = api_case(suite, "terminal");
    tcase_add_test(tests, a_cell_is_the_largest_of_many);
    tcase_add_test(tests, few_queries_stay_apart);
    tcase_add_test(tests, own_keys_stand_apart);
    tcase_add_test(tests, heads_have_masks);
    tcase_add_test(tests, titles_name_key_heads);
    tcase_add_test(tests, labels_of_packed_sequences);
    tcase_add_test(tests, colors_are_switched);
    suite_add_tcase(suite, tests);
    return suite;
}
