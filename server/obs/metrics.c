/* The counters (metrics.h): fixed arrays of atomics, indexed by position in tables, so that counting needs
 * neither a lock nor a look-up of text but the method's. */
#include "metrics.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = {"GET", "POST", "HEAD", "OPTIONS", "other"};
/* Every status that the daemon answers with; what is not here counts as 0, "other". */
static const int STATUSES[] = {200, 204, 400, 401, 403, 404, 405, 406, 413, 415,
                               421, 422, 429, 431, 500, 501, 503, 504, 0};
/* Upper bounds in seconds; one more bucket is open. */
static const double BOUNDS[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30};

enum {
    METHOD_COUNT = sizeof METHODS / sizeof METHODS[0],
    STATUS_COUNT = sizeof STATUSES / sizeof STATUSES[0],
    BUCKET_COUNT = sizeof BOUNDS / sizeof BOUNDS[0] + 1,
};

typedef struct histogram {
    atomic_uint_fast64_t buckets[BUCKET_COUNT];
    atomic_uint_fast64_t nanoseconds; /* the sum of all durations */
} histogram;

typedef atomic_uint_fast64_t counters[METHOD_COUNT][STATUS_COUNT];

struct srv_metrics {
    const char **routes;
    size_t route_count;
    char *build;
    histogram stages[SRV_TIME_STAGES];
    atomic_uint_fast64_t endings[SRV_ENDINGS_COUNT];
    counters requests[]; /* route_count + 1 */
};

srv_metrics *srv_metrics_new(const char *const *routes, size_t route_count, const char *build) {
    srv_metrics *metrics = calloc(1, sizeof *metrics + (route_count + 1) * sizeof metrics->requests[0]);
    if (!metrics) return NULL;
    metrics->routes = calloc(route_count + 1, sizeof *metrics->routes);
    metrics->build = strdup(build);
    if (!metrics->routes || !metrics->build) {
        srv_metrics_free(metrics);
        return NULL;
    }
    for (size_t i = 0; i < route_count; i++)
        metrics->routes[i] = routes[i];
    metrics->routes[route_count] = "none";
    metrics->route_count = route_count;
    return metrics;
}

void srv_metrics_free(srv_metrics *metrics) {
    if (!metrics) return;
    free(metrics->routes);
    free(metrics->build);
    free(metrics);
}

static void add(atomic_uint_fast64_t *counter, uint64_t amount) {
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static uint64_t read_counter(const atomic_uint_fast64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void srv_metrics_count(srv_metrics *metrics, size_t route, const char *method, int status) {
    size_t m = 0, s = 0;
    while (m + 1 < METHOD_COUNT && strcmp(METHODS[m], method) != 0)
        m++;
    while (s + 1 < STATUS_COUNT && STATUSES[s] != status)
        s++;
    add(&metrics->requests[route < metrics->route_count ? route : metrics->route_count][m][s], 1);
}

void srv_metrics_time(srv_metrics *metrics, srv_time_stage stage, double milliseconds) {
    double seconds = milliseconds > 0 ? milliseconds / 1e3 : 0;
    size_t bucket = 0;
    while (bucket + 1 < BUCKET_COUNT && seconds > BOUNDS[bucket])
        bucket++;
    add(&metrics->stages[stage].buckets[bucket], 1);
    add(&metrics->stages[stage].nanoseconds, (uint64_t)llround(seconds * 1e9));
}

void srv_metrics_end(srv_metrics *metrics, srv_ending ending) {
    add(&metrics->endings[ending], 1);
}

static void write_head(srv_text *out, const char *name, const char *type, const char *help) {
    char line[256];
    snprintf(line, sizeof line, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
    srv_text_append_string(out, line);
}

static void write_count(const char *route, const char *method, int status, uint64_t count, srv_text *out) {
    char line[256], text[16] = "other";
    if (status != 0) snprintf(text, sizeof text, "%d", status);
    snprintf(line, sizeof line, "attnd_requests_total{route=\"%s\",method=\"%s\",status=\"%s\"} %llu\n",
             route, method, text, (unsigned long long)count);
    srv_text_append_string(out, line);
}

static void write_requests(const srv_metrics *metrics, srv_text *out) {
    write_head(out, "attnd_requests_total", "counter", "Answered requests by route, method and status.");
    for (size_t r = 0; r <= metrics->route_count; r++)
        for (size_t m = 0; m < METHOD_COUNT; m++)
            for (size_t s = 0; s < STATUS_COUNT; s++) {
                uint64_t count = read_counter(&metrics->requests[r][m][s]);
                if (count > 0) write_count(metrics->routes[r], METHODS[m], STATUSES[s], count, out);
            }
}

static void write_histogram(const histogram *h, const char *stage, srv_text *out) {
    char line[256];
    uint64_t total = 0;
    for (size_t b = 0; b < BUCKET_COUNT; b++) {
        char bound[32] = "+Inf";
        if (b + 1 < BUCKET_COUNT) snprintf(bound, sizeof bound, "%g", BOUNDS[b]);
        total += read_counter(&h->buckets[b]);
        snprintf(line, sizeof line, "attnd_stage_seconds_bucket{stage=\"%s\",le=\"%s\"} %llu\n", stage, bound,
                 (unsigned long long)total);
        srv_text_append_string(out, line);
    }
    snprintf(line, sizeof line, "attnd_stage_seconds_sum{stage=\"%s\"} %.9f\n", stage,
             (double)read_counter(&h->nanoseconds) / 1e9);
    srv_text_append_string(out, line);
    snprintf(line, sizeof line, "attnd_stage_seconds_count{stage=\"%s\"} %llu\n", stage,
             (unsigned long long)total);
    srv_text_append_string(out, line);
}

static void write_stages(const srv_metrics *metrics, srv_text *out) {
    static const char *const LABELS[] = {
#define X(id, label) [id] = label,
        SRV_STAGES(X)
#undef X
    };
    write_head(out, "attnd_stage_seconds", "histogram", "Time that requests spent in each stage.");
    for (size_t i = 0; i < SRV_TIME_STAGES; i++)
        write_histogram(&metrics->stages[i], LABELS[i], out);
}

static void write_endings(const srv_metrics *metrics, srv_text *out) {
    static const char *const LABELS[] = {
#define X(id, label) [id] = label,
        SRV_ENDINGS(X)
#undef X
    };
    write_head(out, "attnd_connections_cut_total", "counter",
               "Connections that ended without a complete answer.");
    for (size_t i = 0; i < SRV_ENDINGS_COUNT; i++) {
        char line[128];
        snprintf(line, sizeof line, "attnd_connections_cut_total{reason=\"%s\"} %llu\n", LABELS[i],
                 (unsigned long long)read_counter(&metrics->endings[i]));
        srv_text_append_string(out, line);
    }
}

static void write_gauge(const srv_gauge *gauge, srv_text *out) {
    char line[256];
    write_head(out, gauge->name, "gauge", gauge->help);
    snprintf(line, sizeof line, "%s %.17g\n", gauge->name, gauge->value);
    srv_text_append_string(out, line);
}

void srv_metrics_write(const srv_metrics *metrics, const srv_gauge *gauges, size_t gauge_count,
                       srv_text *out) {
    write_head(out, "attnd_build_info", "gauge", "Always 1; the labels say what is running.");
    srv_text_append_string(out, "attnd_build_info{");
    srv_text_append_string(out, metrics->build);
    srv_text_append_string(out, "} 1\n");
    write_requests(metrics, out);
    write_stages(metrics, out);
    write_endings(metrics, out);
    for (size_t i = 0; i < gauge_count; i++)
        write_gauge(&gauges[i], out);
}
