/* Lists of requests for inference, made at random, right and wrong: what the scanner and the decoder make of them, cut
 * into pieces, is what Jansson's tree of the whole body says. */
#include "suites.h"
#include "tests/support/decoding.h"

#include "server/codec/ask_storage.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 << 10, AXIS = 3 };

/* A body that grows. */
typedef struct body {
    char text[MOST];
    size_t size;
    unsigned state;
} body;

static unsigned any(body *to, unsigned below) {
    to->state = to->state * 1664525 + 1013904223;
    return (to->state >> 8) % below;
}

__attribute__((format(printf, 2, 3))) static void put(body *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(to->text + to->size, MOST - to->size, format, arguments);
    va_end(arguments);
    to->size += (size_t)size;
    ck_assert_uint_lt(to->size, MOST);
}

/* An element; once in a while, where `wrong` is set, one that may not belong there. */
static void put_element(body *to, bool is_mask, unsigned wrong) {
    static const char *const others[] = {"null", "true", "\"]\"", "{\"a\":[1,\"}\"]}", "[1]",  "[]",
                                         "1e39", "2",    "-0.5",  "[[[[[[]]]]]]",      "1e-50"};
    static const char *const flags[] = {"0", "1", "true", "false", "1.0", "0e3"};
    if (wrong > 0 && any(to, wrong) == 0)
        put(to, "%s", others[any(to, sizeof others / sizeof *others)]);
    else if (is_mask)
        put(to, "%s", flags[any(to, 6)]);
    else
        put(to, any(to, 2) ? "%.17g" : "%.3e", (double)any(to, 1000000) / 7 - 5000);
}

static void put_list(body *to, const size_t *shape, size_t rank, bool is_mask, unsigned wrong) {
    size_t length = shape[0];
    if (wrong > 0 && any(to, wrong) == 0) length = any(to, AXIS + 2);
    put(to, any(to, 4) ? "[" : " [\n ");
    for (size_t i = 0; i < length; i++) {
        put(to, i == 0 ? "" : any(to, 4) ? "," : " , ");
        if (rank > 1 && (wrong == 0 || any(to, wrong) > 0))
            put_list(to, shape + 1, rank - 1, is_mask, wrong);
        else
            put_element(to, is_mask, wrong);
    }
    put(to, "]");
}

static void put_data(body *to, const size_t *shape, size_t rank, bool is_mask, unsigned wrong) {
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= shape[i];
    put(to, "\"data\":");
    if (any(to, 3) == 0)
        put_list(to, &count, 1, is_mask, wrong);
    else
        put_list(to, shape, wrong > 0 && any(to, 8) == 0 ? 1 + any(to, (unsigned)rank) : rank, is_mask,
                 wrong);
}

/* Members in any order. */
static void put_input(body *to, const char *name, const size_t *shape, size_t rank, bool is_mask,
                      unsigned wrong) {
    put(to, "{");
    for (unsigned i = 0, first = any(to, 4); i < 4; i++) {
        if (i > 0) put(to, ",");
        switch ((first + i) % 4) {
        case 0: put(to, "\"name\":\"%s\"", name); break;
        case 1: put(to, "\"datatype\":\"%s\"", is_mask ? "BOOL" : "FP64"); break;
        case 2:
            put(to, "\"shape\":[%zu,%zu", shape[0], shape[1]);
            put(to, rank > 2 ? ",%zu]" : "]", shape[2]);
            break;
        default: put_data(to, shape, rank, is_mask, wrong);
        }
    }
    put(to, "}");
}

/* What the tree says: the first thing that is wrong, or the elements. */
typedef struct oracle {
    const size_t *shape;
    size_t rank, lists, count;
    bool is_mask, is_flat;
    double elements[MOST / 2];
    size_t found;
    srv_problem_id wrong;
    char place[256], where[256]; /* of the present element; of what is wrong */
} oracle;

static size_t depth_of(const json_t *list) {
    const json_t *first = json_array_get(list, 0);
    return json_is_array(first) ? 1 + depth_of(first) : 1;
}

/* At the present place. */
static bool refuse(oracle *o, srv_problem_id id) {
    o->wrong = id;
    memcpy(o->where, o->place, sizeof o->where);
    return false;
}

static srv_problem_id judge(const oracle *o, const json_t *value) {
    double number = json_number_value(value);
    if (json_is_array(value)) return SRV_SHAPE_MISMATCH;
    if (json_is_boolean(value)) return o->is_mask ? SRV_NO_PROBLEM : SRV_WRONG_TYPE;
    if (!json_is_number(value)) return SRV_WRONG_TYPE;
    bool is_fine = o->is_mask ? number == 0 || number == 1 : isfinite((float)number);
    return is_fine ? SRV_NO_PROBLEM : SRV_OUT_OF_RANGE;
}

static bool walk(oracle *o, const json_t *list, size_t level);

static bool take(oracle *o, const json_t *value, size_t level) {
    if (level < o->lists) {
        if (!json_is_array(value))
            return refuse(o, json_is_number(value) ? SRV_SHAPE_MISMATCH : SRV_WRONG_TYPE);
        return level == o->rank ? refuse(o, SRV_SHAPE_MISMATCH) : walk(o, value, level + 1);
    }
    srv_problem_id id = judge(o, value);
    if (!o->is_flat && level < o->rank && id != SRV_WRONG_TYPE) id = SRV_SHAPE_MISMATCH;
    if (id != SRV_NO_PROBLEM) return refuse(o, id);
    o->elements[o->found++] = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
    return true;
}

static bool walk(oracle *o, const json_t *list, size_t level) {
    char *behind = o->place + strlen(o->place);
    for (size_t i = 0; i < json_array_size(list); i++) {
        sprintf(behind, "/%u", (unsigned)i);
        if (!take(o, json_array_get(list, i), level)) return false;
    }
    *behind = '\0';
    size_t wanted = o->is_flat ? o->count : o->shape[level - 1];
    return json_array_size(list) == wanted || refuse(o, SRV_SHAPE_MISMATCH);
}

static bool consult(oracle *o, const json_t *root, size_t input, const size_t *shape, size_t rank,
                    bool is_mask) {
    const json_t *data = json_object_get(json_array_get(json_object_get(root, "inputs"), input), "data");
    *o = (oracle){.shape = shape, .rank = rank, .lists = depth_of(data), .count = 1, .is_mask = is_mask};
    for (size_t i = 0; i < rank; i++)
        o->count *= shape[i];
    o->is_flat = o->lists == 1;
    sprintf(o->place, "/inputs/%u/data", (unsigned)input);
    return walk(o, data, 1);
}

static void compare(const srv_ask *ask, const oracle *o, const body *of) {
    const struct srv_ask_storage *storage = ask->storage;
    ck_assert_uint_eq(o->found, o->count);
    for (size_t i = 0; i < o->count; i++) {
        float got = o->is_mask ? storage->padding.flags[i] : storage->inputs.data[i];
        ck_assert_msg(got == (float)o->elements[i], "%zu: %g, not %g: %s", i, (double)got, o->elements[i],
                      of->text);
    }
}

static srv_ask *decode(body *of) {
    const srv_addressed addressed = {.model = "plain"};
    const srv_source source = {.addressed = &addressed};
    srv_problem problem = {0};
    srv_budget budget;
    srv_ask *ask = NULL;
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_inference.rows, &budget, 0);
    size_t piece = 1 + any(of, any(of, 2) ? 5 : 300);
    for (size_t at = 0; at < of->size; at += piece) {
        size_t size = of->size - at < piece ? of->size - at : piece;
        ck_assert(feed_copy(decoder, of->text + at, size, &problem));
    }
    bool done = srv_decoder_end(decoder, &source, &ask, &problem);
    ck_assert_msg(done, "%s %s: %s", problem.detail, problem.where, of->text);
    srv_budget_give(&budget, srv_decoder_close(decoder));
    ck_assert_uint_eq(srv_budget_taken(&budget), 0);
    return ask;
}

START_TEST(lists_are_what_the_tree_says) {
    enum { ROUNDS = 5000 };
    static oracle first, second;
    static body of;
    size_t refused = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        of = (body){.state = round * 2654435761u};
        size_t shape[3] = {1 + any(&of, AXIS), 1 + any(&of, AXIS), 1 + any(&of, AXIS)};
        unsigned wrong = round % 2 ? 5 + any(&of, 40) : 0;
        put(&of, "{\"inputs\":[");
        put_input(&of, "inputs", shape, 3, false, wrong);
        put(&of, ",");
        put_input(&of, "key_padding_mask", shape, 2, true, wrong);
        put(&of, "]}");
        json_t *root = json_loadb(of.text, of.size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
        ck_assert_msg(root != NULL, "%s", of.text);
        bool is_right = consult(&first, root, 0, shape, 3, false);
        if (is_right) is_right = consult(&second, root, 1, shape, 2, true);
        const oracle *last = first.wrong != SRV_NO_PROBLEM ? &first : &second;
        srv_ask *ask = decode(&of);
        const srv_problem *problem = &ask->problem;
        srv_problem_id wanted = is_right ? SRV_NO_PROBLEM : last->wrong;
        ck_assert_msg(problem->id == wanted, "%d at %s (%s), not %d at %s: %s", problem->id, problem->where,
                      problem->detail, wanted, last->where, of.text);
        if (!is_right) {
            refused++;
            ck_assert_msg(strcmp(problem->where, last->where) == 0, "%s, not %s: %s", problem->where,
                          last->where, of.text);
        } else {
            compare(ask, &first, &of);
            compare(ask, &second, &of);
        }
        srv_ask_free(ask);
        json_decref(root);
    }
    ck_assert_uint_gt(refused, ROUNDS / 8);
    ck_assert_uint_lt(refused, ROUNDS / 2);
}
END_TEST

ATTND_SUITE(oip_data) {
    Suite *suite = suite_create("oip_data");
    TCase *tests = tcase_create("oip_data");
    tcase_add_test(tests, lists_are_what_the_tree_says);
    suite_add_tcase(suite, tests);
    return suite;
}
