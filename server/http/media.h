/* Media types (RFC 9110, 8.3.1). Pure; any thread. */
#ifndef SRV_HTTP_MEDIA_H
#define SRV_HTTP_MEDIA_H

#include <stdbool.h>

/* Whether a Content-Type value names `type` ("application/json"), whatever its case and parameters. */
bool srv_media_is(const char *value, const char *type);

/* Whether a body of this Content-Type may be read as JSON: application/json; none (NULL or ""), text/plain
 * and application/x-www-form-urlencoded too, since a browser's fetch and `curl -d` send those with JSON
 * inside. */
bool srv_media_is_json(const char *value);

#endif
