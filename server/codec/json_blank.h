/* White space between JSON's tokens (RFC 8259, 2). Pure; any thread. */
#ifndef SRV_CODEC_JSON_BLANK_H
#define SRV_CODEC_JSON_BLANK_H

#include <stdbool.h>

static inline bool srv_json_is_blank(char byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* The first place from `at` on that is none, or `end`. */
static inline const char *srv_json_skip_blanks(const char *at, const char *end) {
    while (at < end && srv_json_is_blank(*at))
        at++;
    return at;
}

#endif
