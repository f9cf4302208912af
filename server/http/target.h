/* A request target as it stands in the request line (RFC 9112, 3.2), taken apart. Pure; any thread. */
#ifndef SRV_HTTP_TARGET_H
#define SRV_HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum { SRV_PARAMETERS = 2, SRV_PARAMETER_SIZE = 128 };

/* What stands in the path at a pattern's {…} places, in their order. */
typedef struct srv_parameters {
    char text[SRV_PARAMETERS][SRV_PARAMETER_SIZE];
} srv_parameters;

/* Slices of the raw target; not NUL-terminated. */
typedef struct srv_target {
    const char *path; /* begins with '/', or "*", or is empty */
    size_t path_size;
    const char *query; /* behind the '?'; NULL where there is none */
    size_t query_size;
    const char *authority; /* of absolute-form; NULL elsewhere */
    size_t authority_size;
} srv_target;

/* Splits origin-form ("/path?query") and absolute-form ("http://host/path?query") alike; a fragment is no
 * part of a target and stays in the query or path. */
srv_target srv_target_split(const char *raw);

/* Whether the path is `above` or lies below it. */
bool srv_target_is_below(const srv_target *target, const char *above);

/* Whether a path is the pattern's: "/v1/models/{model}/layers/{layer}" has two places (the most there may be)
 * that take any one segment each. Those segments, percent-decoded, go to `parameters` (untouched without a
 * match). A segment that is empty, too long, badly escaped or holds %00 or %2F matches nothing; `parameters` NULL: one
 * that is empty alone. Other segments are compared byte by byte. */
bool srv_target_matches(const srv_target *target, const char *pattern, srv_parameters *parameters);

#endif
