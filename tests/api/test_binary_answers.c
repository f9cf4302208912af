/* POST /v1/attention answered as NPY and safetensors: every tensor holds the numbers of the answer in JSON, and what
 * stands around them is what readers expect. */
#include "api.h"

#include "engine/engine.h"
#include "server/codec/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static http_answer ask(const char *query, const char *accept, const char *body) {
    char path[256], header[128];
    snprintf(path, sizeof path, "/v1/attention%s", query);
    snprintf(header, sizeof header, "Accept: %s", accept);
    return http_send("POST", api_daemon.url, path, (const char *const[]){header, NULL}, body, strlen(body));
}

/* All numbers of a value, however deep, behind those that are there; null is −Infinity. */
static void collect(const json_t *value, double *out, size_t *count) {
    size_t i;
    json_t *item;
    if (!json_is_array(value)) {
        ck_assert_uint_lt(*count, MOST);
        out[(*count)++] = json_is_null(value) ? -INFINITY : json_number_value(value);
    }
    json_array_foreach(value, i, item) collect(item, out, count);
}

/* The member `part` ("": all) of a value, or of each element of a list. */
static void collect_part(const json_t *value, const char *part, double *out, size_t *count) {
    size_t i;
    json_t *item;
    if (*part == '\0') {
        collect(value, out, count);
    } else if (json_is_object(value)) {
        ck_assert_msg(json_object_get(value, part) != NULL, "%s", part);
        collect(json_object_get(value, part), out, count);
    } else {
        json_array_foreach(value, i, item) collect_part(item, part, out, count);
    }
}

/* The numbers in the JSON answer of what binary ones call "attention.index.1". */
static size_t expected(const json_t *answer, const char *name, double *out) {
    char member[64] = "", part[64] = "";
    size_t count = 0, sequence = SIZE_MAX, dot = strcspn(name, ".");
    memcpy(member, name, dot);
    const char *rest = name[dot] == '.' ? name + dot + 1 : "";
    if (*rest < '0' || *rest > '9') {
        dot = strcspn(rest, ".");
        memcpy(part, rest, dot);
        rest = rest[dot] == '.' ? rest + dot + 1 : "";
    }
    if (*rest != '\0') sequence = strtoul(rest, NULL, 10);
    const json_t *value = json_object_get(answer, member);
    ck_assert_msg(value != NULL, "%s", name);
    if (sequence != SIZE_MAX) value = json_array_get(value, sequence);
    collect_part(value, part, out, &count);
    return count;
}

static double number_at(attn_dtype dtype, const unsigned char *at) {
    float number;
    int64_t wide;
    int32_t narrow;
    if (dtype == ATTN_I64) return (memcpy(&wide, at, sizeof wide), (double)wide);
    if (dtype == ATTN_I32) return (memcpy(&narrow, at, sizeof narrow), (double)narrow);
    attn_dtype_to_f32(dtype, at, 1, &number);
    return number;
}

/* Elements against the numbers of the JSON answer: float32 to the bit, float16 rounded. */
static void compare(const char *name, attn_dtype dtype, const unsigned char *data, size_t count,
                    const json_t *answer) {
    double right[MOST];
    size_t width = attn_dtype_bits(dtype) / 8, wanted = expected(answer, name, right);
    ck_assert_msg(count == wanted, "%s: %zu elements, %zu in JSON", name, count, wanted);
    for (size_t i = 0; i < count; i++) {
        double found = number_at(dtype, data + i * width);
        double limit = dtype == ATTN_F16 ? fabs(right[i]) / 2048 + 1e-7 : 0;
        bool equal = dtype == ATTN_F32 ? (float)right[i] == (float)found : fabs(found - right[i]) <= limit;
        ck_assert_msg(equal || (isinf(right[i]) && found == right[i]), "%s[%zu]: %g, %g in JSON", name, i,
                      found, right[i]);
    }
}

#define ONE "{\"inputs\":[[1,0,0.5,0],[0,1,0,0],[0,0,-1,2]],\"causal\":true}"
#define EVEN                                                                                                 \
    "{\"inputs\":[[[1,0,0,0],[0,1,0,0]],[[0,0,1,0],[0,0,0,1]]],\"tokens\":[[\"a\\\"}\",\"b,\\\\\"],["        \
    "\"\xc3\xa9\","                                                                                          \
    "\"\\n\"]],\"causal\":true}"
#define RAGGED "{\"inputs\":[[[1,0,0,0],[0,1,0,0]],[[0,0,1,0]]]}"
#define PACKED "{\"inputs\":[[1,0,0,0],[0,1,0,0],[0,0,1,0]],\"lengths\":[2,1]}"

static const struct {
    const char *body, *query, *names; /* of the tensors, in the order of their data */
} files[] = {
    {ONE, "", "outputs attention"},
    {ONE, "?scores=1&projections=1", "outputs attention scores projections.q projections.k projections.v"},
    {ONE, "?outputs=0&heads=1&queries=2,0", "attention"},
    {ONE, "?top_k=2&scores=1", "outputs attention.index attention.weight attention.score attention.rest"},
    {ONE, "?top_k=2&dtype=f16", "attention.index outputs attention.weight attention.rest"},
    {ONE, "?average_heads=1", "outputs attention"},
    {EVEN, "", "outputs attention"},
    {EVEN, "?projections=1&dtype=f16", "outputs attention projections.q projections.k projections.v"},
    {EVEN, "?top_k=1", "outputs attention.index attention.weight attention.rest"},
    {RAGGED, "?scores=1", "lengths outputs attention.0 attention.1 scores.0 scores.1"},
    {RAGGED, "?top_k=1",
     "lengths outputs attention.index.0 attention.index.1 attention.weight.0 attention.weight.1 "
     "attention.rest.0 "
     "attention.rest.1"},
    {PACKED, "?attention=0&projections=1",
     "lengths outputs projections.q.0 projections.q.1 projections.k.0 projections.k.1 projections.v.0 "
     "projections.v.1"},
    {PACKED, "?stats=entropy&tokens=a,b,c&attention=0", "lengths outputs"},
};

/* Every string of __metadata__ is the member of the JSON answer: a string, or JSON text. */
static bool check_member(void *context, const char *key, const char *value) {
    json_t *right = json_object_get(context, key);
    ck_assert_msg(right != NULL, "%s is no member", key);
    json_t *read = json_is_string(right) ? json_string(value) : json_loads(value, JSON_DECODE_ANY, NULL);
    ck_assert_msg(json_equal(read, right), "%s: %s", key, value);
    json_decref(read);
    json_object_del(context, key);
    return true;
}

static void check_tensors(const attn_file_header *header, const unsigned char *data, const char *names,
                          const json_t *right) {
    for (size_t i = 0; i < header->tensor_count; i++) {
        const attn_file_tensor *tensor = header->tensors + i;
        size_t length = strcspn(names, " ");
        ck_assert_msg(strlen(tensor->name) == length && memcmp(tensor->name, names, length) == 0,
                      "%s where %s is", tensor->name, names);
        names += length + (names[length] == ' ');
        ck_assert_uint_eq(tensor->begin % (attn_dtype_bits(tensor->dtype) / 8), 0);
        if (strcmp(tensor->name, "lengths") == 0) {
            ck_assert(tensor->dtype == ATTN_I64 && tensor->count == 2);
            ck_assert(number_at(ATTN_I64, data) == 2 && number_at(ATTN_I64, data + 8) == 1);
        } else {
            compare(tensor->name, tensor->dtype, data + tensor->begin, tensor->count, right);
        }
    }
    ck_assert_msg(*names == '\0', "%s is missing", names);
}

START_TEST(safetensors_hold_what_json_says) {
    static const char *const tensors[] = {"outputs", "attention", "scores", "projections"};
    http_answer mine = ask(files[_i].query, "application/x-safetensors", files[_i].body);
    ck_assert_msg(mine.status == 200, "%s: %s", files[_i].query, mine.body);
    api_check_header(&mine, "Content-Type", "application/x-safetensors");
    char query[128];
    snprintf(query, sizeof query, "%s%sencoding=json", files[_i].query, *files[_i].query ? "&" : "?");
    char *half = strstr(query, "&dtype=f16");
    if (half) memmove(half, half + 10, strlen(half + 10) + 1);
    http_answer other = ask(query, "application/json", files[_i].body);
    json_t *right = http_json(&other);

    const unsigned char *bytes = (const unsigned char *)mine.body;
    uint64_t size = attn_file_header_length(bytes);
    attn_file_header header;
    attn_error error = {0};
    ck_assert_uint_eq(size % 8, 0);
    ck_assert_msg(attn_file_header_parse(mine.body + 8, size, mine.size - 8 - size, "answer", &header, NULL,
                                         &error) == ATTN_OK,
                  "%s", error.text);
    check_tensors(&header, bytes + 8 + size, files[_i].names, right);
    attn_file_header_each_metadata(&header, check_member, right);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        json_object_del(right, tensors[i]);
    ck_assert_msg(json_object_size(right) == 0, "__metadata__ misses %s",
                  json_object_iter_key(json_object_iter(right)));
    attn_file_header_done(&header);
    json_decref(right);
    http_done(&mine);
    http_done(&other);
}
END_TEST

static const struct {
    const char *body, *query, *twin; /* the query of the same numbers in JSON */
    const char *descr, *member;
    size_t rank, shape[4];
} arrays[] = {
    {ONE, "", "?attention=0", "<f4", "outputs", 2, {3, 4}},
    {ONE, "?tensor=attention&heads=1", "?heads=1", "<f4", "attention", 3, {1, 3, 3}},
    {ONE, "?tensor=attention&average_heads=1", "?average_heads=1", "<f4", "attention", 2, {3, 3}},
    {ONE, "?tensor=scores", "?scores=1&attention=0&outputs=0", "<f4", "scores", 3, {2, 3, 3}},
    {EVEN, "?dtype=f16", "?attention=0", "<f2", "outputs", 3, {2, 2, 4}},
    {EVEN, "?tensor=projections.v", "?projections=1", "<f4", "projections.v", 4, {2, 2, 2, 2}},
    {EVEN, "?tensor=attention", "", "<f4", "attention", 4, {2, 2, 2, 2}},
    {RAGGED, "?tensor=outputs", "?attention=0", "<f4", "outputs", 2, {3, 4}},
    {PACKED, "?top_k=1", "?attention=0", "<f4", "outputs", 2, {3, 4}},
};

START_TEST(npy_holds_one_tensor) {
    http_answer mine = ask(arrays[_i].query, "application/x-npy", arrays[_i].body);
    ck_assert_msg(mine.status == 200, "%s: %s", arrays[_i].query, mine.body);
    api_check_header(&mine, "Content-Type", "application/x-npy");
    http_answer other = ask(arrays[_i].twin, "application/json", arrays[_i].body);
    json_t *right = http_json(&other);
    srv_npy header;
    srv_problem problem = {0};
    ck_assert_msg(srv_npy_read_header(mine.body, mine.size, &header, &problem), "%s", problem.detail);
    ck_assert_str_eq(header.descr, arrays[_i].descr);
    ck_assert(!header.is_fortran && header.data_at % 64 == 0 && mine.body[6] == 1 && mine.body[7] == 0);
    ck_assert_uint_eq(header.rank, arrays[_i].rank);
    for (size_t i = 0; i < header.rank; i++)
        ck_assert_uint_eq(header.shape[i], arrays[_i].shape[i]);
    bool is_half = strcmp(header.descr, "<f2") == 0;
    ck_assert_uint_eq(mine.size, header.data_at + header.count * (is_half ? 2 : 4));
    compare(arrays[_i].member, is_half ? ATTN_F16 : ATTN_F32,
            (const unsigned char *)mine.body + header.data_at, header.count, right);
    json_decref(right);
    http_done(&mine);
    http_done(&other);
}
END_TEST

static const struct {
    const char *body, *query, *accept;
    long status;
    const char *code, *parameter; /* NULL: none is named */
} refused[] = {
    {RAGGED, "?tensor=attention", "application/x-npy", 422, "conflict", "tensor"},
    {PACKED, "?tensor=scores", "application/x-npy", 422, "conflict", "tensor"},
    {ONE, "?tensor=attention&top_k=1", "application/x-npy", 422, "conflict", "tensor"},
    {ONE, "?outputs=false", "application/x-npy", 422, "conflict", "tensor"},
    {ONE, "?tensor=attention&attention=0", "application/x-npy", 422, "conflict", "tensor"},
    {ONE, "?tensor=weights", "application/x-npy", 422, "out_of_range", "tensor"},
    {ONE, "?tensor=outputs", "application/json", 422, "bad_parameter", "tensor"},
    {ONE, "?tensor=outputs", "application/x-safetensors", 422, "bad_parameter", "tensor"},
    {ONE, "?tensor=outputs&model=none", "application/json", 404, "model_not_found", "model"},
    {"{\"model\":\"plain\",\"inputs\":[[70000]]}", "?dtype=f16", "application/x-safetensors", 422,
     "not_representable", "dtype"},
    {"{\"model\":\"plain\",\"inputs\":[[70000]]}", "?dtype=f16", "application/x-npy", 422,
     "not_representable", "dtype"},
    {ONE, "?dtype=f16", "application/json", 422, "conflict", "dtype"},
    {ONE, "", "application/x-npy;q=0, text/html", 406, "not_acceptable", NULL},
};

START_TEST(what_a_format_cannot_hold_is_refused) {
    http_answer answer = ask(refused[_i].query, refused[_i].accept, refused[_i].body);
    api_check_problem(&answer, refused[_i].status, refused[_i].code);
    json_t *problem = http_json(&answer);
    const char *found = json_string_value(json_object_get(problem, "parameter"));
    ck_assert_msg(refused[_i].parameter ? found && strcmp(found, refused[_i].parameter) == 0 : !found, "%s",
                  answer.body);
    json_decref(problem);
    http_done(&answer);
}
END_TEST

START_TEST(accept_chooses_the_format) {
    static const struct {
        const char *accept, *type;
    } choices[] = {
        {"*/*", "application/json"},
        {"application/*", "application/json"},
        {"application/x-npy", "application/x-npy"},
        {"application/x-npy, application/json", "application/json"},
        {"application/x-npy, */*", "application/x-npy"},
        {"application/json;q=0.5, application/x-npy;q=0.6, application/x-safetensors;q=0.55",
         "application/x-npy"},
        {"application/json;q=0, application/*;q=0.3, application/x-npy;q=0.2", "application/x-safetensors"},
        {"application/json, text/plain, */*", "application/json"},
        {"text/html,application/xhtml+xml,*/*;q=0.8", "application/json"},
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        http_answer answer = ask("", choices[i].accept, ONE);
        ck_assert_msg(answer.status == 200, "%s: %s", choices[i].accept, answer.body);
        api_check_header(&answer, "Content-Type", choices[i].type);
        http_done(&answer);
    }
    http_answer plan = ask("?plan=1", "application/x-npy", ONE);
    api_check_header(&plan, "Content-Type", "application/json");
    http_done(&plan);
}
END_TEST

ATTND_SUITE(binary_answers) {
    Suite *suite = suite_create("binary_answers");
    TCase *tests = api_case(suite, "binary_answers");
    tcase_add_loop_test(tests, safetensors_hold_what_json_says, 0, (int)(sizeof files / sizeof *files));
    tcase_add_loop_test(tests, npy_holds_one_tensor, 0, (int)(sizeof arrays / sizeof *arrays));
    tcase_add_loop_test(tests, what_a_format_cannot_hold_is_refused, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, accept_chooses_the_format);
    return suite;
}
