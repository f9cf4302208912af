/* Targets: splitting and matching (target.h). */
#include "target.h"

#include <string.h>
#include <strings.h>

static size_t scheme_size(const char *raw) {
    if (raw[0] == '/') return 0;
    return strncasecmp(raw, "http://", 7) == 0 ? 7 : strncasecmp(raw, "https://", 8) == 0 ? 8 : 0;
}

srv_target srv_target_split(const char *raw) {
    size_t scheme = scheme_size(raw);
    const char *path = scheme > 0 ? raw + scheme + strcspn(raw + scheme, "/?") : raw;
    size_t size = strcspn(path, "?");
    srv_target target = {.path = path, .path_size = size};
    if (scheme > 0) {
        target.authority = raw + scheme;
        target.authority_size = (size_t)(path - target.authority);
    }
    if (path[size] == '?') {
        target.query = path + size + 1;
        target.query_size = strlen(target.query);
    }
    /* "http://host" and "http://host?q" mean the root (RFC 9112, 3.2.2). */
    if (size == 0 && path != raw) {
        target.path = "/";
        target.path_size = 1;
    }
    return target;
}

bool srv_target_is_below(const srv_target *target, const char *above) {
    size_t size = strlen(above);
    return target->path_size >= size && memcmp(target->path, above, size) == 0 &&
           (target->path_size == size || target->path[size] == '/');
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Percent-decodes one segment. */
static bool decode_segment(const char *from, size_t size, char out[SRV_PARAMETER_SIZE]) {
    size_t written = 0;
    for (size_t i = 0; i < size; i++) {
        char c = from[i];
        if (c == '%') {
            int high = i + 2 < size ? hex_digit(from[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(from[i + 2]);
            if (low < 0) return false;
            c = (char)(high * 16 + low);
            if (c == '\0' || c == '/') return false;
            i += 2;
        }
        if (written + 1 == SRV_PARAMETER_SIZE) return false;
        out[written++] = c;
    }
    out[written] = '\0';
    return written > 0;
}

/* From the pattern's first parameter on. */
static bool match_rest(const char *at, const char *end, const char *pattern, srv_parameters *parameters) {
    srv_parameters taken = {0};
    size_t count = 0;
    while (*pattern != '\0') {
        if (*pattern == '{') {
            const char *stop = at;
            while (stop < end && *stop != '/')
                stop++;
            if (!parameters ? stop == at : !decode_segment(at, (size_t)(stop - at), taken.text[count]))
                return false;
            count++;
            at = stop;
            pattern = strchr(pattern, '}') + 1;
        } else {
            if (at == end || *at != *pattern) return false;
            at++;
            pattern++;
        }
    }
    if (at != end) return false;
    if (parameters) *parameters = taken;
    return true;
}

bool srv_target_matches(const srv_target *target, const char *pattern, srv_parameters *parameters) {
    const char *at = target->path, *end = target->path + target->path_size;
    for (; *pattern != '{' && *pattern != '\0'; pattern++, at++)
        if (at == end || *at != *pattern) return false;
    return *pattern == '\0' ? at == end : match_rest(at, end, pattern, parameters);
}
