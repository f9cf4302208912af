/* Random requests in every form that the contract allows, from text to text: decode, bind, plan, run, encode,
 * and the answer read back, against the reference in double precision. A failure names the seed. */
#include "random_body.h"
#include "wire_tensor.h"

#include "sanitized.h"
#include "server/codec/json.h"
#include "suites.h"
#include "tests/support/decoding.h"
#include "tests/support/written.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = IS_SLOW ? 50 : 250 };
static const uint64_t first_seed = 20170612;

typedef struct exchange {
    random_request random;
    random_body text;
    attn_plan plan; /* of the request as it was before it became text */
    json_t *answer;
    size_t sequence;
    attn_reference want;
} exchange;

static json_t *answer_to(exchange *r, attn_pool *pool) {
    srv_problem problem = {0};
    attn_error error = {0};
    attn_plan plan;
    srv_ask *ask = NULL;
    attn_run *run = NULL;
    const random_body *in = &r->text;
    ck_seed(decode_json(in->body, strlen(in->body), in->query, &ask, &problem), &r->random, "%s",
            problem.detail);
    ck_seed(srv_ask_bind(ask, &r->random.layer, "m", 0, &problem), &r->random, "%s %s, query %.200s",
            problem.where, problem.detail, in->query);
    ck_seed(attn_plan_make(&ask->request, attn_pool_workers(pool), &plan, &error) == ATTN_OK, &r->random,
            "%s %s", error.where, error.text);
    ck_assert_int_eq(attn_run_new(&plan, &run, NULL), ATTN_OK);
    ck_seed(attn_run_wait(run, pool) == ATTN_OK, &r->random, "the run failed");
    srv_parts *parts = srv_parts_new();
    const srv_outcome outcome = {ask, "m", 0, run, NULL};
    ck_assert(srv_json_encode(&outcome, parts, &problem));
    size_t size;
    char *text = written_parts(parts, &size);
    json_t *answer = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    ck_seed(answer != NULL, &r->random, "not JSON: %.300s", text);
    free(text);
    srv_parts_free(parts);
    attn_run_free(run);
    srv_ask_free(ask);
    return answer;
}

/* The present sequence's part of a member. */
static const json_t *part_of(const exchange *r, const char *name) {
    const json_t *member = json_object_get(r->answer, name);
    if (r->text.single || member == NULL) return member;
    ck_assert_uint_eq(json_array_size(member), r->random.request.sequence_count);
    return json_array_get(member, r->sequence);
}

static void check_number(const exchange *r, const char *name, size_t at, double got, double want) {
    double digits = r->text.half ? 6e-4 : 1e-5;
    if (!r->text.base64 && r->text.precision > 0) digits += pow(10, 1 - (double)r->text.precision);
    double size = fabs(want) > 1 ? fabs(want) : 1;
    bool same = isinf(want) ? got == want : isfinite(got) && fabs(got - want) <= (digits + 1e-5) * size * 4;
    ck_seed(same, &r->random, "sequence %zu, %s[%zu]: got %.9g, want %.9g", r->sequence, name, at, got, want);
}

static void check_shape(const exchange *r, const char *name, const wire_tensor *tensor, const size_t *shape,
                        size_t rank) {
    ck_seed(tensor->rank == rank, &r->random, "%s has rank %zu, not %zu", name, tensor->rank, rank);
    for (size_t i = 0; i < rank; i++)
        ck_seed(tensor->shape[i] == shape[i], &r->random, "axis %zu of %s is %zu, not %zu", i, name,
                tensor->shape[i], shape[i]);
}

static void check_outputs(const exchange *r) {
    wire_tensor got = wire_get(part_of(r, "outputs"));
    size_t queries = r->random.request.sequences[r->sequence].queries;
    check_shape(r, "outputs", &got, (size_t[]){queries, r->plan.d_out}, 2);
    for (size_t i = 0; i < got.count; i++)
        check_number(r, "outputs", i, got.values[i], r->want.outputs[i]);
    wire_done(&got);
}

/* q, k or v of a reference: rows × (heads · dim), of which the answer has heads × rows × dim. */
static void check_projection(const exchange *r, const char *name, const double *want, size_t heads,
                             size_t rows, size_t dim) {
    wire_tensor got = wire_get(json_object_get(part_of(r, "projections"), name));
    check_shape(r, name, &got, (size_t[]){heads, rows, dim}, 3);
    for (size_t h = 0; h < heads; h++)
        for (size_t i = 0; i < rows; i++)
            for (size_t c = 0; c < dim; c++)
                check_number(r, name, i, got.values[(h * rows + i) * dim + c],
                             want[(i * heads + h) * dim + c]);
    wire_done(&got);
}

static void check_projections(const exchange *r) {
    const attn_layer *layer = &r->random.layer;
    const attn_sequence *s = &r->random.request.sequences[r->sequence];
    check_projection(r, "q", r->want.q, layer->heads, s->queries, r->plan.head_dim);
    check_projection(r, "k", r->want.k, layer->kv_heads, s->keys, r->plan.head_dim);
    check_projection(r, "v", r->want.v, layer->kv_heads, s->keys, r->plan.value_dim);
}

/* One chosen row of the reference's weights or scores, the mean over the chosen heads where one is asked
 * for. */
static void row_of(const exchange *r, const double *whole, size_t slot, size_t place, size_t width,
                   double *out) {
    const attn_request *request = &r->random.request;
    size_t queries = request->sequences[r->sequence].queries;
    size_t row = request->queries ? request->queries[place] : place;
    size_t heads = request->heads ? request->head_count : request->layer->heads;
    size_t first = request->average_heads ? 0 : slot, last = request->average_heads ? heads : slot + 1;
    memset(out, 0, width * sizeof *out);
    for (size_t h = first; h < last; h++) {
        size_t head = request->heads ? request->heads[h] : h;
        for (size_t j = 0; j < width; j++)
            out[j] += whole[(head * queries + row) * width + j] / (double)(last - first);
    }
}

typedef struct map_shape {
    size_t heads, rows, width;
    size_t axes[3], rank; /* of the answer, but for the last */
} map_shape;

static map_shape shape_of(const exchange *r) {
    const attn_request *request = &r->random.request;
    const attn_sequence *s = &request->sequences[r->sequence];
    size_t heads = request->heads ? request->head_count : request->layer->heads;
    map_shape shape = {.heads = request->average_heads ? 1 : heads,
                       .rows = request->queries ? request->query_count : s->queries,
                       .width = s->keys + request->layer->extra_keys};
    if (!request->average_heads) shape.axes[shape.rank++] = heads;
    shape.axes[shape.rank++] = shape.rows;
    return shape;
}

static void check_whole_map(const exchange *r, const char *name, const double *whole) {
    map_shape shape = shape_of(r);
    wire_tensor got = wire_get(part_of(r, name));
    shape.axes[shape.rank++] = shape.width;
    check_shape(r, name, &got, shape.axes, shape.rank);
    double *want = calloc(shape.width, sizeof *want);
    for (size_t i = 0; i < shape.heads * shape.rows; i++) {
        row_of(r, whole, i / shape.rows, i % shape.rows, shape.width, want);
        for (size_t j = 0; j < shape.width; j++)
            check_number(r, name, i, got.values[i * shape.width + j], want[j]);
    }
    free(want);
    wire_done(&got);
}

/* One row's k largest: each the weight of its key, no key twice, the rest what is left. */
static void check_top_row(const exchange *r, const double *weights, const double *scores,
                          const wire_tensor tops[4], size_t row, size_t width) {
    size_t k = r->random.request.top_k;
    double left = 0;
    bool *seen = calloc(width, sizeof *seen);
    for (size_t j = 0; j < width; j++)
        left += weights[j];
    for (size_t c = 0; c < k; c++) {
        double index = tops[0].values[row * k + c], weight = tops[1].values[row * k + c];
        double score = tops[3].values ? tops[3].values[row * k + c] : 0;
        if (index == -1) {
            check_number(r, "padded weight", c, weight, 0);
            if (tops[3].values) check_number(r, "padded score", c, score, -INFINITY);
            check_number(r, "weight that is left", c, left, 0);
            continue;
        }
        ck_seed(index >= 0 && index < (double)width && !seen[(size_t)index], &r->random, "index %g", index);
        seen[(size_t)index] = true;
        check_number(r, "weight", c, weight, weights[(size_t)index]);
        if (tops[3].values) check_number(r, "score", c, score, scores[(size_t)index]);
        left -= weights[(size_t)index];
        for (size_t j = 0; j < width; j++)
            if (!seen[j])
                ck_seed(weights[j] <= weights[(size_t)index] + 1e-4, &r->random, "key %zu is larger", j);
        if (c + 1 == k) check_number(r, "rest", row, tops[2].values[row], left);
    }
    free(seen);
}

static void check_top_map(const exchange *r) {
    static const char *const names[] = {"index", "weight", "rest", "score"};
    bool scores = (r->random.request.want & ATTN_WANT_SCORES) != 0;
    const json_t *map = part_of(r, "attention");
    wire_tensor tops[4] = {{0}};
    map_shape shape = shape_of(r);
    size_t axes[3] = {shape.axes[0], shape.axes[1], 0};
    axes[shape.rank] = r->random.request.top_k;
    ck_assert_uint_eq(json_object_size(map), scores ? 4 : 3);
    ck_assert_ptr_null(json_object_get(r->answer, "scores"));
    for (size_t i = 0; i < (scores ? 4 : 3); i++) {
        tops[i] = wire_get(json_object_get(map, names[i]));
        check_shape(r, names[i], &tops[i], axes, shape.rank + (i != 2));
    }
    double *weights = calloc(shape.width, sizeof *weights), *raw = calloc(shape.width, sizeof *raw);
    for (size_t i = 0; i < shape.heads * shape.rows; i++) {
        row_of(r, r->want.weights, i / shape.rows, i % shape.rows, shape.width, weights);
        if (scores) row_of(r, r->want.scores, i / shape.rows, i % shape.rows, shape.width, raw);
        check_top_row(r, weights, raw, tops, i, shape.width);
    }
    free(weights);
    free(raw);
    for (size_t i = 0; i < 4; i++)
        wire_done(&tops[i]);
}

static void check_sequence(const exchange *r) {
    unsigned want = r->random.request.want;
    if (want & ATTN_WANT_OUTPUTS) check_outputs(r);
    if (want & ATTN_WANT_PROJECTIONS) check_projections(r);
    if (r->random.request.top_k > 0) {
        check_top_map(r);
        return;
    }
    if (want & ATTN_WANT_MAPS) check_whole_map(r, "attention", r->want.weights);
    if (want & ATTN_WANT_SCORES) check_whole_map(r, "scores", r->want.scores);
}

static void check_small_members(const exchange *r, size_t rows_without_keys) {
    const attn_request *request = &r->random.request;
    const json_t *lengths = json_object_get(r->answer, "lengths");
    ck_assert_int_eq(lengths != NULL, r->text.packed);
    for (size_t n = 0; r->text.packed && n < request->sequence_count; n++)
        ck_assert_uint_eq((size_t)json_integer_value(json_array_get(lengths, n)),
                          request->sequences[n].queries);
    size_t found = (size_t)json_integer_value(json_object_get(r->answer, "rows_without_keys"));
    ck_seed(found == rows_without_keys, &r->random, "%zu rows without keys, not %zu", found,
            rows_without_keys);
    static const struct {
        const char *name;
        unsigned want;
    } members[] = {{"outputs", ATTN_WANT_OUTPUTS},
                   {"attention", ATTN_WANT_MAPS},
                   {"projections", ATTN_WANT_PROJECTIONS}};
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(json_object_get(r->answer, members[i].name) != NULL,
                         (request->want & members[i].want) != 0);
}

START_TEST(texts_agree_with_the_reference) {
    attn_pool *pool = NULL;
    ck_assert_int_eq(attn_pool_new(2, &pool, NULL), ATTN_OK);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        exchange r = {0};
        size_t rows_without_keys = 0;
        random_request_init(&r.random, first_seed + i);
        random_body_init(&r.text, &r.random);
        attn_error error = {0};
        ck_seed(attn_plan_make(&r.random.request, 2, &r.plan, &error) == ATTN_OK, &r.random, "%s",
                error.text);
        r.answer = answer_to(&r, pool);
        for (r.sequence = 0; r.sequence < r.random.request.sequence_count; r.sequence++) {
            ck_assert_int_eq(attn_reference_compute(&r.plan, r.sequence, &r.want, NULL), ATTN_OK);
            check_sequence(&r);
            /* Projections alone look at no keys. */
            if (r.random.request.want != ATTN_WANT_PROJECTIONS) rows_without_keys += r.want.rows_without_keys;
            attn_reference_done(&r.want);
        }
        check_small_members(&r, rows_without_keys);
        json_decref(r.answer);
        random_body_done(&r.text);
        random_request_done(&r.random);
    }
    attn_pool_free(pool);
}
END_TEST

ATTND_SUITE(json_combinations) {
    Suite *suite = suite_create("json_combinations");
    TCase *cases = tcase_create("random requests");
    tcase_add_unchecked_fixture(cases, attn_blas_single_threaded, NULL);
    tcase_add_test(cases, texts_agree_with_the_reference);
    suite_add_tcase(suite, cases);
    return suite;
}
