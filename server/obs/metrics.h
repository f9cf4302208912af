/* What the daemon counts about itself, and the page that shows it (Prometheus text format 0.0.4:
 * https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * Counting is a few relaxed atomic additions: any thread, no lock, no allocation. The page is read while
 * others count; each number is whole, and a histogram's count is the sum of its buckets as read. */
#ifndef SRV_OBS_METRICS_H
#define SRV_OBS_METRICS_H

#include "server/codec/text.h"

#include <stddef.h>
#include <stdint.h>

/* Parts of a request's life, each with a histogram of seconds. id, label. */
#define SRV_STAGES(X)                                                                                        \
    X(SRV_TIME_READ, "read")       /* first byte of the request line to the last of the body */              \
    X(SRV_TIME_PARSE, "parse")     /* text to tensors */                                                     \
    X(SRV_TIME_QUEUE, "queue")     /* waiting for a worker */                                                \
    X(SRV_TIME_COMPUTE, "compute") /* the forward pass */                                                    \
    X(SRV_TIME_ENCODE, "encode")   /* tensors to text */                                                     \
    X(SRV_TIME_TOTAL, "total")     /* first byte in to last byte out */

typedef enum srv_time_stage {
#define X(id, label) id,
    SRV_STAGES(X)
#undef X
        SRV_TIME_STAGES
} srv_time_stage;

/* Endings that no status tells. id, label. */
#define SRV_ENDINGS(X)                                                                                       \
    X(SRV_END_CLIENT_GONE, "client_gone")         /* the client closed before its answer was complete */     \
    X(SRV_END_HEADER_DEADLINE, "header_deadline") /* the header section did not arrive in time */            \
    X(SRV_END_BODY_DEADLINE, "body_deadline")     /* the body did not */                                     \
    X(SRV_END_READER_DEADLINE, "reader_deadline") /* nobody read the answer */                               \
    X(SRV_END_PARSER, "parser")                   /* refused by the HTTP library's own parser */

typedef enum srv_ending {
#define X(id, label) id,
    SRV_ENDINGS(X)
#undef X
        SRV_ENDINGS_COUNT
} srv_ending;

typedef struct srv_metrics srv_metrics;

/* What is measured at the moment of asking rather than counted. */
typedef struct srv_gauge {
    const char *name; /* "attnd_requests_in_flight" */
    const char *help;
    double value;
} srv_gauge;

/* `routes` are the names (paths) that requests are counted under; "none" is added for those that found no
 * route. `build` is the label set of attnd_build_info, such as version="1.2",commit="abc". The routes' texts
 * outlive the metrics. NULL without memory. */
srv_metrics *srv_metrics_new(const char *const *routes, size_t route_count, const char *build);
void srv_metrics_free(srv_metrics *metrics);

/* Counts an answered request; `route` is an index of srv_metrics_new's list, or route_count for none. Methods
 * and statuses that are not in the tables count as "other". */
void srv_metrics_count(srv_metrics *metrics, size_t route, const char *method, int status);
/* Adds one duration, in milliseconds. */
void srv_metrics_time(srv_metrics *metrics, srv_time_stage stage, double milliseconds);
/* Counts an ending that is no answer. */
void srv_metrics_end(srv_metrics *metrics, srv_ending ending);

/* Appends the page. */
void srv_metrics_write(const srv_metrics *metrics, const srv_gauge *gauges, size_t gauge_count,
                       srv_text *out);

#endif
