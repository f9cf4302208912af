/* A request's query, taken apart: name=value pieces between '&', values split at their raw commas, then all
 * percent-decoded, '+' being a space. Knows no parameter's name. Pure; any thread. */
#ifndef SRV_CODEC_QUERY_H
#define SRV_CODEC_QUERY_H

#include "server/problem.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct srv_parameter {
    const char *name;
    const char **values; /* at least one, which is empty where nothing follows the name */
    size_t count;
} srv_parameter;

typedef struct srv_query {
    srv_parameter *parameters; /* in the order given; no name twice */
    size_t count;
    void *storage;
} srv_query;

/* Takes apart what stands behind the '?' (NULL: nothing). Empty pieces are passed over. The first parameter
 * that is wrong (a bad escape, %00, bytes that are not UTF-8, a name given twice) is told, and *out holds the
 * sound ones nevertheless; without memory it is empty. *out need not be set before, and is to be freed in any
 * case. */
bool srv_query_split(const char *text, size_t size, srv_query *out, srv_problem *problem);
void srv_query_done(srv_query *query);

#endif
