/* Media types (media.h). */
#include "media.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char BLANKS[] = " \t";

bool srv_media_is(const char *value, const char *type) {
    value += strspn(value, BLANKS);
    size_t length = strlen(type);
    if (strncasecmp(value, type, length) != 0) return false;
    value += length;
    value += strspn(value, BLANKS);
    return *value == '\0' || *value == ';';
}

bool srv_media_is_json(const char *value) {
    return !value || value[strspn(value, BLANKS)] == '\0' || srv_media_is(value, "application/json") ||
           srv_media_is(value, "text/plain") || srv_media_is(value, "application/x-www-form-urlencoded");
}

/* How closely the range at `at` (up to ',' or ';') fits: 3 exactly, 2 by its type, 1 as any, 0 not at all. */
static int closeness(const char *at, const char *type) {
    size_t size = strcspn(at, ",;"), major = strcspn(type, "/") + 1;
    while (size > 0 && strchr(BLANKS, at[size - 1]))
        size--;
    if (size == strlen(type) && strncasecmp(at, type, size) == 0) return 3;
    if (size == major + 1 && strncasecmp(at, type, major) == 0 && at[major] == '*') return 2;
    return size == 3 && strncmp(at, "*/*", 3) == 0 ? 1 : 0;
}

/* Whether the parameters from `at` on, up to ',', hold a weight of nothing: q=0, q=0.0 … q=0.000. */
static bool is_refused(const char *at) {
    while (*at == ';') {
        at++;
        at += strspn(at, BLANKS);
        if ((*at == 'q' || *at == 'Q') && at[1] == '=') {
            at += 2 + strspn(at + 2, "0.");
            return *at == '\0' || strchr(",; \t", *at) != NULL;
        }
        at += strcspn(at, ",;");
    }
    return false;
}

bool srv_media_is_accepted(const char *accept, const char *type) {
    if (!accept || accept[strspn(accept, BLANKS)] == '\0') return true;
    int closest = 0;
    bool accepted = false;
    for (const char *at = accept; *at != '\0';) {
        at += strspn(at, " \t,");
        int close = closeness(at, type);
        at += strcspn(at, ",;");
        if (close > closest) {
            closest = close;
            accepted = !is_refused(at);
        }
        at += strcspn(at, ",");
    }
    return accepted;
}

bool srv_coding_is_identity(const char *value) {
    if (!value) return true;
    value += strspn(value, BLANKS);
    return *value == '\0' || srv_media_is(value, "identity");
}
