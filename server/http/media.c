/* Media types (media.h). */
#include "media.h"

#include <string.h>
#include <strings.h>

bool srv_media_is(const char *value, const char *type) {
    value += strspn(value, " \t");
    size_t length = strlen(type);
    if (strncasecmp(value, type, length) != 0) return false;
    value += length;
    value += strspn(value, " \t");
    return *value == '\0' || *value == ';';
}

bool srv_media_is_json(const char *value) {
    return !value || value[strspn(value, " \t")] == '\0' || srv_media_is(value, "application/json") ||
           srv_media_is(value, "text/plain") || srv_media_is(value, "application/x-www-form-urlencoded");
}
