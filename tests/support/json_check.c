#include "json_check.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *step(const json_t *at, const char *token, size_t length) {
    char key[128];
    if (length >= sizeof key) return NULL;
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        bool escaped = token[i] == '~' && i + 1 < length;
        key[used++] = escaped ? token[++i] == '1' ? '/' : '~' : token[i];
    }
    key[used] = '\0';
    return json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
}

json_t *json_at(const json_t *document, const char *pointer) {
    json_t *at = (json_t *)document;
    for (const char *rest = pointer; at && *rest == '/';) {
        size_t length = strcspn(rest + 1, "/");
        at = step(at, rest + 1, length);
        rest += 1 + length;
    }
    char *text = at ? NULL : json_dumps(document, JSON_COMPACT);
    ck_assert_msg(at != NULL, "nothing at %s of %.400s", pointer, text);
    return at;
}

/* The largest relative difference; INFINITY where types, sizes or texts differ. `place` is where it is. */
static double compare(const json_t *got, const json_t *wanted, bool exact, char *place, size_t size) {
    char here[256] = "", inner[256];
    double worst = 0;
    snprintf(place, size, "%s", "");
    if (json_is_number(got) && json_is_number(wanted)) {
        double a = json_number_value(got), b = json_number_value(wanted);
        if (exact) return (float)a == (float)b && signbit(a) == signbit(b) ? 0 : INFINITY;
        double difference = fabs(a - b) / fmax(1, fabs(b));
        return isnan(difference) ? INFINITY : difference;
    }
    if (json_typeof(got) != json_typeof(wanted)) return INFINITY;
    if (!json_is_array(got)) return json_equal(got, wanted) ? 0 : INFINITY;
    if (json_array_size(got) != json_array_size(wanted)) return INFINITY;
    for (size_t i = 0; i < json_array_size(got); i++) {
        double difference =
            compare(json_array_get(got, i), json_array_get(wanted, i), exact, inner, sizeof inner);
        if (difference <= worst) continue;
        worst = difference;
        snprintf(here, sizeof here, "/%zu%.200s", i, inner);
    }
    snprintf(place, size, "%s", here);
    return worst;
}

static void check(const json_t *document, const char *pointer, const char *wanted, bool exact) {
    json_t *expected = json_loads(wanted, JSON_DECODE_ANY, NULL), *got = json_at(document, pointer);
    ck_assert_msg(expected != NULL, "the test's own JSON: %s", wanted);
    char place[256];
    double worst = compare(got, expected, exact, place, sizeof place);
    char *text = worst > 0 ? json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    ck_assert_msg(worst <= (exact ? 0 : 1e-5), "%s%s differs by %g: got %.600s, wanted %.600s", pointer,
                  place, worst, text, wanted);
    free(text);
    json_decref(expected);
}

void json_check(const json_t *document, const char *pointer, const char *wanted) {
    check(document, pointer, wanted, false);
}

void json_check_exact(const json_t *document, const char *pointer, const char *wanted) {
    check(document, pointer, wanted, true);
}

double json_difference(const json_t *got, const json_t *wanted) {
    char place[256];
    return compare(got, wanted, false, place, sizeof place);
}
