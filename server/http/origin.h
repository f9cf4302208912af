/* Which web pages may read our answers (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol), and which
 * Host names are ours (against DNS rebinding). Pure; any thread. */
#ifndef SRV_HTTP_ORIGIN_H
#define SRV_HTTP_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* A list of patterns, as configured. */
typedef struct srv_patterns {
    const char *const *items;
    size_t count;
} srv_patterns;

/* Whether an Origin header's value is allowed: a pattern is an origin ("https://app.example:8443"), an origin
 * with any port ("http://localhost:*", which includes none), "null", or "*" for every origin but null. Scheme
 * and host are compared without case. */
bool srv_origin_is_allowed(srv_patterns allowed, const char *origin);

/* Whether the origin is the page's own host: its host and port are those of the Host header. */
bool srv_origin_is_own(const char *origin, const char *host);

/* Whether a Host header's value ("name", "name:port", "[v6]:port") is well-formed: a name or address, and at
 * most a numeric port. */
bool srv_host_is_valid(const char *host);
/* Whether it names this machine's loopback: localhost, a name below it, 127.0.0.0/8 or [::1]. */
bool srv_host_is_loopback(const char *host);
/* Whether it is one of the configured names (without port; "*" is any). */
bool srv_host_is_listed(srv_patterns names, const char *host);

#endif
