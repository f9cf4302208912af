/* GET /openapi.json, and that its examples are real: each request of an example is answered as the example of the same
 * name says. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

static json_t *examples_of(json_t *document, const char *pointer) {
    json_t *examples = json_at(document, pointer);
    ck_assert_uint_gt(json_object_size(examples), 0);
    return examples;
}

START_TEST(the_document_is_served) {
    json_t *document = api_get("/openapi.json", 200);
    json_check_exact(document, "/openapi", "\"3.1.0\"");
    ck_assert_ptr_nonnull(json_object_get(json_at(document, "/paths"), "/v1/attention"));
    json_decref(document);
}
END_TEST

/* Member by member: numbers nearly, since another processor's kernels round otherwise; base64 by its shape. */
static void check_alike(json_t *got, json_t *wanted) {
    const char *name;
    json_t *member;
    ck_assert_uint_eq(json_object_size(got), json_object_size(wanted));
    json_object_foreach(wanted, name, member) {
        json_t *counterpart = json_object_get(got, name);
        ck_assert_msg(counterpart != NULL, "%s is missing", name);
        if (json_is_object(member)) {
            check_alike(counterpart, member);
        } else if (strcmp(name, "data") != 0) {
            char *text = json_dumps(member, JSON_ENCODE_ANY);
            json_check(counterpart, "", text);
            free(text);
        }
    }
}

static void check_example(json_t *request, json_t *wanted) {
    char *body = json_dumps(request, 0);
    json_t *answer = api_ask(body);
    /* Of a plan only what does not depend on the machine's memory. */
    if (json_object_get(answer, "plan") == NULL)
        check_alike(answer, wanted);
    else
        json_check_exact(answer, "/plan/flops", "320");
    json_decref(answer);
    free(body);
}

START_TEST(its_requests_are_answered_as_it_says) {
    json_t *document = api_get("/openapi.json", 200), *example;
    json_t *asked =
        examples_of(document, "/paths/~1v1~1attention/post/requestBody/content/application~1json/examples");
    json_t *answered =
        examples_of(document, "/paths/~1v1~1attention/post/responses/200/content/application~1json/examples");
    const char *name;
    ck_assert_uint_eq(json_object_size(asked), json_object_size(answered));
    json_object_foreach(asked, name, example)
        check_example(json_at(example, "/value"), json_at(json_object_get(answered, name), "/value"));
    json_decref(document);
}
END_TEST

ATTND_SUITE(openapi) {
    Suite *suite = suite_create("openapi");
    TCase *tests = api_case(suite, "openapi");
    tcase_add_test(tests, the_document_is_served);
    tcase_add_test(tests, its_requests_are_answered_as_it_says);
    return suite;
}
