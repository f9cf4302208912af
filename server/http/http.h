/* The HTTP side of the daemon: opens the addresses, serves the routes, drains and stops. Its users need no
 * HTTP library.
 *
 * Life:  srv_http_new (the port is open, requests are answered)  →  srv_http_drain  →  wait for
 * srv_http_idle_event, a deadline or a second signal  →  [srv_http_cancel]  →  srv_http_free.   All on one
 * thread, the main one. */
#ifndef SRV_HTTP_HTTP_H
#define SRV_HTTP_HTTP_H

#include "server/http/origin.h"
#include "server/http/router.h"
#include "server/jobs/budget.h"
#include "server/obs/log.h"
#include "server/obs/metrics.h"

#include <stdint.h>

typedef struct srv_http srv_http;

typedef struct srv_http_address {
    const char *host;
    uint16_t port;
} srv_http_address;

/* How long things may take, in milliseconds. */
typedef struct srv_http_times {
    double headers;             /* of a request, from its first byte */
    double body, body_mebibyte; /* the rest of it; and for each MiB of it */
    double stalled_body, stalled_reader;
    double idle;
    double swallow; /* the rest of a refused body */
} srv_http_times;

/* Everything pointed to outlives the srv_http. */
typedef struct srv_http_options {
    const srv_http_address *addresses;
    size_t address_count;
    srv_http_times times;
    srv_patterns hosts;        /* beside loopback's own names; none, and beyond loopback: any */
    srv_patterns cors_origins; /* web pages that may read answers */
    srv_keys *keys;            /* who may ask; NULL: everybody */
    size_t max_connections;    /* requests on further ones are refused, but for probes */
    size_t max_body;
    size_t max_json;    /* bytes of one outside its tensors; 0: no limit */
    size_t max_swallow; /* bytes of a refused body beyond max_body that are still read */
    size_t max_running; /* requests handed to the workers at a time; one more is a 503 */
    size_t workers;
    srv_routes routes;
    srv_site *site;
    const srv_models *models; /* routes that need them wait for their publication */
    srv_budget *memory;
    const srv_log *log;
    srv_metrics *metrics; /* its routes are `routes`, in their order */
} srv_http_options;

/* Connections that one address may have beyond the limit, to be told so. */
enum { SRV_EXTRA_CONNECTIONS = 64 };

/* Errors: ATTN_IO (an address cannot be had), ATTN_NO_MEMORY. An IPv6 address that this machine does not have
 * is a warning in the log where another address is open. */
attn_code srv_http_new(const srv_http_options *options, srv_http **out, attn_error *error);

/* The open addresses, such as "127.0.0.1:8080"; NULL behind the last. */
const char *srv_http_address_open(const srv_http *http, size_t index);

/* Whether none of them can be reached from another machine. */
bool srv_http_is_only_loopback(const srv_http *http);

/* New clients are refused, idle connections closed, running requests go on; each answer closes its
 * connection. */
void srv_http_drain(srv_http *http);
/* A descriptor that becomes readable when draining and no connection is left. */
int srv_http_idle_event(const srv_http *http);
/* Stops the requests that the workers have, between two tiles; they get no more. Returns how many. */
size_t srv_http_cancel(srv_http *http);

/* Drains if that has not happened, waits for the workers' requests, and closes all
 * connections. NULL is fine. */
void srv_http_free(srv_http *http);

/* The version of the HTTP library in use. Static storage. */
const char *srv_http_library_version(void);

#endif
