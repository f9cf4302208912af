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

bool srv_media_is_nothing(const char *value) {
    return !value || value[strspn(value, BLANKS)] == '\0';
}

/* How closely the range at `at` (up to ',' or ';') fits: 3 exactly, 2 by its type, 1 as any, 0 not at all. */
static int closeness(const char *at, const char *type) {
    size_t size = strcspn(at, ",;"), major = strcspn(type, "/") + 1;
    while (size > 0 && strchr(BLANKS, at[size - 1]))
        size--;
    if (size == strlen(type) && strncasecmp(at, type, size) == 0) return 3;
    if (size == major + 1 && strncasecmp(at, type, major) == 0 && at[major] == '*') return 2;
    bool is_any = (size == 3 && strncmp(at, "*/*", 3) == 0) || (size == 1 && *at == '*');
    return is_any ? 1 : 0;
}

/* The thousandths of a weight (RFC 9110, 12.4.2): 0 to 1, three digits at most. */
static int weight_at(const char *at) {
    bool is_one = *at == '1';
    if (*at != '0' && !is_one) return 1000;
    int weight = is_one ? 1000 : 0;
    at++;
    if (*at == '.') {
        at++;
        for (int unit = 100; *at >= '0' && *at <= '9'; at++, unit /= 10)
            weight += is_one ? 0 : (*at - '0') * unit;
    }
    return *at == '\0' || strchr(",; \t", *at) ? weight : 1000;
}

/* The weight among the parameters from `at` on, up to ','. */
static int weight_of(const char *at) {
    while (*at == ';') {
        at++;
        at += strspn(at, BLANKS);
        if ((*at == 'q' || *at == 'Q') && at[1] == '=') return weight_at(at + 2);
        at += strcspn(at, ",;");
    }
    return 1000;
}

void srv_media_prefer(const char *accept, const char *type, srv_preference *known) {
    for (const char *at = accept; *at != '\0';) {
        at += strspn(at, " \t,");
        int close = closeness(at, type);
        at += strcspn(at, ",;");
        if (close > known->closeness) *known = (srv_preference){close, weight_of(at)};
        at += strcspn(at, ",");
    }
}

bool srv_coding_of(const char *value, srv_coding *out) {
    *out = SRV_CODING_IDENTITY;
    if (srv_media_is_nothing(value) || srv_media_is(value, "identity")) return true;
    bool is_gzip = srv_media_is(value, "gzip") || srv_media_is(value, "x-gzip");
    *out = is_gzip ? SRV_CODING_GZIP : SRV_CODING_DEFLATE;
    return is_gzip || srv_media_is(value, "deflate");
}
