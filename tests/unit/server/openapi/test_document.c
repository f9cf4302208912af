/* The OpenAPI document against the tables that the daemon itself works from: routes, problems, the request's fields,
 * limits. What is in one and not in the other fails here. */
#include "config/cfg.h"
#include "server/codec/json_fields.h"
#include "server/openapi/document.h"
#include "server/problem.h"
#include "server/routes/routes.h"
#include "server/version.h"
#include "suites.h"

#include <jansson.h>
#include <string.h>

static json_t *document;

static void read_document(void) {
    srv_text text = {0};
    json_error_t error;
    srv_openapi_append(&text);
    ck_assert(!text.failed);
    document = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(document != NULL, "line %d: %s", error.line, error.text);
    srv_text_done(&text);
}

static void free_document(void) {
    json_decref(document);
}

/* What a path of member names leads to, NULL where it leads nowhere; a NULL name ends it. */
static json_t *at(json_t *from, const char *const names[]) {
    for (; *names != NULL; names++)
        from = json_object_get(from, *names);
    return from;
}
#define AT(from, ...) at(from, (const char *const[]){__VA_ARGS__, NULL})

/* Follows "#/components/<kind>/<name>". */
static json_t *resolved(json_t *value) {
    const char *reference = json_string_value(json_object_get(value, "$ref"));
    if (reference == NULL) return value;
    static const char start[] = "#/components/";
    ck_assert_msg(strncmp(reference, start, sizeof start - 1) == 0, "%s", reference);
    char kind[32] = "";
    const char *rest = reference + sizeof start - 1, *slash = strchr(rest, '/');
    ck_assert_msg(slash != NULL && (size_t)(slash - rest) < sizeof kind, "%s", reference);
    memcpy(kind, rest, (size_t)(slash - rest));
    json_t *found = AT(document, "components", kind, slash + 1);
    ck_assert_msg(found != NULL, "%s leads nowhere", reference);
    return found;
}

static bool holds(json_t *list, const char *text) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_string(json_array_get(list, i)) &&
            strcmp(json_string_value(json_array_get(list, i)), text) == 0)
            return true;
    return false;
}

START_TEST(it_bears_this_version) {
    ck_assert_str_eq(json_string_value(AT(document, "openapi")), "3.1.0");
    ck_assert_str_eq(json_string_value(AT(document, "info", "version")), SRV_VERSION.version);
}
END_TEST

static void follow(json_t *value) {
    const char *name;
    json_t *member;
    size_t i;
    resolved(value);
    json_object_foreach(value, name, member) follow(member);
    json_array_foreach(value, i, member) follow(member);
}

START_TEST(every_reference_leads_somewhere) {
    follow(document);
}
END_TEST

static bool is_routed(const char *path, const char *method) {
    for (size_t i = 0; i < srv_route_table.count; i++)
        if (strcmp(srv_route_table.rows[i].path, path) == 0 &&
            strcmp(srv_route_table.rows[i].method, method) == 0)
            return true;
    return false;
}

/* The operations of a path: those of its rows, and no others. */
static void check_methods(const char *path, json_t *item) {
    bool gets = is_routed(path, "GET"), posts = is_routed(path, "POST");
    size_t wanted = 1 + (gets ? 2U : 0U) + (posts ? 1U : 0U);
    ck_assert_msg((json_object_get(item, "get") != NULL) == gets, "%s: get", path);
    ck_assert_msg((json_object_get(item, "head") != NULL) == gets, "%s: head", path);
    ck_assert_msg((json_object_get(item, "post") != NULL) == posts, "%s: post", path);
    ck_assert_msg(json_object_get(item, "options") != NULL, "%s: options", path);
    ck_assert_uint_eq(json_object_size(item) - (json_object_get(item, "parameters") != NULL), wanted);
}

START_TEST(its_paths_are_the_routes) {
    json_t *paths = AT(document, "paths");
    size_t count = 0;
    for (size_t i = 0; i < srv_route_table.count; i++) {
        const srv_route *route = &srv_route_table.rows[i];
        json_t *item = json_object_get(paths, route->path);
        ck_assert_msg(item != NULL, "%s is missing", route->path);
        json_t *operation = json_object_get(item, strcmp(route->method, "GET") == 0 ? "get" : "post");
        ck_assert_msg(operation != NULL, "%s %s is missing", route->method, route->path);
        check_methods(route->path, item);
        /* What the row says shows in the statuses. */
        json_t *responses = json_object_get(operation, "responses");
        bool refuses_query = route->takes_query || !route->ignores_query;
        ck_assert_msg((json_object_get(responses, "422") != NULL) == refuses_query, "%s: 422", route->path);
        ck_assert_msg((json_object_get(responses, "406") != NULL) ==
                          (route->produces != NULL || (route->codecs && !route->ignores_accept)),
                      "%s: 406", route->path);
        ck_assert_msg((json_object_get(responses, "415") != NULL) == (route->codecs != NULL), "%s: 415",
                      route->path);
        bool is_keyed = route->right != SRV_RIGHT_NONE;
        ck_assert_msg((json_object_get(responses, "401") != NULL) == is_keyed, "%s: 401", route->path);
        ck_assert_msg((json_object_get(responses, "429") != NULL) == is_keyed, "%s: 429", route->path);
        ck_assert_msg((json_object_get(operation, "security") == NULL) == is_keyed, "%s: security",
                      route->path);
        ck_assert_msg((strchr(route->path, '{') != NULL) == (json_object_get(item, "parameters") != NULL),
                      "%s: parameters", route->path);
        /* A path with both methods has two rows. */
        count += strcmp(route->method, "GET") == 0 || !is_routed(route->path, "GET");
    }
    ck_assert_uint_eq(json_object_size(paths), count);
}
END_TEST

static const struct {
    int status;
    const char *code;
} problems[] = {
#define X(id, status, code) {status, code},
    SRV_PROBLEMS(X)
#undef X
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* No problem at all, and what nobody is left to read. */
static bool is_told(size_t index) {
    return problems[index].status != 200 && problems[index].status != 499;
}

static int status_of(const char *code) {
    for (size_t i = 0; i < PROBLEMS; i++)
        if (strcmp(problems[i].code, code) == 0) return problems[i].status;
    return 0;
}

START_TEST(its_codes_are_the_table_of_problems) {
    json_t *codes = AT(document, "components", "schemas", "Problem", "properties", "code", "enum");
    size_t next = 0;
    for (size_t i = 0; i < PROBLEMS; i++) {
        if (!is_told(i)) continue;
        const char *code = json_string_value(json_array_get(codes, next++));
        ck_assert_msg(code != NULL && strcmp(code, problems[i].code) == 0, "%s where %s belongs", code,
                      problems[i].code);
    }
    ck_assert_uint_eq(json_array_size(codes), next);
}
END_TEST

/* The codes of one response of an operation, all of the status under which it stands; `seen` collects them. */
static void check_response(const char *status, json_t *response, bool seen[PROBLEMS]) {
    json_t *schema = AT(response, "content", "application/problem+json", "schema", "allOf");
    if (schema == NULL) schema = AT(response, "content", "application/json", "schema", "allOf");
    json_t *narrow = AT(json_array_get(schema, 1), "properties"), *codes = AT(narrow, "code", "enum");
    if (schema == NULL) return;
    ck_assert_int_eq(json_integer_value(AT(narrow, "status", "const")), strtol(status, NULL, 10));
    ck_assert_uint_gt(json_array_size(codes), 0);
    for (size_t i = 0; i < json_array_size(codes); i++) {
        const char *code = json_string_value(json_array_get(codes, i));
        for (size_t j = 0; j < PROBLEMS; j++)
            seen[j] |= strcmp(problems[j].code, code) == 0;
        ck_assert_msg(status_of(code) == strtol(status, NULL, 10), "%s stands under %s", code, status);
    }
}

START_TEST(codes_stand_under_their_statuses_and_each_stands_somewhere) {
    bool seen[PROBLEMS] = {false};
    const char *path, *method, *status;
    json_t *item, *operation, *response;
    json_object_foreach(AT(document, "paths"), path, item) {
        json_object_foreach(item, method, operation) {
            json_object_foreach(AT(operation, "responses"), status, response) {
                check_response(status, resolved(response), seen);
            }
        }
    }
    /* The one that no described operation has. */
    check_response("405", AT(document, "components", "responses", "MethodNotAllowed"), seen);
    for (size_t i = 0; i < PROBLEMS; i++)
        ck_assert_msg(seen[i] == is_told(i), "%s stands %s", problems[i].code,
                      seen[i] ? "somewhere" : "nowhere");
}
END_TEST

static void check_fields(const srv_field *table, const char *schema) {
    json_t *properties = AT(document, "components", "schemas", schema, "properties");
    size_t count = 0;
    for (; table->name != NULL; table++, count++) {
        json_t *property = json_object_get(properties, table->name);
        ck_assert_msg(property != NULL, "%s.%s is missing", schema, table->name);
        ck_assert_msg(json_object_get(property, "description") != NULL, "%s.%s has no meaning", schema,
                      table->name);
        /* Of the contract, not served yet: nothing but null is taken. */
        const char *type = json_string_value(json_object_get(property, "type"));
        bool reserved = type != NULL && strcmp(type, "null") == 0;
        ck_assert_msg(reserved == (!table->set && !table->members && !table->take), "%s.%s", schema,
                      table->name);
    }
    ck_assert_uint_eq(json_object_size(properties), count);
}

START_TEST(its_fields_are_the_codec_s) {
    check_fields(srv_fields, "AttentionRequest");
    check_fields(srv_field_find(srv_fields, "return")->members, "Return");
}
END_TEST

static json_t *parameter_named(json_t *parameters, const char *name) {
    for (size_t i = 0; i < json_array_size(parameters); i++) {
        json_t *parameter = resolved(json_array_get(parameters, i));
        if (strcmp(json_string_value(json_object_get(parameter, "name")), name) == 0) return parameter;
    }
    return NULL;
}

/* Returns how many of the table's fields are parameters. */
static size_t check_parameters(const srv_field *table, json_t *parameters) {
    size_t count = 0;
    for (; table->name != NULL; table++) {
        json_t *parameter = parameter_named(parameters, table->name);
        ck_assert_msg((parameter != NULL) == (table->kind != SRV_FIELD_BODY), "parameter %s", table->name);
        if (parameter == NULL) continue;
        bool is_list = table->kind == SRV_FIELD_NUMBERS || table->kind == SRV_FIELD_TEXTS;
        const char *type = json_string_value(AT(parameter, "schema", "type"));
        ck_assert_msg(is_list == (type != NULL && strcmp(type, "array") == 0), "parameter %s", table->name);
        bool has_commas = is_list || table->kind == SRV_FIELD_BOOLEAN_OR_TEXTS;
        ck_assert_msg(has_commas == json_is_false(json_object_get(parameter, "explode")), "parameter %s",
                      table->name);
        ck_assert_str_eq(json_string_value(json_object_get(parameter, "in")), "query");
        count++;
    }
    return count;
}

/* Whether no row before that one has the parameter. */
static bool is_first_with(const char *name, size_t row) {
    for (size_t i = 0; i < row; i++)
        if (srv_codec_has_parameter(&srv_codecs_attention.rows[i], name)) return false;
    return true;
}

START_TEST(its_parameters_are_the_codec_s) {
    json_t *parameters = AT(document, "paths", "/v1/attention", "post", "parameters");
    size_t count = check_parameters(srv_fields, parameters);
    count += check_parameters(srv_field_find(srv_fields, "return")->members, parameters);
    for (size_t i = 0; i < srv_codecs_attention.count; i++) {
        const char *const *name = srv_codecs_attention.rows[i].parameters;
        for (; name != NULL && *name != NULL; name++) {
            ck_assert_msg(parameter_named(parameters, *name) != NULL, "parameter %s", *name);
            count += is_first_with(*name, i);
        }
    }
    ck_assert_ptr_nonnull(parameter_named(parameters, "compress"));
    ck_assert_uint_eq(json_array_size(parameters), count + 2); /* and the request's id */
}
END_TEST

START_TEST(its_media_types_are_the_codec_s) {
    json_t *operation = AT(document, "paths", "/v1/attention", "post");
    json_t *read = AT(operation, "requestBody", "content");
    json_t *written = AT(operation, "responses", "200", "content");
    size_t readers = 0, writers = 0;
    for (size_t i = 0; i < srv_codecs_attention.count; i++) {
        const srv_codec *codec = &srv_codecs_attention.rows[i];
        readers += srv_codec_is_read(codec);
        writers += codec->encode != NULL;
        /* text/plain is JSON as a body and a heat map as an answer. */
        bool is_read = srv_codec_of_body(&srv_codecs_attention, codec->type) != NULL;
        ck_assert_msg((json_object_get(read, codec->type) != NULL) == is_read, "%s is read", codec->type);
        for (const char *const *also = codec->also; also != NULL && *also != NULL; also++, readers++)
            ck_assert_msg(json_object_get(read, *also) != NULL, "%s is read", *also);
        ck_assert_msg((json_object_get(written, codec->type) != NULL) == (codec->encode != NULL),
                      "%s is written", codec->type);
    }
    ck_assert_uint_eq(json_object_size(read), readers);
    ck_assert_uint_eq(json_object_size(written), writers);
}
END_TEST

START_TEST(its_limits_are_the_settings) {
    json_t *groups = AT(document, "components", "schemas", "Limits", "properties");
    const char *name;
    size_t number, count = 0, described = 0;
    cfg_settings settings = {0};
    for (size_t i = 0; cfg_number_at(&settings, i, &name, &number); i++) {
        const char *dot = strchr(name, '.');
        char group[32] = "";
        memcpy(group, name, (size_t)(dot - name));
        if (json_object_get(groups, group) == NULL) continue;
        json_t *limit = AT(groups, group, "properties", dot + 1);
        ck_assert_msg(limit != NULL, "%s is missing", name);
        ck_assert_msg(holds(AT(groups, group, "required"), dot + 1), "%s is not required", name);
        count++;
    }
    json_t *group;
    json_object_foreach(groups, name, group) described +=
        json_object_size(json_object_get(group, "properties"));
    ck_assert_uint_eq(described, count);
}
END_TEST

ATTND_SUITE(openapi) {
    Suite *suite = suite_create("openapi");
    TCase *cases = tcase_create("all");
    tcase_add_checked_fixture(cases, read_document, free_document);
    tcase_add_test(cases, it_bears_this_version);
    tcase_add_test(cases, every_reference_leads_somewhere);
    tcase_add_test(cases, its_paths_are_the_routes);
    tcase_add_test(cases, its_codes_are_the_table_of_problems);
    tcase_add_test(cases, codes_stand_under_their_statuses_and_each_stands_somewhere);
    tcase_add_test(cases, its_fields_are_the_codec_s);
    tcase_add_test(cases, its_parameters_are_the_codec_s);
    tcase_add_test(cases, its_media_types_are_the_codec_s);
    tcase_add_test(cases, its_limits_are_the_settings);
    suite_add_tcase(suite, cases);
    return suite;
}
